"""What Open MPI's han sends against what is known of it, on nodes:
han_test.py PATH_OF_QUADRILLE PATH_OF_SENT FOLDER [option of sent...]

Han needs nodes; SENT compares, FOLDER has the list of calls that differ.
"""

import os
import sys
import unittest

from harness import Cluster, WithCluster, skip_unless_possible

QUADRILLE, SENT, FOLDER, *OPTIONS = sys.argv[1:]
del sys.argv[1:]


class Han(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", 5, "--slots", 4, "--rate", "10gbit")

    def compare(self, ranks, mapping, *collectives):
        environment = {**os.environ, "OMPI_MCA_coll_han_priority": "100", "OMPI_MCA_pml_monitoring_enable": "2",
                       "OMPI_MCA_mpi_yield_when_idle": "1"}
        for collective in collectives:
            with self.subTest(collective):
                done = self.cluster("run", "--mpi", "openmpi", "-n", ranks, "--map", mapping, "--", SENT, FOLDER,
                                    "--policy", "openmpi-4.1-han", "--only", collective, *OPTIONS, env=environment,
                                    timeout=3600)
                self.assertEqual(done.returncode, 0, done.stdout[-5000:] + done.stderr[-2000:])
                self.assertRegex(done.stdout, rf"han, {ranks} ranks: \d+ calls send what is expected, .* 0 are neither")
                print(done.stdout, end="")

    def test_four_nodes_of_four_ranks(self):
        self.compare(16, "ppr:4", "barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather")

    def test_two_nodes_of_three_ranks(self):
        self.compare(6, "ppr:3", "bcast", "reduce", "allreduce")

    def test_five_nodes_with_ranks_in_turn(self):
        self.compare(10, "cyclic", "bcast", "reduce")


if __name__ == "__main__":
    skip_unless_possible(Cluster(QUADRILLE))
    unittest.main(verbosity=2)
