"""What benchmarks/learning.py makes of its measurements, on made-up ones: learning_test.py BENCHMARKS"""

import random
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
import learning  # pylint: disable=wrong-import-position


def pairs(ratio, noise, count, seed=1):
    chance = random.Random(seed)

    def runs(seconds):
        return [learning.Run(seconds * chance.gauss(1, noise), seconds + 0.1, 0) for _ in range(count)]
    return learning.Pairs(runs(1.0), runs(ratio))


class Learning(unittest.TestCase):
    def test_a_verdict_needs_three_percent_and_more_than_chance(self):
        for ratio, noise, count, verdict in ((1.10, 0.01, 5, "slower"), (1.02, 0.001, 5, "same"), (0.9, 0.01, 5, "faster"),
                                             (1.05, 0.2, 5, "unclear"), (1.05, 0.01, 10, "slower")):
            with self.subTest(ratio=ratio, noise=noise):
                self.assertEqual(pairs(ratio, noise, count).verdict(), verdict)

    def test_chance_alone_is_rarely_slower(self):
        slower = sum(pairs(1.0, 0.05, 10, seed).verdict() == "slower" for seed in range(1000))
        self.assertLess(slower, 50)

    def test_a_loss_is_believed_after_twice_the_runs(self):
        self.assertFalse(pairs(1.2, 0.01, 5).is_enough(5, 0.02))
        self.assertTrue(pairs(1.2, 0.01, 10).is_enough(5, 0.02))
        self.assertTrue(pairs(0.8, 0.01, 5).is_enough(5, 0.02))
        self.assertFalse(pairs(1.0, 0.2, 5).is_enough(5, 0.02))

    def test_sizes_are_data_of_a_rank_in_all(self):
        ground = learning.GROUNDS["16x4-50"]
        self.assertEqual(learning.Program("allgather:64KiB").words(ground, 7),
                         ["loop", "allgather", "--bytes", "1024", "--calls", "7"])
        self.assertEqual(learning.Program("bcast:1MiB").words(ground, 2.5),
                         ["loop", "bcast", "--bytes", "1048576", "--seconds", "2.5"])
        self.assertEqual(learning.Program("heat:64").words(ground, 3), ["heat", "--size", "64", "--steps", "3"])
        self.assertFalse(learning.Program("alltoall:1MiB").fits(ground))

    def test_a_trace_shows_when_calls_settled(self):
        seconds = [1.0] * 50 + [4.0] * 20 + [2.0] * 80
        trace = learning.Trace(1000.0, [float(sum(seconds[:i])) for i in range(len(seconds))], seconds)
        since = trace.index(1050.0)
        self.assertEqual(since, 50)
        self.assertAlmostEqual(trace.settled(since), 70, delta=5)


if __name__ == "__main__":
    unittest.main()
