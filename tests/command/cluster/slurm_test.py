"""Slurm on the nodes of a cluster: slurm_test.py PATH_OF_QUADRILLE PATH_OF_WHERE MPI [with-dropin]"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from harness import SKIPPED, Cluster, WithCluster, first_lines, listing, running, skip_unless_possible, traces, wait_until

QUADRILLE, WHERE, MPI = sys.argv[1:4]
HAS_DROPIN = "with-dropin" in sys.argv
del sys.argv[1:]

NODES, SLOTS = 4, 2
SBIN = ":/usr/sbin:/sbin"
# Open MPI 4.1 takes PMIx 4, MPICH 4.0 PMI 2.
PMI = {"openmpi": "--mpi=pmix_v4", "mpich": "--mpi=pmi2"}[MPI]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def daemons():
    """Names of Slurm's processes, by ID, of anybody."""
    found = {}
    for file in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            name = file.read_text().strip()
        except OSError:
            continue
        if name.startswith(("slurm", "munge")):
            found[file.parent.name] = name
    return found


def left_by_slurm():
    """What Slurm might leave behind beside what any cluster might."""
    folders = ("/tmp", "/dev/shm", "/run", "/run/munge", "/var/log/slurm", "/var/log/munge", "/var/lib/munge", "/var/spool",
               "/var/lib/slurm", "/etc/slurm")
    ours = ("slurm", "munge", "pmix")
    return {"daemons": daemons(),
            "files": {file for folder in folders for file in listing(folder) if any(part in file for part in ours)}}


class OnNodes(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", NODES, "--slots", SLOTS, "--racks", 2, "--slurm")

    def where(self, *words, **variables):
        """What 2 x NODES ranks print, started on the first node by these words."""
        stays = MPI == "mpich"  # it may hang in MPI_Finalize: see places() of the harness
        words = self.cluster.words("exec", "node0", "--", *words, WHERE, *(["stay"] if stays else []))
        return first_lines(words, NODES * SLOTS, stays, env={**os.environ, **AS_ROOT, **variables})

    def test_status_says_so(self):
        self.assertTrue(self.cluster.status()["slurm"])
        self.assertIn(", Slurm\n", self.cluster("status").stdout)

    def test_every_node_is_a_client(self):
        done = self.cluster.execute("node3", "srun", "--ntasks", NODES, "--ntasks-per-node", 1, "--label", "hostname")
        self.assertEqual(sorted(done.splitlines()), [f"{node}: node{node}" for node in range(NODES)])

    def test_slurm_knows_the_racks(self):
        lines = self.cluster.execute("node0", "scontrol", "show", "topology").splitlines()
        racks = [line.split()[0] + " " + line.split()[3] for line in lines if "Level=0" in line]
        self.assertEqual(racks, ["SwitchName=rack0 Nodes=node[0-1]", "SwitchName=rack1 Nodes=node[2-3]"])

    def test_a_host_file_places_each_rank(self):
        nodes = [2, 0, 2, 3, 1, 0, 3, 1]
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("".join(f"node{node}\n" for node in nodes))
            file.flush()
            lines = self.where("srun", PMI, "--ntasks", len(nodes), "--distribution=arbitrary", SLURM_HOSTFILE=file.name)
        self.assertEqual([line.split()[:2] for line in lines], [[str(rank), f"node{node}"] for rank, node in enumerate(nodes)])
        if MPI == "openmpi":  # MPICH takes each rank for alone on its node then
            self.assertEqual([line.split()[2:] for line in lines], [[str(nodes.index(node)), "2"] for node in nodes])

    def check_block(self, lines):
        self.assertEqual(lines, [f"{rank} node{rank // SLOTS} {rank // SLOTS * SLOTS} {SLOTS}" for rank in range(NODES * SLOTS)])

    def test_ranks_of_a_node_share_memory(self):
        self.check_block(self.where("srun", PMI, "--ntasks", NODES * SLOTS))

    def test_mpirun_takes_an_allocation(self):
        options = ("--bind-to", "none") if MPI == "openmpi" else ()
        self.check_block(self.where("salloc", "--quiet", "--ntasks", NODES * SLOTS, f"mpirun.{MPI}", *options))

    def test_a_batch_job_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            self.cluster.execute("node0", "sbatch", "--wait", "--nodes", NODES, "--output", f"{folder}/out",
                                 "--wrap", "srun --ntasks-per-node 1 hostname")
            with open(f"{folder}/out", encoding="utf-8") as file:
                self.assertEqual(sorted(file.read().split()), [f"node{node}" for node in range(NODES)])

    def test_ranks_have_the_drop_in(self):
        if not HAS_DROPIN:
            self.skipTest("this build has no drop-in that the program can load")
        # One node: MPICH may hang in MPI_Finalize between nodes.
        ranks = NODES * SLOTS if MPI == "openmpi" else SLOTS
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            self.cluster.execute("node0", QUADRILLE, "run", f"--report={path}", "--", "srun", PMI, "--ntasks", ranks, WHERE)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["ranks"], ranks)

    def test_cluster_run_is_independent_of_it(self):
        done = self.cluster("run", "--mpi", MPI, "--map", "ppr:1", "--", "hostname")
        self.assertEqual(sorted(done.stdout.split()), [f"node{node}" for node in range(NODES)], done.stderr)


