"""What the library says of wrong programs: checked_test.py PROGRAM LAUNCHER..., where LAUNCHER ends in the number of ranks."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

PROGRAM = ""
LAUNCHER = []
RANKS = 4


class Job:
    """A running program, and its lines with the times they came at."""

    def __init__(self, *words, **environment):
        self.lines = []
        self.process = subprocess.Popen(
            [*LAUNCHER, str(RANKS), PROGRAM, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **environment},
        )
        self.reader = threading.Thread(target=self.read, daemon=True)  # a failure must not wait for it
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.rstrip()))

    def finish(self, seconds=30):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("still running:\n" + self.text()) from None
        finally:
            self.reader.join(5)
        return self

    def matching(self, pattern):
        return [(when, line) for when, line in list(self.lines) if re.search(pattern, line)]

    def wait_for(self, pattern, count=1, seconds=20):
        end = time.monotonic() + seconds
        while len(self.matching(pattern)) < count:
            if time.monotonic() > end:
                raise AssertionError(f"no '{pattern}' in\n{self.text()}")
            time.sleep(0.01)
        return self.matching(pattern)

    def text(self):
        return "\n".join(line for _, line in self.lines)


class Mistakes(unittest.TestCase):
    def expect_within_a_second(self, job, pattern, count):
        called = max(when for when, _ in job.wait_for("calls$", RANKS))
        found = job.wait_for(pattern, count)
        self.assertLess(found[-1][0] - called, 1.0, job.text())

    def test_another_root_on_one_rank_is_named_on_every_rank(self):
        job = Job("root", "go on", QUADRILLE_CHECK="1")
        odd = r"rank 3 calls bcast \(\w+\) from root 1 of 4000 bytes, but rank 0 and 2 more call bcast .* from root 0"
        self.expect_within_a_second(job, r"^rank \d: .*" + odd, RANKS)
        self.assertEqual(job.finish().process.returncode, 0, job.text())
        # Nothing had moved yet: the communicator is as good as before.
        self.assertEqual(len(job.matching("goes on")), RANKS, job.text())

    def test_another_count_on_one_rank_is_named(self):
        job = Job("count", QUADRILLE_CHECK="1")
        self.expect_within_a_second(job, "rank 3 calls allreduce .* of 10 elements .*, but rank 0 and 2 more", RANKS)
        job.finish()

    def test_another_collective_on_one_rank_is_named(self):
        job = Job("collective", QUADRILLE_CHECK="1")
        self.expect_within_a_second(job, "rank 3 calls barrier .*, but rank 0 and 2 more call bcast", RANKS)
        job.finish()

    def test_a_type_of_another_size_is_named(self):
        job = Job("type", QUADRILLE_CHECK="1")
        self.expect_within_a_second(job, "rank 3 calls allreduce .* of 2 bytes each .*, but rank 0 and 2 more", RANKS)
        job.finish()

    def test_another_operation_is_named(self):
        job = Job("operation", QUADRILLE_CHECK="1")
        self.expect_within_a_second(job, "rank 3 calls allreduce .* by MPI_MAX, but .* by MPI_SUM", RANKS)
        job.finish()

    def test_a_rank_that_polls_hears_of_a_missing_one_too(self):
        job = Job("polling", QUADRILLE_CHECK="1").finish()
        self.assertEqual(len(job.matching("rank 3 of 4 has not called")), 1, job.text())

    def test_a_missing_rank_is_named(self):
        job = Job("late", QUADRILLE_CHECK="1")
        self.expect_within_a_second(job, r"rank 3 of 4 has not called collective number 1, allreduce", 1)
        job.finish()
        self.assertEqual(len(job.matching("has not called")), 1, job.text())

    def test_a_right_program_is_left_alone(self):
        job = Job("none", QUADRILLE_CHECK="1").finish()
        self.assertEqual(job.process.returncode, 0, job.text())
        self.assertEqual(job.matching("quadrille|Error"), [], job.text())

    def test_the_watchdog_tells_what_each_rank_waits_for(self):
        job = Job("late", QUADRILLE_WATCHDOG="0.3").finish()
        self.assertGreaterEqual(len(job.matching(r"^quadrille: rank \d of 4: .*allreduce .* waits for")), 1, job.text())
        self.assertTrue(job.matching(r"^ +.*(receive from|wait for) 3"), job.text())

    def test_a_signal_tells_what_a_rank_waits_for(self):
        job = Job("late", QUADRILLE_SIGNAL="USR1")
        called = job.wait_for("rank 2, process .* calls$")
        time.sleep(0.3)
        os.kill(int(re.search(r"process (\d+)", called[0][1])[1]), signal.SIGUSR1)
        job.wait_for(r"^quadrille: rank 2 of 4: .*allreduce .* waits for", seconds=2)
        job.finish()

    def test_a_message_of_the_wrong_length_breaks_the_communicator(self):
        job = Job("short", "go on", "then leave")
        job.wait_for(r"^rank 3: an earlier collective on this communicator failed")
        job.process.terminate()
        job.finish()
        self.assertEqual(len(job.matching("^rank 3: ")), 2, job.text())


if __name__ == "__main__":
    PROGRAM, LAUNCHER = sys.argv[1], sys.argv[2:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
