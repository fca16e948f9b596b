"""The page of quadrille show in a browser: show_page_test.py PATH_OF_QUADRILLE. Returns 77 where there is no chromium."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import browser

SKIPPED = 77
QUADRILLE = sys.argv.pop(1)
PAGES = {
    "ring": ["allreduce", "--algorithm", "ring", "--ranks", "8"],
    "bruck": ["alltoall", "--algorithm", "bruck", "--ranks", "8"],
    "nodes": ["allreduce", "--algorithm", "hierarchical", "--ranks", "16", "--per-node", "4"],
    "window": ["bcast", "--algorithm", "one_sided_binomial", "--ranks", "8"],
    "barrier": ["barrier", "--algorithm", "dissemination", "--ranks", "8"],
    "alone": ["bcast", "--algorithm", "binomial", "--ranks", "1"],
    "many": ["allreduce", "--algorithm", "ring", "--ranks", "64"],
}
FOLLOWED = "document.querySelector('.heads .followed')?.textContent"
WHERE = "document.querySelector('.where').textContent"


class ShowPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.browser = browser.Browser(browser.find())
        cls.addClassCleanup(cls.browser.close)
        for name, words in PAGES.items():
            subprocess.run([QUADRILLE, "show", *words, "--html", str(cls.path(name))], check=True)

    @classmethod
    def path(cls, name):
        return pathlib.Path(cls.folder.name) / f"{name}.html"

    def open(self, name, **how):
        self.browser.open(self.path(name).as_uri(), **how)

    def see(self, expression):
        return self.browser.evaluate(expression)

    def test_loads_nothing_and_complains_of_nothing(self):
        for name in PAGES:
            for dark in (False, True):
                self.open(name, dark=dark)
                self.see("document.querySelector('.last').click()")
                self.assertEqual(self.browser.complaints(), [], name)
                self.assertEqual(self.browser.requests(), [self.path(name).as_uri()])

    def test_is_as_wide_as_the_window(self):
        for name in PAGES:
            for width in (1280, 390):
                self.open(name, width=width)
                too_wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                self.assertEqual(self.see(too_wide), 0, (name, width))

    def test_is_dark_where_that_is_preferred(self):
        background = "getComputedStyle(document.body).backgroundColor"
        self.open("ring")
        light = self.see(background)
        self.open("ring", dark=True)
        self.assertNotEqual(self.see(background), light)

    def test_keys_go_through_the_steps(self):
        self.open("ring")
        self.assertEqual(self.see(WHERE), "step 0 of 14")
        self.browser.press("ArrowRight")
        self.browser.press("ArrowRight")
        self.assertEqual(self.see(WHERE), "step 2 of 14")
        self.assertEqual(self.see("document.querySelectorAll('.moves li').length"), 8)
        self.browser.press("ArrowLeft")
        self.assertEqual(self.see(WHERE), "step 1 of 14")
        self.browser.press("End")
        self.assertEqual(self.see(WHERE), "step 14 of 14")
        self.browser.press("Home")
        self.assertEqual(self.see(WHERE), "step 0 of 14")

    def test_a_followed_rank_has_its_messages_and_what_it_holds_listed(self):
        self.open("ring")
        self.see("document.querySelectorAll('.heads button')[3].click()")
        self.browser.press("End")
        self.assertEqual(self.see(FOLLOWED), "3")
        self.assertEqual(self.see("document.querySelector('select').value"), "3")
        self.assertEqual(self.see("document.querySelectorAll('.moves li').length"), 2)
        held = self.see("Array.from(document.querySelectorAll('.holds li')).map((one) => one.textContent)")
        finals = [line for line in held if "combined from all 8 ranks" in line]
        self.assertEqual(len(finals), 8, held)
        self.browser.press("Escape")
        self.assertIsNone(self.see(FOLLOWED))

    def test_going_back_shows_what_was_there_before(self):
        state = ("Array.from(document.querySelectorAll('.held .c')).map((one) => [one.getAttribute('class'), "
                 "one.getAttribute('width'), one.getAttribute('x'), one.getAttribute('y')].join()).sort().join(';')")
        for name in ("ring", "bruck", "nodes"):
            self.open(name)
            self.browser.press("ArrowRight")
            before = self.see(state)
            self.browser.press("End")
            self.assertNotEqual(self.see(state), before)
            self.browser.press("Home")
            self.browser.press("ArrowRight")
            self.assertEqual(self.see(state), before)

    def test_the_address_says_which_step_and_rank(self):
        self.browser.open(self.path("ring").as_uri() + "#step=5,rank=2")
        self.assertEqual((self.see(WHERE), self.see(FOLLOWED)), ("step 5 of 14", "2"))

    def test_it_plays_until_the_end(self):
        self.open("window")
        self.browser.press(" ", text=" ")
        self.assertEqual(self.see("document.querySelector('.play').getAttribute('aria-label')"), "Pause")
        self.browser.press(" ", text=" ")
        self.assertEqual(self.see("document.querySelector('.play').getAttribute('aria-label')"), "Play")
        self.assertNotEqual(self.see(WHERE)[:6], "step 0")

    def test_all_that_can_be_used_has_a_name(self):
        nameless = """Array.from(document.querySelectorAll('button, input, select')).filter((one) =>
            !(one.getAttribute('aria-label') || one.textContent.trim() || one.closest('label'))).length"""
        for name in ("ring", "nodes"):
            self.open(name)
            self.assertEqual(self.see(nameless), 0)


if __name__ == "__main__":
    if not browser.find():
        print("SKIP: there is no chromium")
        sys.exit(SKIPPED)
    unittest.main()
