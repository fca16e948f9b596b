"""What the drop-in learns in a job, and what the next one makes of it:
learning_test.py QUADRILLE MPI PROGRAMS CALLS LAUNCHER... -n

PROGRAMS runs random programs, CALLS is one that checks its own results; neither knows anything of the drop-in.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

QUADRILLE, MPI, PROGRAMS, CALLS, *LAUNCH = sys.argv[1:]
del sys.argv[1:]
# What stands in front of the launcher is for the environment: cmake -E env NAME=VALUE...
while not os.path.basename(LAUNCH[0]).startswith("mpi"):
    name, _, value = LAUNCH.pop(0).partition("=")
    os.environ.update({name: value} if value else {})


# Calls that take long enough for something to be learned.
MANY = "400000"


class Learning(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.cache = f"{self.folder.name}/cache"

    def tearDown(self):
        self.folder.cleanup()

    def words(self, ranks, *program, options=()):
        return [QUADRILLE, "run", *options, "--", *LAUNCH, str(ranks), *program]

    def environment(self, **variables):
        return {**os.environ, "XDG_CACHE_HOME": self.cache, **variables}

    def run_without_report(self, ranks, *program, options=(), **variables):
        """What it says. Calls may be passed through the quick way."""
        done = subprocess.run(self.words(ranks, *program, options=options), check=False, capture_output=True, text=True,
                              env=self.environment(**variables), timeout=250)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(" 0 faults", " " + done.stdout)
        # Open MPI has its own to say about networks.
        return "".join(line for line in done.stderr.splitlines(True) if "quadrille" in line)

    def run_program(self, ranks, *program, options=(), **variables):
        """Its report and what it says."""
        path = f"{self.folder.name}/report.json"
        said = self.run_without_report(ranks, *program, options=[*options, f"--report={path}"], **variables)
        with open(path, encoding="utf-8") as file:
            return json.load(file), said

    def remembered(self):
        return glob.glob(f"{self.cache}/quadrille/machines/*.learned/*")

    def test_no_rank_ever_decides_otherwise_than_the_others(self):
        """Communicators of members of others, ranks that are late: a rank on its own would hang, or have wrong data."""
        report, said = self.run_program(3, PROGRAMS, "200", QUADRILLE_LEARN="100")
        self.assertEqual(said, "")
        tried = {(one["collective"], one["algorithm"]) for one in report["algorithms"]}
        self.assertGreater(len(tried), 6, report["algorithms"])
        self.assertIn("to measure MPI's own", report["passed_through"]["allreduce"])
        self.assertEqual(self.run_without_report(3, PROGRAMS, "200", QUADRILLE_LEARN="100"), "")
        report, _ = self.run_program(3, PROGRAMS, "5", options=["--check"])
        self.assertEqual(report["learned"], [])

    def test_the_next_job_begins_with_what_was_learned(self):
        report, _ = self.run_program(2, CALLS, MANY)
        self.assertIn("price", {one["start"] for one in report["learned"]})
        self.assertNotIn("remembered", {one["start"] for one in report["learned"]})
        # What is not faster by any means is not tried, and then nothing is known.
        compared = any(len(one["tried"]) > 1 for one in report["learned"])
        self.assertEqual(len(self.remembered()), 1 if compared else 0)
        if not compared:
            return
        again, said = self.run_program(2, CALLS, MANY)
        self.assertIn("remembered", {one["start"] for one in again["learned"]})
        self.assertEqual(said, "")
        # If there is something to gain, few calls are passed through because the communicator is new.
        gains = {one["verdict"] for one in report["learned"]} != {"native"}
        first, new = (one["passed_through"].get("bcast", {}).get("the first calls on a communicator", 0)
                      for one in (report, again))
        self.assertGreaterEqual(first, 32)
        if gains:
            self.assertLess(new, first)
        known = {(one["collective"], one["from"], one["ranks"]): one["verdict"] for one in report["learned"]}
        for one in again["learned"]:
            self.assertIn((one["collective"], one["from"], one["ranks"]), known)
            self.assertGreater(one["native_seconds"], 0)

    def test_nothing_is_learned_or_remembered_if_nobody_wants_it(self):
        report, _ = self.run_program(2, CALLS, MANY, QUADRILLE_LEARN="0")
        self.assertEqual(report["learned"], [])
        self.assertEqual(self.remembered(), [])
        report, _ = self.run_program(2, CALLS, MANY, options=["--algorithm", "bcast=linear,allreduce=ring,gather=linear"])
        self.assertEqual([one for one in report["learned"] if one["collective"] in ("bcast", "allreduce", "gather")], [])

    def test_what_cannot_be_read_or_written_is_said_once_and_ignored(self):
        self.run_program(2, CALLS, MANY)
        files = self.remembered()
        if not files:
            self.skipTest("nothing was compared")
        path, = files
        for damage in (b"\x00" * 4096, b"# quadrille table 1\n[half", b"\xff" * 100):
            with open(path, "wb") as file:
                file.write(damage)
            _, said = self.run_program(2, CALLS, "60")
            self.assertEqual(said.count("quadrille:"), 1, said)
        blocked = f"{self.folder.name}/a file"
        with open(blocked, "w", encoding="utf-8"):
            pass
        self.cache = blocked
        _, said = self.run_program(2, CALLS, MANY)
        self.assertEqual(said.count("quadrille:"), 1, said)


if __name__ == "__main__":
    unittest.main()
