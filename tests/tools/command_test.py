"""The command as a user meets it: command_test.py PATH_OF_QUADRILLE"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

QUADRILLE = sys.argv.pop(1)


def run(*words):
    return subprocess.run([QUADRILLE, *words], capture_output=True, text=True, check=False)


class List(unittest.TestCase):
    def test_json_is_a_list_of_objects_with_what_programs_need(self):
        algorithms = json.loads(run("list", "--json").stdout)
        self.assertGreaterEqual(len(algorithms), 9)
        for one in algorithms:
            for key in ("collective", "algorithm", "steps", "cost", "restrictions"):
                self.assertIn(key, one)

    def test_only_the_named_collectives_are_listed(self):
        algorithms = json.loads(run("list", "--json", "bcast").stdout)
        self.assertEqual({one["collective"] for one in algorithms}, {"bcast"})


class Verify(unittest.TestCase):
    def test_ends_with_a_count_and_succeeds(self):
        result = run("verify", "barrier", "--ranks", "1-5,9")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.splitlines()[-1], "18 passed, 0 failed")

    def test_what_is_not_understood_is_named_with_status_2(self):
        for words, expected in (
            (["verify", "gossip"], "no collective 'gossip'"),
            (["verify", "--algorithm", "magic"], "no algorithm 'magic'"),
            (["verify", "--ranks", "1-4294967298"], "neither a number of ranks nor a range"),
            (["verify", "--ranks", ""], "neither a number of ranks nor a range"),
            (["verify", "--ranks", "4-2"], "neither a number of ranks nor a range"),
            (["list", "--jsn"], "--jsn"),
            ([], "subcommand is required"),
        ):
            result = run(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(expected, result.stdout + result.stderr)


class Show(unittest.TestCase):
    def test_prints_the_messages_of_each_step(self):
        result = run("show", "bcast", "--algorithm", "binomial", "--ranks", "8")
        self.assertEqual(
            result.stdout,
            "bcast, binomial: 8 ranks, 3 steps, 7 messages\n"
            "step   1:  0->4\n"
            "step   2:  0->2  4->6\n"
            "step   3:  0->1  2->3  4->5  6->7\n",
        )

    def test_prints_one_rank_of_a_million(self):
        words = ("show", "allreduce", "--algorithm", "rabenseifner", "--ranks", "1048576", "--rank", "77")
        self.assertIn("rank 77 of 1048576", run(*words).stdout)
        self.assertEqual(json.loads(run(*words, "--json").stdout)["rank"], 77)

    def test_draws_into_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ring.svg"
            result = run("show", "allreduce", "--algorithm", "ring", "--ranks", "5", "--svg", str(path))
            self.assertEqual(result.returncode, 0)
            self.assertIn("<svg", path.read_text(encoding="utf-8"))

    def test_a_picture_that_is_refused_leaves_the_file_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kept.svg"
            path.write_text("kept", encoding="utf-8")
            result = run("show", "bcast", "--algorithm", "binomial", "--ranks", "65", "--svg", str(path))
            self.assertEqual(result.returncode, 2)
            self.assertEqual(path.read_text(encoding="utf-8"), "kept")

    def test_options_without_a_meaning_are_refused(self):
        for words, expected in (
            (["allreduce", "--algorithm", "ring", "--root", "1"], "has no root"),
            (["barrier", "--algorithm", "dissemination", "--count", "4"], "moves no data"),
            (["bcast", "--algorithm", "binomial", "--segment", "2"], "does not cut its data"),
            (["bcast", "--algorithm", "binomial", "--root", "4"], "no rank 4 of 4"),
            (["bcast", "--algorithm", "binomial", "--rank", "4"], "no rank 4 of 4"),
            (["alltoallv", "--algorithm", "linear", "--in-place"], "separate input and output"),
            (["bcast", "--algorithm", "magic"], "there are binary, binomial, knomial"),
            (["bcast", "--algorithm", "binomial", "--svg", "/no/such/folder/x.svg"], "can't write"),
        ):
            result = run("show", *words, "--ranks", "4")
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(expected, result.stderr)

    def test_more_messages_than_anybody_reads_are_refused(self):
        result = run("show", "allreduce", "--algorithm", "ring", "--ranks", "4096")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--rank", result.stderr)


if __name__ == "__main__":
    unittest.main()
