"""What is measured is remembered: tune_test.py QUADRILLE MPI LAUNCHER..."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

QUADRILLE, MPI = sys.argv[1:3]
LAUNCH = sys.argv[3:]
del sys.argv[1:]


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = pathlib.Path(folder.name) / "cache"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache)}

    def run_it(self, *words, expect=0, **more):
        done = subprocess.run(words, capture_output=True, text=True, timeout=200, check=False,
                              env={**self.environment, **more})
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def bench(self, *words, **more):
        return self.run_it(*LAUNCH, "2", QUADRILLE, "bench", "--least", "6", "--remember", *words, **more)

    def knows(self, *words):
        return json.loads(self.run_it(QUADRILLE, "knows", "--json", *words).stdout)["findings"]

    def test_it_is_a_benchmark_that_remembers_within_a_time(self):
        done = self.run_it(*LAUNCH, "2", QUADRILLE, "tune", "barrier", "--time", "0.1")
        self.assertIn("--total 6 --remember", done.stdout)
        self.assertEqual(len(self.knows("barrier")), 1)

    def test_what_is_measured_is_remembered(self):
        words = ("--sizes", "8,1000", "--algorithms", "tree,ring", "--time", "0.2")
        done = self.bench("barrier", "allreduce", *words)
        self.assertIn("are remembered: quadrille knows shows them", done.stderr)
        found = self.knows()
        self.assertLessEqual({"barrier", "allreduce"}, {one["collective"] for one in found})
        for one in found:
            self.assertRegex(one["mpi"], r"^(Open MPI v|MPICH )\d")
            self.assertEqual((one["ranks"], one["nodes"]), (2, 1))
            self.assertGreater(one["seconds"], 0)
            self.assertGreaterEqual(one["native_seconds"], one["seconds"])
            self.assertGreater(one["calls"], 0)
        folders = list((self.cache / "quadrille/machines").glob("*.learned"))
        self.assertEqual(len(folders), 1)
        self.assertEqual(len(list(folders[0].iterdir())), 1)

        # Measured again it is replaced; programs read it, and say what is wrong with it.
        self.bench("barrier", "--algorithms", "tree", "--time", "0.2")
        self.assertEqual(len(self.knows("barrier")), 1)
        (folders[0] / "damaged.table").write_text("nonsense\n")
        start = next(i for i, word in enumerate(LAUNCH) if os.path.basename(word).startswith("mpi"))
        words = (*LAUNCH[:start], QUADRILLE, "run", "--", *LAUNCH[start:], "2", QUADRILLE, "bench", "barrier", "--algorithms", "none", "--time", "0.02")
        self.assertEqual(self.run_it(*words).stderr.count("damaged.table:1: expected"), 1)
        self.assertNotIn("damaged.table", self.run_it(*words, QUADRILLE_LEARN="0").stderr)

    def test_without_a_cache_it_is_told_at_once(self):
        done = self.bench("barrier", "--time", "100", expect=2, XDG_CACHE_HOME="", HOME="")
        self.assertIn("set HOME or XDG_CACHE_HOME", done.stderr)

    def test_a_cache_that_cannot_be_written_is_told_once(self):
        self.cache.write_text("a file")
        done = self.bench("barrier", "bcast", "--sizes", "8", "--algorithms", "tree,linear", "--time", "0.2")
        self.assertEqual(done.stderr.count("what was learned is not remembered"), 1)

    def test_when_the_time_is_up_the_rest_is_not_measured(self):
        done = self.bench("barrier", "allreduce", "--algorithms", "none", "--sizes", "8-1MiB", "--total", "0.001")
        self.assertIn("the time is up", done.stderr)


if __name__ == "__main__":
    unittest.main()
