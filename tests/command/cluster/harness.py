"""Common to the tests of the cluster."""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest

SKIPPED = 77

# The system features that a cluster needs, without Quadrille's code.
PROBE = """set -e
PATH=$PATH:/usr/sbin:/sbin
mount --make-rslave /
mount -t proc proc /proc
mount -t tmpfs tmpfs /dev/shm
ip link add switch type bridge
ip link add one type veth peer name other
tc qdisc add dev one root tbf rate 1mbit burst 6000 latency 200ms
"""
SPACES = ("--net", "--mount", "--pid", "--fork")


class Cluster:
    """The command, for a cluster with a unique name; `before` are words in front of it."""

    def __init__(self, quadrille, suffix="", before=()):
        self.before = before
        self.quadrille = [*before, quadrille]
        self.name = f"test-{os.getpid()}{suffix}"

    def words(self, subcommand, *words):
        return [*self.quadrille, "cluster", subcommand, "--name", self.name, *map(str, words)]

    def __call__(self, subcommand, *words, timeout=120, **more):
        return subprocess.run(
            self.words(subcommand, *words),
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            **more,
        )

    def up_while_here(self, *words):
        """Goes down at the latest when this script ends."""
        return self("up", "--while", os.getpid(), *words)

    def up(self, *words):
        done = self.up_while_here(*words)
        if done.returncode != 0:
            raise AssertionError(f"up failed: {done.stderr}")

    def down(self):
        self("down")

    def status(self):
        return json.loads(self("status", "--json").stdout)

    def file(self):
        """The state file."""
        folders = ("/run/quadrille", f"{os.environ.get('XDG_RUNTIME_DIR')}/quadrille", f"/tmp/quadrille-{os.geteuid()}")
        files = (pathlib.Path(folder) / f"{self.name}.json" for folder in folders)
        return next(file for file in files if file.exists())

    def execute(self, node, *words, **more):
        """The output of a command on a node."""
        done = self("exec", node, "--", *words, **more)
        if done.returncode != 0:
            raise AssertionError(f"{words} on {node}: status {done.returncode}, {done.stderr}")
        return done.stdout


class WithCluster(unittest.TestCase):
    """Tests on one cluster, up with the options `words`."""

    cluster: Cluster
    words: tuple

    @classmethod
    def setUpClass(cls):
        cls.cluster.up(*cls.words)
        cls.addClassCleanup(cls.cluster.down)


def first_lines(words, count, stays, **more):
    """The first lines that a command prints. One that stays is ended then; any other must print no more and succeed."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          **more) as job:
        watchdog = threading.Timer(90, job.kill)
        watchdog.start()
        lines = [job.stdout.readline().rstrip() for _ in range(count)]
        if stays and lines[-1]:
            job.terminate()
        rest, errors = job.communicate()
        watchdog.cancel()
    if not stays and (rest or job.returncode != 0):
        raise AssertionError(f"status {job.returncode}: {rest}{errors}")
    if not lines[-1]:
        raise AssertionError(f"status {job.returncode}, {lines}: {errors}")
    return lines


def places(cluster, program, count, *words):
    """The output of `count` ranks of the program `where`."""
    # MPICH over UCX may hang in MPI_Finalize: some ranks wait for others to close connections, which already wait for
    # the launcher. Only the output before matters here.
    stays = program.endswith("mpich")
    return first_lines(cluster.words("run", *words, "--", program, *(["stay"] if stays else [])), count, stays)


def why_impossible(before):
    """The errors of this machine for the features that a cluster needs; `before` are words in front."""
    errors = []
    for user in ((), ("--user", "--map-root-user")):
        words = [*before, "unshare", *user, *SPACES, "sh", "-c", PROBE]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode == 0:
            return ""
        errors.append(done.stderr.strip())
    return "; ".join(errors)


def skip_unless_possible(cluster):
    """Skips the test, with the reason, if this machine does not permit clusters at all."""
    done = cluster.up_while_here("--nodes", 2)
    if done.returncode == 0:
        cluster.down()
        return
    reason = why_impossible(cluster.before)
    if reason:
        print(f"SKIP: clusters are not possible here: {done.stderr}{reason}")
        sys.exit(SKIPPED)
    raise SystemExit(f"quadrille cluster up failed: {done.stderr}")


def processes():
    """Command lines of all running processes, by ID."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if "\nState:\tZ" not in (folder / "status").read_text():
                found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
        except OSError:
            pass
    return found


def running(part):
    return {number: line for number, line in processes().items() if part in line and number != os.getpid()}


def wait_until(condition, seconds=10):
    """For what the kernel does asynchronously."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def listing(folder):
    path = pathlib.Path(folder)
    return {str(one) for one in path.iterdir()} if path.is_dir() else set()


def traces(name):
    """What a cluster might leave behind: namespaces, interfaces, mounts, files, processes."""
    ours = ("quadrille", "node", "ompi", "pmix", name)
    folders = ("/run", "/run/quadrille", "/tmp", "/dev/shm", f"/tmp/quadrille-{os.geteuid()}")
    return {
        "namespaces": subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout,
        "interfaces": [line.split(":")[1] for line in
                       subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout.splitlines()],
        "mounts": pathlib.Path("/proc/self/mounts").read_text(),
        "files": {file for folder in folders for file in listing(folder) if any(part in file for part in ours)},
        "processes": set(running(name)),
    }
