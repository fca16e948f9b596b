"""Nodes and racks of a cluster, as ranks see them: topology_test.py PATH_OF_QUADRILLE MPI"""

import json
import os
import sys
import tempfile
import unittest

from harness import Cluster, WithCluster, skip_unless_possible

QUADRILLE, MPI = sys.argv[1:3]
del sys.argv[1:3]

NODES, SLOTS = 4, 2


class Topology(WithCluster):
    cluster = Cluster(QUADRILLE, suffix="-topology")
    words = ("--nodes", NODES, "--slots", SLOTS)

    def topology(self, *words, **variables):
        done = self.cluster("run", "-n", NODES * SLOTS, "--mpi", MPI, *words, "--", QUADRILLE, "topology", "--json", "-",
                            env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_every_node_has_its_ranks(self):
        found = self.topology()
        self.assertEqual((found["ranks"], found["nodes"], found["racks"]), (8, 4, 0))
        self.assertEqual([(one["name"], one["ranks"]) for one in found["tree"]],
                         [(f"node{node}", [2 * node, 2 * node + 1]) for node in range(NODES)])
        self.assertEqual(found["levels"], [{"level": "node", "leaders": [0, 2, 4, 6]}])

    def test_racks_contain_nodes(self):
        with tempfile.NamedTemporaryFile("w", suffix=".racks") as file:
            file.write("left: node0 node2\nright: node1 node3\n")
            file.flush()
            found = self.topology("--map", "cyclic", QUADRILLE_RACKS=file.name)
        self.assertEqual((found["nodes"], found["racks"]), (4, 2))
        self.assertEqual([(one["name"], one["ranks"]) for one in found["tree"]],
                         [("left", [0, 2, 4, 6]), ("right", [1, 3, 5, 7])])
        self.assertEqual([one["leaders"] for one in found["levels"]], [[0, 1], [0, 1, 2, 3]])


class Racks(WithCluster):
    cluster = Cluster(QUADRILLE, suffix="-racks")
    words = ("--nodes", 3, "--slots", 2, "--racks", 2)

    def racks(self, *words, **variables):
        done = self.cluster(*words, QUADRILLE, "topology", "--json", "-", env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return [(one["name"], one["ranks"]) for one in json.loads(done.stdout)["tree"]]

    def test_the_cluster_says_what_its_racks_are(self):
        run = ("run", "--mpi", MPI, "--")
        self.assertEqual(self.racks(*run), [("rack0", [0, 1, 2, 3]), ("rack1", [4, 5])])
        self.assertEqual([name for name, _ in self.racks(*run, QUADRILLE_RACKS="")], ["node0", "node1", "node2"])

    def test_so_does_a_node(self):
        done = self.cluster("exec", "node2", "--", "sh", "-c", "cat $QUADRILLE_RACKS")
        self.assertEqual(done.stdout, "rack0: node0 node1\nrack1: node2\n")


if __name__ == "__main__":
    skip_unless_possible(Topology.cluster)
    unittest.main(verbosity=2)
