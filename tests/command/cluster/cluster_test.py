"""Clusters on this machine: cluster_test.py PATH_OF_QUADRILLE"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from harness import Cluster, WithCluster, processes, running, skip_unless_possible, traces, wait_until

QUADRILLE = sys.argv.pop(1)
TRANSFER = str(pathlib.Path(__file__).parent / "transfer.py")
# Of Ethernet, IP and TCP on a full packet.
HEADERS = 1.045


def transfer_times(cluster, sender, receiver, count, pause, times):
    """Seconds of some transfers between two nodes."""
    words = cluster.words("exec", receiver, "--", sys.executable, TRANSFER, "receive", 5000)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        server.stdout.readline()
        printed = cluster.execute(sender, sys.executable, TRANSFER, "send", receiver, 5000, count, pause, times)
    return [float(line) for line in printed.splitlines()]


BUCKET = 6 << 10  # bytes, at these rates


def wire_seconds(count, rate):
    return 8 * HEADERS * count / rate


class Nodes(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", 4, "--slots", 2)

    def test_each_has_its_name_address_and_memory(self):
        for node in range(4):
            self.assertEqual(self.cluster.execute(node, "hostname"), f"node{node}\n")
            self.assertIn(f"10.77.0.{node + 1}/16", self.cluster.execute(node, "ip", "-o", "address", "show", "eth0"))
            self.cluster.execute(node, "touch", f"/dev/shm/of-node{node}")
            self.assertEqual(self.cluster.execute(node, "ls", "/dev/shm"), f"of-node{node}\n")

    def test_host_names_are_resolved(self):
        code = "import socket; print(*[socket.gethostbyname(f'node{i}') for i in range(4)])"
        self.assertEqual(
            self.cluster.execute("node3", sys.executable, "-c", code), "10.77.0.1 10.77.0.2 10.77.0.3 10.77.0.4\n"
        )

    def test_nothing_is_routed_outside(self):
        self.assertEqual(len(self.cluster.execute(0, "ip", "route").splitlines()), 1)
        self.assertEqual(self.cluster.execute(0, "ip", "-6", "address"), "")

    def test_tcp_uses_cubic(self):
        folder = pathlib.Path("/proc/sys/net/ipv4")
        if "cubic" not in (folder / "tcp_allowed_congestion_control").read_text(encoding="ascii").split():
            self.skipTest("the kernel does not permit cubic")
        self.assertEqual(self.cluster.execute(0, "cat", str(folder / "tcp_congestion_control")), "cubic\n")

    def test_exec_passes_folder_arguments_and_status(self):
        self.assertEqual(self.cluster.execute(1, "pwd", cwd="/usr"), "/usr\n")
        self.assertEqual(self.cluster.execute(1, "printf", "%s,", "-n", "a b", "--", "--name"), "-n,a b,--,--name,")
        self.assertEqual(self.cluster.execute(1, "printf", "%s;", "[a,b]", "[]", "", "[", "a,b"), "[a,b];[];;[;a,b;")
        self.assertEqual(self.cluster("exec", "node1", "--", "sh", "-c", "exit 3").returncode, 3)
        self.assertEqual(self.cluster("exec", "node1", "--", "sh", "-c", "kill -9 $$").returncode, 128 + 9)
        missing = self.cluster("exec", "node1", "--", "no-such-program")
        self.assertEqual(missing.returncode, 127)
        self.assertIn("can't run no-such-program", missing.stderr)

    def test_only_processes_of_the_cluster_are_visible(self):
        numbers = [int(word) for word in self.cluster.execute(0, "ls", "/proc").split() if word.isdigit()]
        self.assertLess(len(numbers), 10)

    def test_signals_reach_the_command(self):
        words = self.cluster.words("exec", "2", "--", "sh", "-c", "trap 'exit 7' TERM; echo ready; sleep 100 & wait")
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as job:
            job.stdout.readline()
            job.send_signal(signal.SIGTERM)
            self.assertEqual(job.wait(10), 7)

    def test_it_ends_with_the_command_that_started_it(self):
        marker = f"5{os.getpid()}"
        with subprocess.Popen(self.cluster.words("exec", "2", "--", "sleep", marker)) as job:
            self.assertTrue(wait_until(lambda: any(line == f"sleep {marker} " for line in processes().values())))
            job.kill()
        self.assertTrue(wait_until(lambda: not running(f"sleep {marker} ")))

    def test_a_disconnected_node_is_unreachable_until_reconnected(self):
        code = "import socket; socket.create_connection(('node1', 5999), 1)"

        def attempt():
            done = self.cluster("exec", "0", "--", sys.executable, "-c", code)
            return done.stderr.strip().splitlines()[-1]

        self.assertIn("refused", attempt())
        self.assertEqual(self.cluster("cut", "node1").returncode, 0)
        self.assertEqual(self.cluster.status()["cut"], ["node1"])
        self.assertIn("node1 is cut off", self.cluster("status").stdout)
        self.assertNotIn("refused", attempt())
        self.assertEqual(self.cluster("heal", "1").returncode, 0)
        self.assertEqual(self.cluster.status()["cut"], [])
        self.assertIn("refused", attempt())


# Relative to the wire time. On an otherwise idle machine a transfer takes at most 110 %: set QUADRILLE_TEST_LONGEST=1.1
# to require that.
LONGEST = float(os.environ.get("QUADRILLE_TEST_LONGEST", "3"))


class Links(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", 4, "--slots", 1, "--racks", 2, "--uplink", "100mbit")

    def check(self, sender, receiver, rate, count, pause, times):
        measured = transfer_times(self.cluster, sender, receiver, count, pause, times)
        # The minimum: other load can only lengthen it.
        share = min(measured) / wire_seconds(count, rate)
        # A link's burst passes unshaped; the rest takes the wire time.
        least = 0.99 * (1 - BUCKET / (HEADERS * count))
        print(f"{count >> 10} KiB at {rate / 1e6:g} Mbit/s after {pause} s: {share:.1%} of the wire's time")
        with self.subTest(bytes=count, pause=pause, measured=measured):
            self.assertGreater(share, least)
            self.assertLess(share, LONGEST)

    def test_a_transfer_takes_the_wire_time(self):
        for count in (64 << 10, 1 << 20):
            self.check("node0", "node1", 200e6, count, 0.01, 15)

    def test_also_after_a_pause(self):
        for count in (64 << 10, 1 << 20):
            self.check("node0", "node1", 200e6, count, 1.0, 4)

    def test_between_racks_it_takes_the_wire_time_of_the_uplink(self):
        self.check("node0", "node2", 100e6, 1 << 20, 0.01, 5)

    def test_two_transfers_share_the_uplink(self):
        words = self.cluster.words("exec", "node3", "--", sys.executable, TRANSFER, "receive", 5001)
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
            server.stdout.readline()
            load = self.cluster.words("exec", "node1", "--", sys.executable, TRANSFER, "send", "node3", 5001, 1 << 20, 0, 14)
            with subprocess.Popen(load, stdout=subprocess.PIPE, text=True) as other:
                other.stdout.readline()
                measured = transfer_times(self.cluster, "node0", "node2", 1 << 20, 0, 2)
                other.communicate()
        self.assertGreater(max(measured), 1.3 * wire_seconds(1 << 20, 100e6))


class SlowNode(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", 3, "--slots", 1, "--rate", "100mbit", "--rate", "node2=20mbit")

    def test_it_is_as_slow_as_was_asked_for_in_both_directions(self):
        self.assertEqual(self.cluster.status()["node_rates"], {"node2": 20_000_000})
        self.assertIn("node2 at 20 Mbit/s", self.cluster("status").stdout)
        for sender, receiver in (("node0", "node2"), ("node2", "node1")):
            self.assertGreater(min(transfer_times(self.cluster, sender, receiver, 1 << 18, 0.01, 3)),
                               0.9 * wire_seconds(1 << 18, 20e6))
        self.assertLess(min(transfer_times(self.cluster, "node0", "node1", 1 << 18, 0.01, 3)),
                        0.5 * wire_seconds(1 << 18, 20e6))


class Clocks(WithCluster):
    cluster = Cluster(QUADRILLE)
    words = ("--nodes", 3, "--skew")

    def test_each_node_has_its_own(self):
        code = "import time; print(time.monotonic())"
        times = [float(self.cluster.execute(node, sys.executable, "-c", code)) for node in range(3)]
        self.assertGreater(times[1] - times[0], 300)
        self.assertGreater(times[2] - times[1], 300)
        self.assertGreater(times[0] - time.monotonic(), 1)


class UpAndDown(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(QUADRILLE)
        self.addCleanup(self.cluster.down)

    def check_nothing_is_left(self, before):
        wait_until(lambda: traces(self.cluster.name) == before)
        after = traces(self.cluster.name)
        for what, expected in before.items():
            self.assertEqual(after[what], expected, what)

    def test_sixteen_nodes_are_up_in_less_than_two_seconds_and_leave_nothing(self):
        before = traces(self.cluster.name)
        begin = time.monotonic()
        self.cluster.up()
        seconds = time.monotonic() - begin
        print(f"16 nodes are up after {seconds:.2f} s")
        self.assertLess(seconds, 2)
        self.assertEqual(self.cluster.execute("node15", "hostname"), "node15\n")
        self.cluster.down()
        self.check_nothing_is_left(before)

    def test_many_times_in_a_row(self):
        before = traces(self.cluster.name)
        times = int(os.environ.get("QUADRILLE_TEST_CLUSTERS", "5"))
        for words in ((), ("--racks", 4, "--uplink", "100mbit")):
            for _ in range(times):
                self.cluster.up("--nodes", 16, *words)
                self.cluster.down()
        self.check_nothing_is_left(before)

    def test_two_of_different_names(self):
        other = Cluster(QUADRILLE, suffix="-b")
        self.addCleanup(other.down)
        self.cluster.up("--nodes", 2)
        other.up("--nodes", 3)
        self.assertEqual((self.cluster.status()["nodes"], other.status()["nodes"]), (2, 3))
        other.down()
        self.assertEqual(self.cluster.execute("node1", "hostname"), "node1\n")

    def test_a_second_cluster_of_the_same_name_is_rejected_with_the_remedy(self):
        self.cluster.up("--nodes", 2)
        done = self.cluster("up")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"take it down by 'quadrille cluster down --name {self.cluster.name}'", done.stderr)
        self.assertEqual(self.cluster.status()["nodes"], 2)

    def test_killing_the_keeper_ends_the_cluster(self):
        before = traces(self.cluster.name)
        self.cluster.up("--nodes", 3)
        with subprocess.Popen(self.cluster.words("exec", "1", "--", "sleep", "100")) as job:
            self.assertTrue(wait_until(lambda: "sleep 100 " in processes().values()))
            # The IDs of the nodes' processes are those inside the cluster.
            os.kill(self.cluster.status()["keeper"], signal.SIGKILL)
            self.assertEqual(job.wait(10), 128 + 9)
        self.assertEqual(self.cluster.status(), {"name": self.cluster.name, "up": False})
        status = self.cluster("status")
        self.assertEqual(status.returncode, 1)
        self.assertIn("is not up", status.stdout)
        self.check_nothing_is_left(before)

    def test_concurrent_commands_are_answered_while_it_goes_down(self):
        for _ in range(5):
            self.cluster.up("--nodes", 2)
            os.kill(self.cluster.status()["keeper"], signal.SIGKILL)
            words = self.cluster.words("status", "--json")
            jobs = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(6)]
            for said in [job.communicate()[0] for job in jobs]:
                # The signal may reach the keeper after the query.
                self.assertEqual(json.loads(said)["name"], self.cluster.name)
            self.assertTrue(wait_until(lambda: not self.cluster.status()["up"]))

    def test_of_two_concurrent_clusters_of_one_name_one_comes_up(self):
        words = self.cluster.words("up", "--while", os.getpid(), "--nodes", 3)
        jobs = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        errors = [job.communicate()[1] for job in jobs]
        self.assertEqual(sorted(job.returncode for job in jobs), [0, 2], errors)
        self.assertIn("is already up", "".join(errors))
        self.assertEqual(self.cluster.execute("node2", "hostname"), "node2\n")

    def test_it_goes_down_with_the_while_process(self):
        before = traces(self.cluster.name)
        with subprocess.Popen(["sleep", "100"]) as process:
            self.assertEqual(self.cluster("up", "--nodes", 2, "--while", process.pid).returncode, 0)
            self.assertTrue(self.cluster.status()["up"])
            process.kill()
        self.check_nothing_is_left(before)

    def test_it_goes_down_when_its_file_is_removed(self):
        before = traces(self.cluster.name)
        self.cluster.up("--nodes", 2)
        time.sleep(1.5)
        self.assertTrue(self.cluster.status()["up"])
        self.cluster.file().unlink()
        wait_until(lambda: not running(self.cluster.name))
        other = Cluster(QUADRILLE, suffix="-b")  # whose end removes the folder
        other.up("--nodes", 1)
        other.down()
        self.check_nothing_is_left(before)

    def test_a_damaged_file_affects_only_its_own_name(self):
        other = Cluster(QUADRILLE, suffix="-b")
        self.cluster.up("--nodes", 1)
        damaged = self.cluster.file().with_name(f"{other.name}.json")
        damaged.write_text("{")
        self.addCleanup(damaged.unlink)
        done = Cluster(QUADRILLE, suffix="-c")("status")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(self.cluster.name, done.stdout)
        done = other("status")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is not the state of a cluster", done.stderr)

    def test_a_file_of_another_user_is_rejected(self):
        if os.geteuid() != 0:
            self.skipTest("only root can change the owner of files")
        self.cluster.up("--nodes", 1)
        file = self.cluster.file()
        os.chown(file, 1, 1)
        done = self.cluster("exec", "0", "--", "true")
        os.chown(file, 0, 0)
        self.assertEqual(done.returncode, 2)
        self.assertIn("belongs to another user", done.stderr)

    def test_in_another_pid_namespace_it_is_not_considered_dead(self):
        self.cluster.up("--nodes", 2)
        for subcommand in ("status", "down", "up"):
            done = self.cluster("exec", "1", "--", *self.cluster.words(subcommand))
            self.assertEqual(done.returncode, 2)
            self.assertIn("runs on a node of a cluster", done.stderr)
        if os.geteuid() == 0:
            elsewhere = Cluster(QUADRILLE, before=("unshare", "--pid", "--fork", "--mount-proc"))
            done = elsewhere("status")
            self.assertEqual(done.returncode, 2)
            self.assertIn("another PID namespace", done.stderr)
        self.assertTrue(self.cluster.status()["up"])

    def test_down_names_the_command_that_blocks_it(self):
        self.cluster.up("--nodes", 2)
        with subprocess.Popen(self.cluster.words("exec", "1", "--", "sleep", "100")) as job:
            self.assertTrue(wait_until(lambda: "sleep 100 " in processes().values()))
            job.send_signal(signal.SIGSTOP)
            done = self.cluster("down", timeout=20)
            job.send_signal(signal.SIGCONT)
            self.assertEqual(job.wait(10), 128 + 9)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"process {job.pid} (quadrille, stopped)", done.stderr)
        self.assertTrue(wait_until(lambda: not self.cluster.status()["up"]))

    def test_down_kills_running_commands(self):
        self.cluster.up("--nodes", 2)
        with subprocess.Popen(self.cluster.words("exec", "1", "--", "sleep", "100")) as job:
            self.assertTrue(wait_until(lambda: "sleep 100 " in processes().values()))
            self.cluster.down()
            self.assertEqual(job.wait(10), 128 + 9)

    def test_a_failed_start_leaves_nothing(self):
        before = traces(self.cluster.name)
        with subprocess.Popen(self.cluster.words("up", "--while", os.getpid(), "--nodes", "64")) as job:
            # The command, the keeper and a holder.
            self.assertTrue(wait_until(lambda: len(running(self.cluster.name)) >= 3))
            job.kill()
        self.check_nothing_is_left(before)

    def test_errors_name_the_cause_and_the_remedy(self):
        self.cluster.up("--nodes", 2)
        for words, expected in (
            (("cut", "node2"), "no node 'node2': the nodes are node0 to node1"),
            (("exec", "moon", "--", "true"), "no node 'moon'"),
            (("run", "-n", "9", "--", "true"), "more --nodes or --slots"),
            (("run", "--map", "spiral", "--", "true"), "'spiral' is neither block, cyclic nor ppr:N"),
            (("run", "--", "true"), "--mpi openmpi or --mpi mpich"),
            (("run", "--", "./no-such-program"), "there is no program ./no-such-program"),
            (("run", "--", "no-such-program"), "write ./no-such-program if it is in this folder"),
            (("run", "--mpi", "lam", "--", "true"), "neither openmpi nor mpich"),
            (("run",), "PROGRAM"),
        ):
            done = self.cluster(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(expected, done.stderr)

    def test_without_a_cluster_the_error_shows_how_to_start_one(self):
        for words in (("cut", "0"), ("exec", "0", "--", "true"), ("run", "--", "true")):
            done = self.cluster(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(f"bring it up by 'quadrille cluster up --name {self.cluster.name}'", done.stderr)

    def test_one_that_is_down_may_be_taken_down(self):
        done = self.cluster("down")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("is not up", done.stderr + done.stdout)

    def test_invalid_options_are_rejected(self):
        for words, expected in (
            (("--rate", "fast"), "--rate: 'fast' is not a rate such as 200mbit"),
            (("--racks", "17"), "--racks: 17 is not between 0 and 16"),
            (("--uplink", "1gbit"), "set --racks"),
            (("--nodes", "0"), "--nodes: 0 is not between 1 and 1000"),
            (("--while", str(2**30)), f"--while: no process {2**30}"),
        ):
            done = self.cluster("up", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(expected, done.stderr)


if __name__ == "__main__":
    skip_unless_possible(Cluster(QUADRILLE))
    unittest.main(verbosity=2)
