"""The man page compared with the command: man_page_test.py PATH_OF_QUADRILLE PATH_OF_PAGE PATH_OF_ENVIRONMENT_MD"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

QUADRILLE, PAGE, ENVIRONMENT = sys.argv[1:4]
del sys.argv[1:4]


def help_of(*words):
    done = subprocess.run([QUADRILLE, *words, "--help"], capture_output=True, text=True, check=True)
    return done.stdout


def options(text):
    """The option names in a help text, as -h,--help."""
    names = (re.match(r"\s+(-[\w,-]+)", line) for line in text.splitlines())
    return {option for name in names if name for option in name[1].split(",")}


def subcommands(*words):
    """All subcommands, recursively, as lists of words: show, cluster, cluster up, ..."""
    lines = help_of(*words).partition("Subcommands:\n")[2].splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    return [found for name in names for found in ([*words, name], *subcommands(*words, name))]


def described(section):
    """The options that head an item of a list in a section of the page: .It Fl h , -help"""
    items = re.findall(r"^\.It (Fl .*)", section, re.MULTILINE)
    return {f"-{word}" for item in items for word in re.findall(r"(?:Fl|,) ([\w-]+)", item)}


class ManPage(unittest.TestCase):
    def setUp(self):
        self.page = pathlib.Path(PAGE).read_text()
        parts = re.split(r"^\.S[sh] (.*)\n", self.page, flags=re.MULTILINE)
        self.sections = dict(zip(parts[1::2], parts[2::2]))
        self.common = described(self.sections["Options of every subcommand"])

    def test_it_describes_the_options_of_the_command(self):
        self.assertGreaterEqual(options(help_of()), {"-h", "--help", "--version"})
        self.assertEqual(options(help_of()), self.common)

    def test_it_describes_the_options_of_each_subcommand_and_no_others(self):
        names = {" ".join(words): words for words in subcommands()}
        self.assertGreaterEqual(set(names), {"list", "verify", "show", "bench compare", "cluster", "cluster up"})
        for name, words in names.items():
            with self.subTest(name):
                self.assertIn(name, self.sections)
                expected = options(help_of(*words)) - self.common
                self.assertEqual(described(self.sections[name]), expected)

    def test_it_names_every_variable_of_the_environment(self):
        documented = set(re.findall(r"^\| \[`(QUADRILLE_\w+)`", pathlib.Path(ENVIRONMENT).read_text(), re.MULTILINE))
        self.assertIn("QUADRILLE_FORCE", documented)
        named = set(re.findall(r"^\.It Ev (\w+)", self.sections["ENVIRONMENT"], re.MULTILINE))
        self.assertEqual(documented - named, set())

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_man_gives_no_warnings(self):
        done = subprocess.run(["man", "--warnings", "-l", PAGE], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        self.assertIn("EXIT STATUS", re.sub(".\b", "", done.stdout))

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_gives_no_warnings(self):
        done = subprocess.run(["mandoc", "-T", "lint", PAGE], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout + done.stderr, "")


if __name__ == "__main__":
    unittest.main()
