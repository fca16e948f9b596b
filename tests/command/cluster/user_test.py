"""A cluster of an unprivileged user: user_test.py PATH_OF_QUADRILLE [PATH_OF_WHERE...]. Root switches to nobody."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import SKIPPED, Cluster, places, skip_unless_possible

PROGRAMS = sys.argv[1:]
del sys.argv[1:]
USER = "nobody"


class OrdinaryUser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = CLUSTER
        cls.cluster.up("--nodes", 4, "--slots", 2, "--racks", 2, "--skew")
        cls.addClassCleanup(cls.cluster.down)

    def test_nodes_have_names(self):
        self.assertEqual(self.cluster.execute("node3", "hostname"), "node3\n")

    def test_root_there_is_nobody_here(self):
        self.assertEqual(self.cluster.execute("node0", "id", "-u"), "0\n")
        self.assertNotEqual(self.cluster("exec", "node0", "--", "touch", "/etc/quadrille-test").returncode, 0)

    def test_nodes_are_disconnected_and_reconnected(self):
        self.assertEqual(self.cluster("cut", "2").returncode, 0)
        self.assertEqual(self.cluster.status()["cut"], ["node2"])
        self.assertEqual(self.cluster("heal", "2").returncode, 0)
        self.assertEqual(self.cluster.status()["cut"], [])

    def test_slurm_is_refused_with_the_reason(self):
        other = Cluster(PROGRAMS[0], suffix="-user-slurm", before=self.cluster.before)
        done = other.up_while_here("--nodes", 1, "--slurm")
        self.addCleanup(other.down)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "run it as root|the program .* was not found: install Slurm")

    def test_programs_run(self):
        expected = [f"{rank} node{rank // 2} {rank // 2 * 2} 2" for rank in range(8)]
        for program in PROGRAMS[1:]:
            with self.subTest(program):
                self.assertEqual(places(self.cluster, program, 8), expected)


def become_user(folder):
    """Copies of the programs that the user can access, and the words that switch to the user."""
    os.chmod(folder, 0o755)
    copies = [shutil.copy(program, folder) for program in PROGRAMS]
    return copies, ["setpriv", "--reuid", USER, "--regid", "nogroup", "--clear-groups", "env", "-u", "XDG_RUNTIME_DIR",
                    "HOME=/"]


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("SKIP: only root can switch to another user; the other cluster tests ran unprivileged")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as temporary:
        PROGRAMS, BEFORE = become_user(temporary)
        os.chdir(temporary)
        CLUSTER = Cluster(PROGRAMS[0], suffix="-user", before=BEFORE)
        if subprocess.run([*BEFORE, "true"], check=False).returncode != 0:
            print(f"SKIP: can't become {USER}")
            sys.exit(SKIPPED)
        skip_unless_possible(CLUSTER)
        result = unittest.main(verbosity=2, exit=False).result
        os.chdir("/")
    sys.exit(0 if result.wasSuccessful() else 1)
