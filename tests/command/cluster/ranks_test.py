"""Ranks on the nodes of a cluster: ranks_test.py PATH_OF_QUADRILLE PATH_OF_WHERE MPI"""

import collections
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from harness import Cluster, WithCluster, places, running, skip_unless_possible, wait_until

QUADRILLE, WHERE, MPI = sys.argv[1:4]
del sys.argv[1:4]

NODES, SLOTS = 16, 4


class Ranks(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", NODES, "--slots", SLOTS)

    def check(self, words, nodes):
        """Each rank is on its node and shares memory only with the ranks of that node."""
        lines = places(self.cluster, WHERE, len(nodes), *words)
        ranks = collections.defaultdict(list)
        for rank, node in enumerate(nodes):
            ranks[node].append(rank)
        expected = [f"{rank} node{node} {ranks[node][0]} {len(ranks[node])}" for rank, node in enumerate(nodes)]
        self.assertEqual(lines, expected)

    def check_file(self, nodes):
        with tempfile.NamedTemporaryFile("w", suffix=".map") as file:
            file.write("".join(f"node{node}\n" for node in nodes))
            file.flush()
            self.check(("--map", file.name), nodes)

    def test_block_fills_all_slots(self):
        self.check((), [rank // SLOTS for rank in range(NODES * SLOTS)])

    def test_cyclic_is_round_robin(self):
        self.check(("--map", "cyclic"), [rank % NODES for rank in range(NODES * SLOTS)])

    def test_one_rank_per_node(self):
        self.check(("--map", "ppr:1"), list(range(NODES)))

    def test_three_ranks_per_node(self):
        self.check(("--map", "ppr:3", "-n", 7), [0, 0, 0, 1, 1, 1, 2])

    def test_a_file_maps_ranks(self):
        self.check_file([3, 3, 1, 7, 3, 3, 1, 7])

    def test_a_file_in_any_order(self):
        nodes = [2, 5, 5, 2, 0, 2]
        if MPI == "openmpi":
            self.check_file(nodes)
            return
        with self.assertRaisesRegex(AssertionError, "MPICH's launcher would take node2 for another node from rank 3 on"):
            self.check_file(nodes)

    def test_the_environment_reaches_every_rank(self):
        names = ("QUADRILLE_CLUSTER_RATE", "QUADRILLE_CLUSTER_NODES", "OMPI_MCA_test_of_ours", "OURS")
        code = f"import os; os.write(1, (' '.join(os.environ.get(name, '') for name in {names}) + '\\n').encode())"
        environment = {**os.environ, "OMPI_MCA_test_of_ours": "x", "OURS": "y"}
        words = ("run", "--mpi", MPI, "--map", "ppr:1", "--", sys.executable, "-c", code)
        done = self.cluster(*words, env=environment)
        self.assertEqual(done.stdout.splitlines(), ["200000000 16 x y"] * NODES, done.stderr)

    def test_the_exit_status_is_that_of_the_program(self):
        # MPICH's launcher sometimes dies of a broken pipe instead of returning the status, also without Quadrille.
        broken_pipe = 141
        statuses = []
        while len(statuses) < 4 and all(status == broken_pipe for status in statuses):
            statuses.append(self.cluster("run", "--mpi", MPI, "-n", 2, "--", "sh", "-c", "exit 3").returncode)
        self.assertEqual(statuses[-1], 3, statuses)

    def end_by(self, sent):
        others = running("orted").keys()
        words = self.cluster.words("run", "-n", "8", "--map", "cyclic", "--", WHERE, "stay")
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as job:
            self.assertEqual([job.stdout.readline().split()[1] for _ in range(8)], [f"node{i}" for i in range(8)])
            self.assertGreaterEqual(len(running(f"{WHERE} stay")), 8)
            job.send_signal(sent)
            job.wait(20)
        self.assertTrue(wait_until(lambda: not running(f"{WHERE} stay")), running(f"{WHERE} stay"))
        self.assertTrue(wait_until(lambda: running("orted").keys() <= others), running("orted"))

    def test_ending_the_command_kills_the_ranks(self):
        self.end_by(signal.SIGTERM)

    def test_also_at_once(self):
        self.end_by(signal.SIGKILL)

    def test_runs_leave_no_files_on_the_nodes(self):
        self.check(("-n", 64), [rank // SLOTS for rank in range(64)])
        for node in (0, 1, NODES - 1):
            files = self.cluster.execute(node, "ls", "/dev/shm")
            self.assertNotIn("quadrille-", files)
            self.assertNotIn("ompi", files)


class Down(unittest.TestCase):
    def test_it_ends_what_was_started(self):
        cluster = Cluster(QUADRILLE, suffix="-down")
        cluster.up("--nodes", 3, "--slots", 1)
        self.addCleanup(cluster.down)
        with subprocess.Popen(cluster.words("run", "--", WHERE, "stay"), stdout=subprocess.PIPE, text=True) as job:
            for _ in range(3):
                job.stdout.readline()
            self.assertEqual(cluster("down").returncode, 0)
            self.assertEqual(job.wait(10), 128 + 9)
        self.assertEqual(running(f"{WHERE} stay"), {})
        self.assertFalse(cluster.status()["up"])


if __name__ == "__main__":
    skip_unless_possible(Cluster(QUADRILLE))
    unittest.main(verbosity=2)
