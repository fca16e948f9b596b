"""Collectives whose leaders' level is the MPI's: offload_test.py PATH_OF_QUADRILLE PATH_OF_OFFLOADED MPI"""

import os
import sys
import unittest

from harness import Cluster, WithCluster, skip_unless_possible

QUADRILLE, OFFLOADED, MPI = sys.argv[1:4]
del sys.argv[1:4]


class Offload(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", 3, "--slots", 3)

    def run_with(self, algorithms, *words, arguments=()):
        environment = {**os.environ, "QUADRILLE_ALGORITHM": algorithms}
        return self.cluster("run", "--mpi", MPI, *words, "--", OFFLOADED, *arguments, env=environment)

    def test_many_at_once(self):
        for words in ((), ("--map", "cyclic"), ("--map", "ppr:1")):
            done = self.run_with("allreduce=offloaded", *words)
            self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)

    def test_without_the_leaders_communicator_it_is_refused_with_the_remedy(self):
        done = self.run_with("allreduce=ring", "--map", "ppr:1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("needs an operation that MPI predefines, and to be named by QUADRILLE_ALGORITHM", done.stderr)

    def test_with_an_operation_of_the_program_it_is_refused_on_every_rank(self):
        done = self.run_with("allreduce=offloaded", arguments=("own",))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("needs an operation that MPI predefines", done.stderr)


if __name__ == "__main__":
    skip_unless_possible(Cluster(QUADRILLE))
    unittest.main(verbosity=2)
