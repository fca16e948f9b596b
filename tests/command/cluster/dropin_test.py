"""`quadrille run` with `quadrille cluster run` as its launcher: dropin_test.py PATH_OF_QUADRILLE PATH_OF_WHERE MPI"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from harness import Cluster, WithCluster, skip_unless_possible

QUADRILLE, WHERE, MPI = sys.argv[1:4]
del sys.argv[1:4]

NODES, SLOTS = 3, 2


class DropIn(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", NODES, "--slots", SLOTS)

    def run_with(self, options, *words):
        """On the cluster, with the drop-in."""
        return subprocess.run([QUADRILLE, "run", *options, "--", *self.cluster.words("run", *words)], capture_output=True,
                              text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)

    def test_every_rank_has_it_and_the_launcher_has_not(self):
        code = """
import os
def preloaded(path):
    with open(path, "rb") as file:
        return b"libquadrille-dropin" in file.read()
parent = preloaded(f"/proc/{os.getppid()}/environ")
value = os.environ["LD_PRELOAD"].split(":")[0]
os.write(1, f"{os.uname().nodename} {value[-31:]} {os.environ['QUADRILLE_FORCE']} {parent}\\n".encode())
"""
        done = self.run_with(["--force", "--only", "bcast,reduce"], "--mpi", MPI, "--map", "ppr:1", "--", sys.executable,
                             "-c", code)
        tail = f"/lib/quadrille/{MPI}/libquadrille-dropin.so"[-31:]
        self.assertEqual(sorted(done.stdout.splitlines()), [f"node{node} {tail} bcast,reduce False" for node in range(NODES)],
                         done.stderr)

    def test_the_report_has_all_ranks(self):
        # MPICH over UCX may hang in MPI_Finalize, but not on one node.
        ranks, places = (SLOTS, ()) if MPI == "mpich" else (NODES, ("--map", "ppr:1"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            done = self.run_with([f"--report={path}"], "-n", str(ranks), *places, "--", WHERE)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["ranks"], ranks)

    def test_runs_on_it_can_be_compared(self):
        done = self.run_with(["--compare", "1"], "-n", str(SLOTS), "--", WHERE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "(faster|slower|no difference).*; collectives are ")

    def test_the_other_order_names_the_right_one(self):
        done = self.cluster("run", "-n", 4, "--map", "ppr:2", "--", QUADRILLE, "run", "--force", "--", "mpirun", "-n", 4, WHERE,
                            "a b")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(f": quadrille run --force -- quadrille cluster run --name {self.cluster.name} -n 4 --map ppr:2 -- "
                      f"{WHERE} 'a b'\n", done.stderr)

    def test_a_variable_has_a_name_and_a_value(self):
        self.assertIn("-x A: expected NAME=VALUE", self.cluster("run", "-x", "A", "--", WHERE).stderr)


if __name__ == "__main__":
    skip_unless_possible(Cluster(QUADRILLE))
    unittest.main(verbosity=2)