class UpAndDown(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(QUADRILLE, suffix="-down")
        self.addCleanup(self.cluster.down)
        self.before = self.traces()

    def traces(self):
        return {**traces(self.cluster.name), **left_by_slurm()}

    def check_nothing_is_left(self):
        wait_until(lambda: self.traces() == self.before)
        self.assertEqual(self.traces(), self.before)

    def test_nothing_is_left_even_of_a_running_job(self):
        self.cluster.up("--nodes", 2, "--slots", 1, "--slurm")
        self.assertGreaterEqual(len(daemons()) - len(self.before["daemons"]), 2 + 1 + 2)
        words = self.cluster.words("exec", "0", "--", "srun", PMI, "--ntasks", 2, WHERE, "stay")
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as job:
            self.assertEqual([job.stdout.readline().split()[1] for _ in range(2)], ["node0", "node1"])
            self.assertEqual(self.cluster("down").returncode, 0)
            self.assertEqual(job.wait(10), 128 + 9)
        self.assertEqual(running(f"{WHERE} stay"), {})
        self.check_nothing_is_left()

    def test_all_nodes_are_idle_when_it_is_up(self):
        self.cluster.up("--nodes", 5, "--slots", 3, "--slurm")
        states = self.cluster.execute("node4", "sinfo", "--noheader", "--Node", "--format=%N %T %C")
        self.assertEqual(states.splitlines(), [f"node{node} idle 0/3/0/3" for node in range(5)])

    def test_without_it_there_is_none(self):
        self.cluster.up("--nodes", 1)
        self.assertFalse(self.cluster.status()["slurm"])
        self.assertNotIn("Slurm", self.cluster("status").stdout)
        self.assertEqual(daemons(), self.before["daemons"])

    def up_in(self, path):
        return self.cluster("up", "--while", os.getpid(), "--nodes", 2, "--slurm", env={**os.environ, "PATH": path})

    def test_missing_programs_are_named_with_their_packages(self):
        if shutil.which("sinfo", path=SBIN):
            self.skipTest("sinfo is where it is found without a PATH")
        done = self.up_in("/nonexistent")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the program sinfo was not found: install Slurm, on Debian the packages munge slurmctld slurmd "
                      "slurm-client slurm-wlm-basic-plugins", done.stderr)

    def test_a_daemon_that_ends_is_named_with_its_log_and_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder) / "slurmd"
            fake.write_text('#!/bin/sh\necho "no moon on $(hostname)" >&2\nexit 1\n')
            fake.chmod(0o755)
            begin = time.monotonic()
            done = self.up_in(f"{folder}:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Slurm did not start: slurmd ended; the last lines of slurmd on node0:\nno moon on node0\n", done.stderr)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertFalse(self.cluster.status()["up"])
        self.check_nothing_is_left()


if __name__ == "__main__":
    missing = [program for program in ("munged", "slurmctld", "slurmd", "sinfo", "srun")
               if not shutil.which(program, path=os.environ["PATH"] + SBIN)]
    if missing:
        print(f"SKIP: Slurm is not installed: no {', '.join(missing)}")
        sys.exit(SKIPPED)
    if os.geteuid() != 0:
        print("SKIP: Slurm takes root")
        sys.exit(SKIPPED)
    skip_unless_possible(Cluster(QUADRILLE))
    unittest.main(verbosity=2)
