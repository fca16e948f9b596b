"""Ranks that are neighbours are renumbered to be near: reorder_test.py QUADRILLE MPI EXAMPLE PROGRAM[,FORTRAN...]

EXAMPLE uses the library, each PROGRAM the drop-in."""

import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

from harness import Cluster, WithCluster, first_lines, skip_unless_possible

QUADRILLE, MPI, EXAMPLE, PROGRAMS = sys.argv[1:5]
del sys.argv[1:]

NODES, SLOTS = 4, 4
WAYS = ("cart", "graph", "dist_graph", "adjacent", "unweighted")
STAYS = MPI == "mpich"  # it may hang in MPI_Finalize: see places() of the harness
# A torus of 4 x 4 has 64 pairs of neighbours. A node of 4 ranks has at most 8 of them inside, where a row is a ring.
LEAST_APART = 64 - NODES * 8


class Reordered(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", NODES, "--slots", SLOTS)

    def pairs_apart(self, program, **variables):
        """By way of making a torus, how many ranks have moved and how many pairs of neighbours are on two nodes."""
        words = [QUADRILLE, "run", "--", *self.cluster.words("run", "--mpi", MPI, "-n", NODES * SLOTS, "--", program),
                 *(["stay"] if STAYS else [])]
        environment = {**os.environ, "QUADRILLE_MACHINE": "none", **variables}
        *lines, faults = first_lines(words, len(WAYS) + 1, STAYS, env=environment)
        self.assertEqual(faults, "0 faults")
        found = {}
        for line in lines:
            way, moved, apart = re.fullmatch(r"(\w+): (\d+) moved, (\d+) apart", line).groups()
            found[way] = int(moved), int(apart)
        self.assertEqual(tuple(found), WAYS)
        return found

    def test_neighbours_of_a_shuffled_torus_are_on_one_node(self):
        for program in PROGRAMS.split(","):
            with self.subTest(program):
                before = self.pairs_apart(program)
                after = self.pairs_apart(program, QUADRILLE_REORDER="1")
                self.assertEqual(after, self.pairs_apart(program, QUADRILLE_REORDER="1"))
                for way in WAYS:
                    self.assertEqual(before[way], (0, before["cart"][1]), way)
                    self.assertGreater(after[way][0], 0, way)
                    self.assertLess(after[way][1], before[way][1] - 4, way)
                    self.assertGreaterEqual(after[way][1], LEAST_APART, way)

    def test_it_is_off_with_the_drop_in(self):
        found = self.pairs_apart(PROGRAMS.split(",", maxsplit=1)[0], QUADRILLE_REORDER="1", QUADRILLE="off")
        self.assertEqual({moved for moved, _ in found.values()}, {0})

    def test_the_library_renumbers_them_too(self):
        if STAYS:
            self.skipTest("it may hang in MPI_Finalize")
        hosts = [f"node{node}\n" for node in range(NODES) for _ in range(SLOTS)]
        random.Random(3).shuffle(hosts)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("".join(hosts))
            file.flush()
            done = self.cluster("run", "--mpi", MPI, "-n", NODES * SLOTS, "--map", file.name, "--", EXAMPLE,
                                env={**os.environ, "QUADRILLE_MACHINE": "none"})
        self.assertEqual(done.returncode, 0, done.stderr)
        before, after = map(int, re.fullmatch(r"messages between nodes: (\d+), reordered (\d+)\n", done.stdout).groups())
        self.assertLess(after, before)


if __name__ == "__main__":
    skip_unless_possible(Cluster(QUADRILLE))
    unittest.main(verbosity=2)
