"""The pages of measured figures: gallery_test.py"""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import gallery  # pylint: disable=wrong-import-position
import verdicts  # pylint: disable=wrong-import-position


def point(variant, seconds, ratio=None, size=8):
    return {"collective": "bcast", "bytes": size, "variant": variant, "time": {"median": seconds}, "ratio": ratio}


class Gallery(unittest.TestCase):
    def test_the_pages_have_what_the_reports_have(self):
        old = [str(path.relative_to(ROOT)) for path, text in gallery.pages().items() if path.read_text() != text]
        self.assertEqual(old, [], "write them anew: benchmarks/gallery.py render")

    def test_every_report_has_a_page(self):
        beside = {name for run in gallery.RUNS for name in (run.name, *run.beside)}
        self.assertEqual({path.stem for path in gallery.FOLDER.glob("*.json")} - beside, set())


class Verdicts(unittest.TestCase):
    def test_won_and_lost_are_beyond_chance_and_five_percent(self):
        self.assertEqual(verdicts.word_of(0.8, 0.9, 0.99), "**0.90**")
        self.assertEqual(verdicts.word_of(0.8, 0.9, 1.01), "0.90")
        self.assertEqual(verdicts.word_of(0.95, 0.96, 0.97), "0.96")
        self.assertEqual(verdicts.word_of(1.01, 1.2, 1.3), "*1.20*")

    def test_the_ratio_is_that_to_the_better_of_two_native_runs(self):
        mine = {"points": [point("native", 4), point("hierarchical", 2, {"median": 0.5, "low": 0.5, "high": 0.5})]}
        self.assertEqual(verdicts.table(mine, "hierarchical")[-1], "| bcast | **0.50** |")
        self.assertEqual(verdicts.table(mine, "hierarchical", {"points": [point("native", 1)]})[-1], "| bcast | *2.00* |")
        self.assertEqual(verdicts.table(mine, "hierarchical", {"points": [point("native", 9)]})[-1], "| bcast | **0.50** |")


if __name__ == "__main__":
    unittest.main()
