"""Ranks that are killed leave no shared memory behind: killed_test.py PROGRAM LAUNCHER..., where LAUNCHER ends in the
number of ranks and the program works through shared memory until it is ended."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

PROGRAM = ""
LAUNCHER = []
RANKS = 4
OURS = re.compile(r" (\d+) +/memfd:quadrille", re.MULTILINE)


def maps_of_all():
    """What every process has mapped, by its number."""
    maps = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            maps[int(folder.name)] = (folder / "maps").read_text(errors="replace")
        except OSError:
            pass
    return maps


def ranks_and_memory(launcher):
    """Those of the launcher's descendants that share memory of ours, and the numbers of that memory."""
    parents = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        except OSError:
            pass

    def descends(process):
        while process and process != launcher:
            process = parents.get(process)
        return process == launcher

    ranks = {process: set(OURS.findall(text)) for process, text in maps_of_all().items() if descends(process)}
    ranks = {process: memory for process, memory in ranks.items() if memory}
    return sorted(ranks), set().union(*ranks.values())


class Killed(unittest.TestCase):
    def setUp(self):
        self.named_before = set(os.listdir("/dev/shm"))
        words = [*LAUNCHER, str(RANKS), PROGRAM]
        self.job = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.end)
        self.assertEqual(self.job.stdout.readline(), "0 in a row\n")
        until = time.monotonic() + 30
        self.ranks, self.memory = ranks_and_memory(self.job.pid)
        while len(self.ranks) < RANKS and time.monotonic() < until:
            time.sleep(0.05)
            self.ranks, self.memory = ranks_and_memory(self.job.pid)
        self.assertEqual(len(self.ranks), RANKS)
        self.assertTrue(self.memory)

    def end(self):
        self.job.kill()
        self.job.wait()
        self.job.stdout.close()

    def check_nothing_is_left(self):
        until = time.monotonic() + 30
        while True:
            held = {process for process, text in maps_of_all().items() if self.memory & set(OURS.findall(text))}
            if not held:
                break
            self.assertLess(time.monotonic(), until, f"still held by {held}")
            time.sleep(0.1)
        named = {name for name in set(os.listdir("/dev/shm")) - self.named_before if "quadrille" in name}
        self.assertEqual(named, set())

    def test_one_of_them(self):
        os.kill(self.ranks[-1], signal.SIGKILL)
        self.job.wait(60)
        self.assertNotEqual(self.job.returncode, 0)
        self.check_nothing_is_left()

    def test_all_of_them(self):
        for rank in self.ranks:
            with contextlib.suppress(ProcessLookupError):  # the launcher ends the others, too
                os.kill(rank, signal.SIGKILL)
        self.job.wait(60)
        self.check_nothing_is_left()


if __name__ == "__main__":
    PROGRAM, LAUNCHER = sys.argv[1], sys.argv[2:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
