"""Ranks are where the files of quadrille place put them: place_test.py PATH_OF_QUADRILLE PATH_OF_WHERE MPI"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import Cluster, WithCluster, first_lines, skip_unless_possible

QUADRILLE, WHERE, MPI = sys.argv[1:4]
WITH_DROPIN = sys.argv[4:5] == ["with-dropin"]  # a library with a sanitizer can't be loaded into this program
del sys.argv[1:]

NODES, SLOTS, RANKS = 4, 4, 12
SEED = 7
AGENT = "/dev/shm/.quadrille-agent"
HAS_SLURM = os.geteuid() == 0 and all(shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
                                      for program in ("munged", "slurmctld", "slurmd", "sinfo", "srun"))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "SLURM_PMIX_TMPDIR": "/dev/shm"}
# What the launcher needs on such a cluster; the rest of the line is as quadrille place prints it.
ON_CLUSTER = {
    "openmpi": ("--mca", "plm", "^slurm", "--mca", "ras", "^slurm", "--mca", "plm_rsh_agent", AGENT, "--mca", "plm_ssh_agent",
                AGENT, "--mca", "btl_tcp_if_include", "10.77.0.0/16"),
    "mpich": ("-launcher", "ssh", "-launcher-exec", AGENT),
}[MPI]
PMI = {"openmpi": "--mpi=pmix_v4", "mpich": "--mpi=pmi2"}[MPI]


def launcher_here():
    """What `quadrille place` calls the one that is here."""
    if MPI != "openmpi":
        return MPI
    said = subprocess.run(["mpirun.openmpi", "--version"], check=True, capture_output=True, text=True).stdout
    return "openmpi-5" if int(re.search(r"(\d+)\.\d", said)[1]) >= 5 else "openmpi"


LAUNCHER = launcher_here()


class Placed(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", NODES, "--slots", SLOTS, *(["--slurm"] if HAS_SLURM else []))

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.output = self.folder / "places"

    def place(self, launcher, *words):
        """Writes the file; returns the words of the line that is printed."""
        done = subprocess.run([QUADRILLE, "place", "stencil2d:3x4:64KiB", *words, "--launcher", launcher, "--output",
                               self.output], capture_output=True, text=True, check=True, timeout=60)
        line = next(line for line in done.stdout.splitlines() if line.endswith(" PROGRAM"))
        return line.split()[:-1]

    def random_problem(self, launcher):
        """Places at random, by ranks that are fixed, each with its own number of slots; returns the hosts of all ranks."""
        rng = random.Random(SEED)
        slots = [node for node in range(NODES) for _ in range(SLOTS)]
        rng.shuffle(slots)
        nodes = slots[:RANKS]
        fixed = [word for rank in range(RANKS) for word in ("--fix", f"{rank}=node{nodes[rank]}")]
        return self.place(launcher, "--cluster", self.cluster.name, *fixed), [f"node{node}" for node in nodes]

    def launcher_words(self, line):
        self.assertIn(line[0], ("mpirun", "mpiexec"))
        return [f"mpirun.{MPI}", *ON_CLUSTER, *line[1:]]

    def check(self, words, hosts):
        """On these hosts; and ranks of a host share memory with all others there, if the MPI sees that."""
        stays = MPI == "mpich"  # it may hang in MPI_Finalize: see places() of the harness
        words = self.cluster.words("exec", "node0", "--", *words, WHERE, *(["stay"] if stays else []))
        lines = first_lines(words, RANKS, stays, env=ENVIRONMENT)
        self.assertEqual([line.split()[:2] for line in lines], [[str(rank), host] for rank, host in enumerate(hosts)])
        if MPI == "openmpi":
            self.assertEqual([line.split()[2:] for line in lines],
                             [[str(hosts.index(host)), str(hosts.count(host))] for host in hosts])

    def test_any_map_is_launched(self):
        line, hosts = self.random_problem(LAUNCHER)
        self.check(self.launcher_words(line), hosts)

    def test_the_best_map_is_launched_and_verified(self):
        line = self.place(LAUNCHER, "--cluster", self.cluster.name)
        words = [*self.launcher_words(line), QUADRILLE, "place", "--verify", self.output]
        done = self.cluster("exec", "node0", "--", *words, env=ENVIRONMENT)
        self.assertEqual(done.stdout, f"12 of 12 ranks are where {self.output} puts them\n", done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_ranks_elsewhere_are_named(self):
        line, hosts = self.random_problem(LAUNCHER)
        other = self.folder / "other"
        swapped = list(hosts)
        second = next(rank for rank in range(1, RANKS) if hosts[rank] != hosts[0])
        swapped[0], swapped[second] = hosts[second], hosts[0]
        other.write_text("".join(f"{host}\n" for host in swapped))
        words = [*self.launcher_words(line), QUADRILLE, "place", "--verify", other]
        done = self.cluster("exec", "node0", "--", *words, env=ENVIRONMENT)
        self.assertIn(f"rank 0 is on {hosts[0]}, and should be on {hosts[second]}\n", done.stdout, done.stderr)
        self.assertIn(f"rank {second} is on {hosts[second]}, and should be on {hosts[0]}\n", done.stdout)
        self.assertIn(f"10 of 12 ranks are where {other} puts them\n", done.stdout)
        self.assertNotEqual(done.returncode, 0)

    def test_a_file_for_other_ranks_is_refused(self):
        self.place(LAUNCHER, "--cluster", self.cluster.name)
        self.output.write_text("node0\nnode1\n")
        done = self.cluster("run", "--mpi", MPI, "-n", 3, "--map", "ppr:1", "--", QUADRILLE, "place", "--verify", self.output)
        self.assertIn(f"quadrille place: {self.output} places 2 ranks, and there are 3", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_slurm_places_ranks(self):
        if not HAS_SLURM:
            self.skipTest("Slurm takes root and its programs")
        line, hosts = self.random_problem("slurm")
        variable, srun, *rest = line
        self.assertEqual((variable, srun), (f"SLURM_HOSTFILE={self.output}", "srun"))
        self.check(["env", variable, srun, PMI, *rest], hosts)

    def run_again(self, *options):
        """Placed: what the program says, and what the command says."""
        if MPI == "mpich" or not WITH_DROPIN:
            self.skipTest("it may hang in MPI_Finalize, where the trace is written, or the drop-in has a sanitizer")
        words = [QUADRILLE, "place", "--run", *options, "--", QUADRILLE, "cluster", "run", "--name", self.cluster.name, "--mpi",
                 MPI, "-n", "8", "--", WHERE, "pairs"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, cwd=self.folder, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        hosts = [line.split()[1] for line in done.stdout.splitlines()]
        self.assertEqual(hosts[:8], ["node0"] * 4 + ["node1"] * 4)
        placed = hosts[8:]
        self.assertEqual(len(placed), 8, done.stderr)
        for rank in range(4):
            self.assertEqual(placed[rank], placed[rank + 4], placed)
        again = done.stderr.split("started again, placed: ")
        self.assertEqual(len(again), 2, done.stderr)
        self.assertRegex(again[1], r"quadrille: it took [\d.]+ \w+, and [\d.]+ \w+ before")
        return again[1].splitlines()[0]

    def test_a_program_is_run_again_with_its_ranks_placed(self):
        self.assertNotIn("libquadrille-dropin.so", self.run_again())

    def test_a_program_is_run_again_placed_and_with_the_drop_in(self):
        self.assertIn("libquadrille-dropin.so", self.run_again("--drop-in"))

    def test_the_same_by_mpirun(self):
        if MPI == "mpich" or not WITH_DROPIN:
            self.skipTest("it may hang in MPI_Finalize, where the trace is written, or the drop-in has a sanitizer")
        hosts = self.folder / "hosts"
        hosts.write_text("".join(f"node{node} slots={SLOTS}\n" for node in range(NODES)))
        words = [QUADRILLE, "place", "--run", "--", f"mpirun.{MPI}", *ON_CLUSTER, "-n", "8", "--hostfile", hosts, WHERE, "pairs"]
        done = self.cluster("exec", "node0", "--", *words, cwd=self.folder, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        placed = [line.split()[1] for line in done.stdout.splitlines()][8:]
        self.assertEqual(placed[:4], placed[4:], done.stderr)
        self.assertEqual(len(placed), 8)

    def test_the_cluster_takes_the_map(self):
        if MPI == "mpich":
            self.skipTest("MPICH's launcher takes a host listed twice for two")
        line, hosts = self.random_problem("cluster")
        self.assertEqual(line[:2], ["quadrille", "cluster"])
        lines = first_lines([QUADRILLE, *line[1:], WHERE], RANKS, False)
        self.assertEqual([line.split()[1] for line in lines], hosts)


if __name__ == "__main__":
    skip_unless_possible(Cluster(QUADRILLE))
    unittest.main(verbosity=2)
