"""The programs of benchmarks/kernels find their results right alone, with the drop-in, and with all calls replaced; and
they notice a wrong one: kernels_test.py QUADRILLE FOLDER WRONG LAUNCHER... -n

WRONG is a library that makes the results of some collectives wrong.
"""

import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

QUADRILLE, FOLDER, WRONG, *LAUNCH = sys.argv[1:]
del sys.argv[1:]
# What stands in front of the launcher is for the environment: cmake -E env NAME=VALUE...
while not os.path.basename(LAUNCH[0]).startswith("mpi"):
    name, _, value = LAUNCH.pop(0).partition("=")
    os.environ.update({name: value} if value else {})
# What is replaced must not depend on whether the user has measured this machine.
os.environ["QUADRILLE_MACHINE"] = "none"

LOOPS = "bcast reduce allreduce allgather alltoall gather scatter barrier reduce_scatter_block scan".split()
# With few calls: alone, MPICH's take milliseconds on more ranks than cores.
PROGRAMS = {
    "heat": "--size 20 --steps 5",
    "cg": "--size 4 --steps 1",
    "fft": "--size 16 --steps 2",
    "kmeans": "--size 100 --steps 4",
    "sgd": "--size 1024 --steps 8",
    "loop": f"{' '.join(LOOPS)} --bytes 1000 --calls 3",
}
REPLACED = "with all calls replaced"
WAYS = {"alone": None, "with the drop-in": (), REPLACED: ("--force",)}


def run(program, ranks, words, folder, way="alone", prefix=()):
    """A finished process, and the calls that were replaced."""
    command = [*LAUNCH, str(ranks), *prefix, os.path.join(FOLDER, program), *words.split()]
    report = pathlib.Path(folder, f"{program}-{ranks}-{way}.json".replace(" ", "-"))
    if WAYS[way] is not None:
        command = [QUADRILLE, "run", *WAYS[way], f"--report={report}", "--", *command]
    environment = {**os.environ, "XDG_CACHE_HOME": folder}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)
    calls = json.loads(report.read_text(encoding="utf-8"))["calls"] if report.exists() else []
    return done, sum(row["replaced"] for row in calls)


class Kernels(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def runs(self, keys, start):
        """By key, what starting it with the key gives. Launchers spend most of their time asleep."""
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            runs = {key: pool.submit(start, *key) for key in keys}
        return {key: one.result() for key, one in runs.items()}

    def test_results_are_right_in_every_way(self):
        keys = itertools.product(PROGRAMS, (2, 3), WAYS)
        runs = self.runs(keys, lambda program, ranks, way: run(program, ranks, PROGRAMS[program], self.folder, way))
        for (program, ranks, way), (done, replaced) in runs.items():
            with self.subTest(f"{program}, {ranks} ranks, {way}"):
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"(?m)^seconds: \d+\.\d+$")
                self.assertEqual(len(re.findall(r"\bright\b", done.stdout)), len(LOOPS) if program == "loop" else 1)
                if way == REPLACED:
                    self.assertGreater(replaced, 0)

    def test_wrong_results_are_noticed(self):
        preload = ("env", f"LD_PRELOAD={WRONG}")
        runs = self.runs(((program,) for program in PROGRAMS),
                         lambda program: run(program, 2, PROGRAMS[program], self.folder, prefix=preload))
        for (program,), (done, _) in runs.items():
            with self.subTest(program):
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn("WRONG", done.stdout)

    def test_a_loop_for_some_time_ends_on_all_ranks(self):
        trace = pathlib.Path(self.folder, "trace")
        done, _ = run("loop", 2, f"allreduce --bytes 64 --seconds 0.2 --trace {trace}", self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        calls = int(re.search(r"calls: (\d+)", done.stdout)[1])
        lines = trace.read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), calls + 1)
        self.assertGreater(calls, 10)

    def test_what_is_not_known_is_refused(self):
        words = ("allreduces", "--bytes 8", "bcast --byte 8", "bcast --bytes")
        for one, (done, _) in self.runs(((one,) for one in words), lambda one: run("loop", 1, one, self.folder)).items():
            with self.subTest(one):
                self.assertEqual((done.returncode, "usage:" in done.stderr), (2, True), done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
