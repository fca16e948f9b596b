"""Grids and graphs that may be reordered, on one node: topologies_test.py QUADRILLE MPI PROGRAM[,FORTRAN...] LAUNCHER... -n"""

import os
import subprocess
import sys
import unittest

QUADRILLE, MPI, PROGRAMS, *LAUNCH = sys.argv[1:]
del sys.argv[1:]
PROGRAMS = PROGRAMS.split(",")
# What stands in front of the launcher is for the environment: cmake -E env NAME=VALUE...
while not os.path.basename(LAUNCH[0]).startswith("mpi"):
    name, _, value = LAUNCH.pop(0).partition("=")
    os.environ.update({name: value} if value else {})
WAYS = ("cart", "graph", "dist_graph", "adjacent", "unweighted")


def launched(ranks, program, *words, **variables):
    words = [QUADRILLE, "run", "--", *LAUNCH, str(ranks), program, *words]
    return subprocess.run(words, capture_output=True, text=True, env={**os.environ, **variables}, check=False, timeout=120)


class Topologies(unittest.TestCase):
    def test_neighbours_are_those_of_the_program_and_ranks_of_one_node_stay(self):
        for program in PROGRAMS:
            for ranks in (1, 2, 3, 4, 7):
                with self.subTest(program=program, ranks=ranks):
                    done = launched(ranks, program, QUADRILLE_REORDER="1")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertEqual(done.stdout.split("\n"), [*(f"{way}: 0 moved, 0 apart" for way in WAYS), "0 faults", ""])

    def test_mpi_says_what_is_wrong(self):
        for value in ("0", "1"):
            with self.subTest(value):
                done = launched(3, PROGRAMS[0], "wrong", QUADRILLE_REORDER=value)
                self.assertEqual((done.returncode, done.stdout), (0, "0 faults\n"), done.stderr)

    def test_another_value_is_refused(self):
        done = launched(1, PROGRAMS[0], QUADRILLE_REORDER="yes")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("QUADRILLE_REORDER=yes: expected 0 or 1", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
