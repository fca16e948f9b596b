"""What is known of a machine: probe_test.py QUADRILLE MPI CALLS LAUNCHER..."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

QUADRILLE, MPI, CALLS = sys.argv[1:4]
LAUNCH = sys.argv[4:]
del sys.argv[1:]
# What cmake -E env would set.
while "mpi" not in pathlib.Path(LAUNCH[0]).name:
    if "=" in LAUNCH[0]:
        os.environ.update([LAUNCH[0].split("=", 1)])
    del LAUNCH[0]


def run(*words, status=0, **variables):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=150, env={**os.environ, **variables})
    if done.returncode != status:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


class Probe(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.cache = pathlib.Path(self.folder.name) / "cache"

    def algorithms_used(self, **variables):
        """By 2 ranks that call an allreduce of all kinds, and nothing else of ours."""
        report = pathlib.Path(self.folder.name) / "report.json"
        run(QUADRILLE, "run", "--only", "allreduce", "--force", f"--report={report}", "--", *LAUNCH, "2", CALLS,
            XDG_CACHE_HOME=str(self.cache), **variables)
        found = json.loads(report.read_text())
        return {one["algorithm"] for one in found["algorithms"] if one["collective"] == "allreduce"}

    def test_it_writes_what_programs_find(self):
        done = run(*LAUNCH, "2", QUADRILLE, "probe", "--time", "0.1", XDG_CACHE_HOME=str(self.cache))
        files = list(self.cache.glob("quadrille/machines/*.json"))
        self.assertEqual(len(files), 1, done.stderr)
        self.assertIn(f"written to {files[0]}", done.stdout)
        machine = json.loads(files[0].read_text())
        self.assertEqual(machine["format"], "quadrille machine 1")
        for name in ("memory.flag_us", "memory.copy_ns_per_byte", "node.latency_us", "node.work_ns_per_byte"):
            low, high = machine["intervals"][name]
            self.assertLessEqual(low, high)
        self.assertGreater(machine["memory"]["copy_ns_per_byte"], 0.001)
        self.assertLess(machine["memory"]["copy_ns_per_byte"], 1000)
        # What it says counts, whatever was measured.
        machine["node"].update(latency_us=1, overhead_us=1)
        machine["memory"]["copy_ns_per_byte"] = 0.1
        machine["memory"]["flag_us"] = 1e6
        files[0].write_text(json.dumps(machine))
        self.assertNotIn("hierarchical", self.algorithms_used())
        machine["memory"]["flag_us"] = 0.001
        files[0].write_text(json.dumps(machine))
        self.assertIn("hierarchical", self.algorithms_used())
        # And what QUADRILLE_MACHINE says counts more.
        slow = self.cache / "slow.json"
        slow.write_text(json.dumps({"format": "quadrille machine 1", "memory": {"flag_us": 1e6}}))
        self.assertNotIn("hierarchical", self.algorithms_used(QUADRILLE_MACHINE=str(slow)))

    def test_a_file_that_is_wrong_is_named(self):
        wrong = pathlib.Path(self.folder.name) / "wrong.json"
        wrong.write_text("{}")
        done = run(*LAUNCH, "2", QUADRILLE, "bench", "barrier", status=2, QUADRILLE_MACHINE=str(wrong))
        self.assertIn(f"QUADRILLE_MACHINE={wrong}: not a machine file", done.stderr)

    def test_it_needs_a_launcher_and_two_ranks(self):
        self.assertIn("mpirun -n 64 quadrille probe", run(QUADRILLE, "probe", status=2).stderr)
        self.assertIn("two ranks or more", run(*LAUNCH, "1", QUADRILLE, "probe", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
