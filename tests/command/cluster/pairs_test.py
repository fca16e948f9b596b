"""What pairs of nodes do, as probe --pairs measures it: pairs_test.py PATH_OF_QUADRILLE MPI"""

import functools
import json
import os
import pathlib
import sys
import tempfile
import unittest

from harness import Cluster, skip_unless_possible

QUADRILLE, MPI = sys.argv[1:3]
del sys.argv[1:3]


def measured(test):
    """Other work on the machine slows some nodes down, and rightly shows: three measurements may be made."""

    @functools.wraps(test)
    def repeated(self):
        for _ in range(2):
            try:
                return test(self)
            except AssertionError as error:
                print(f"measured again: {error}", file=sys.stderr)
            self.doCleanups()
        return test(self)

    return repeated


class Pairs(unittest.TestCase):
    def probe(self, *words, racks=""):
        """The report, the machine file and the drawing of a probe on a cluster that is up with these options."""
        cluster = Cluster(QUADRILLE, suffix="-pairs")
        cluster.up("--slots", 2, "--rate", "50mbit", *words)
        self.addCleanup(cluster.down)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        cache = pathlib.Path(folder.name)
        # Empty: the cluster is not to say what its racks are.
        environment = {**os.environ, "XDG_CACHE_HOME": folder.name, "QUADRILLE_RACKS": ""}
        if racks:
            (cache / "racks").write_text(racks)
            environment["QUADRILLE_RACKS"] = str(cache / "racks")
        done = cluster("run", "--mpi", MPI, "--", QUADRILLE, "probe", "--pairs", "--json", cache / "pairs.json",
                       "--svg", cache / "pairs.svg", env=environment, timeout=250)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.run_again = functools.partial(cluster, "run", "--mpi", MPI, "--", QUADRILLE, "probe", env=environment, timeout=250)
        (machine,) = cache.glob("quadrille/machines/*.json")
        self.machine = machine
        report = json.loads((cache / "pairs.json").read_text())
        for finding in report["findings"]:
            self.assertIn(finding["text"], done.stdout)
        self.assertIn("Rates between nodes", (cache / "pairs.svg").read_text())
        return report, json.loads(machine.read_text())

    @staticmethod
    def names(report, kind):
        return [finding["names"] for finding in report["findings"] if finding["kind"] == kind]

    @measured
    def test_a_slow_node_is_named(self):
        report, machine = self.probe("--nodes", 6, "--rate", "node3=10mbit")
        self.assertEqual(self.names(report, "slow_node"), [["node3"]])
        self.assertEqual(report["measured_pairs"], 15)
        rates = report["rate_mb_per_s"]
        for other in (0, 1, 2, 4, 5):
            # 1.19 MB/s pass a link of 10 Mbit/s, with the headers of packets.
            for rate in (rates[3][other], rates[other][3]):
                self.assertGreater(rate, 0.8)
                self.assertLess(rate, 1.3)
        self.assertGreater(max(rates[0]), 3)
        # As a program reads it.
        self.assertEqual(machine["format"], "quadrille machine 1")
        self.assertEqual(machine["core"]["shared_by_all_nodes"], 1, "the numbers of the file are kept")
        self.assertEqual([node["name"] for node in machine["pairs"]["nodes"]], [f"node{i}" for i in range(6)])
        self.assertEqual(len(machine["pairs"]["measured"]), 30)
        # What all ranks do together is measured without it.
        done = self.run_again("--time", 0.1)
        self.assertRegex(done.stderr, r"2 ranks are left out, on nodes that are slow:\n  node3 sends ")
        self.assertRegex(done.stdout, r"written to .*\.json")
        self.assertIn(" 10 ranks on 5 nodes", json.loads(self.machine.read_text())["from"])

    @measured
    def test_a_slow_uplink_is_named(self):
        racks = "a: node0 node1\nb: node2 node3\nc: node4 node5\n"
        report, _ = self.probe("--nodes", 6, "--racks", 3, "--uplink", "rack1=10mbit", racks=racks)
        self.assertIn(["b"], self.names(report, "slow_uplink"))
        self.assertEqual(self.names(report, "slow_node"), [])

    @measured
    def test_racks_that_nobody_has_named_are_recognised(self):
        report, machine = self.probe("--nodes", 6, "--racks", 2, "--uplink", "rack1=10mbit")
        self.assertEqual(self.names(report, "racks"), [["group0", "group1"]])
        self.assertEqual(self.names(report, "slow_uplink"), [["group0", "group1"]])
        self.assertEqual([node["rack"] for node in machine["pairs"]["nodes"]], 3 * ["group0"] + 3 * ["group1"])


if __name__ == "__main__":
    skip_unless_possible(Cluster(QUADRILLE, suffix="-pairs"))
    unittest.main(verbosity=2)
