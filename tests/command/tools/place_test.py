"""Where quadrille place puts ranks: place_test.py PATH_OF_QUADRILLE"""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

QUADRILLE = sys.argv[1]
del sys.argv[1:]

METHODS = {"block", "cyclic", "greedy", "refined"}  # and scotch, where this was built with it
SEED = 5


class Place(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder), "QUADRILLE_MACHINE": "none"}

    def run_place(self, *words):
        return subprocess.run([QUADRILLE, "place", *map(str, words)], capture_output=True, text=True, check=False,
                              timeout=120, env=self.environment)

    def text(self, *words):
        done = self.run_place(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def placed(self, *words):
        return json.loads(self.text(*words, "--json"))

    def refused(self, *words):
        done = self.run_place(*words)
        self.assertEqual(done.returncode, 2, done.stdout)
        return done.stderr

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def check(self, placed, ranks, slots):
        """Each rank is on one host, and none has more ranks than slots."""
        hosts = {node["host"]: node for node in placed["nodes"]}
        self.assertEqual({host: node["slots"] for host, node in hosts.items()}, slots)
        self.assertEqual(sorted(rank for node in hosts.values() for rank in node["ranks"]), list(range(ranks)))
        for node in hosts.values():
            self.assertLessEqual(len(node["ranks"]), node["slots"])
        self.assertGreaterEqual({one["method"] for one in placed["candidates"]}, METHODS)
        for one in placed["candidates"]:
            self.assertEqual(len(one["hosts"]), ranks)
            for host, count in collections.Counter(one["hosts"]).items():
                self.assertLessEqual(count, slots[host], one["method"])
        times = [one["seconds"] for one in placed["candidates"]]
        for one, other in zip(times, times[1:]):  # times that differ by rounding are the same
            self.assertLessEqual(one, other * (1 + 1e-9))
        return hosts

    def test_blocks_of_a_torus_are_found(self):
        placed = self.placed("torus2d:4x8:64KiB", "--hosts", "4x8")
        self.check(placed, 32, {f"node{node}": 8 for node in range(4)})
        self.assertNotEqual(placed["chosen"], "block")
        self.assertGreater(placed["gain"], 0.1)
        for node in placed["nodes"]:  # 4 rows of 2 have fewer neighbours outside than a row of 8
            columns = collections.Counter(rank % 8 for rank in node["ranks"])
            self.assertLess(len(columns), 8)

    def test_no_gain_is_an_answer(self):
        text = self.text("stencil1d:16:64KiB", "--hosts", "4x4")
        self.assertIn("no gain: keep your order\n  node0: 0 1 2 3\n", text)
        placed = self.placed("stencil1d:16:64KiB", "--hosts", "4x4")
        self.assertEqual((placed["chosen"], placed["gain"]), ("block", 0))

    def test_an_order_of_today_is_improved(self):
        cyclic = self.file("today", "".join(f"node{rank % 4}\n" for rank in range(16)))
        placed = self.placed("stencil1d:16:64KiB", "--hosts", "4x4", "--from", cyclic)
        self.assertEqual(placed["today"], "given")
        self.assertGreater(placed["gain"], 0.3)
        for node in placed["nodes"]:
            self.assertEqual(node["ranks"], list(range(node["ranks"][0], node["ranks"][0] + 4)))

    def test_random_problems_are_placed(self):
        rng = random.Random(SEED)
        for problem in range(12):
            extents = [rng.randint(2, 5) for _ in range(rng.randint(1, 3))]
            what = rng.choice(("torus", "stencil")) + f"{len(extents)}d:{'x'.join(map(str, extents))}:{rng.choice((64, 4096))}"
            ranks = 1
            for extent in extents:
                ranks *= extent
            slots = {}
            while sum(slots.values()) < ranks + rng.randint(0, 3):
                slots[f"h{len(slots)}"] = rng.randint(1, 6)
            hosts = self.file("hosts", "".join(f"{host} slots={count}\n" for host, count in slots.items()))
            fixed = rng.randrange(ranks)
            home = rng.choice(list(slots))
            with self.subTest(what=what, slots=slots, seed=SEED, problem=problem):
                words = (what, "--hosts", hosts, "--fix", f"{fixed}={home}", "--seed", problem)
                placed = self.placed(*words)
                self.assertIn(fixed, self.check(placed, ranks, slots)[home]["ranks"])
                self.assertEqual(self.placed(*words), placed)

    def test_a_collective_is_placed_by_a_library_and_by_ours(self):
        for policy in ("openmpi-4.1", "quadrille"):
            placed = self.placed("alltoall:4KiB", "-n", 12, "--policy", policy, "--hosts", "4x4")
            self.check(placed, 12, {f"node{node}": 4 for node in range(4)})
            self.assertEqual(placed["policy"], policy)

    def test_hosts_are_left_out(self):
        placed = self.placed("torus2d:3x4:4KiB", "--hosts", "4x4", "--without", "node1")
        self.assertEqual(placed["nodes"][1], {"host": "node1", "slots": 0, "ranks": []})
        self.assertEqual([len(node["ranks"]) for node in placed["nodes"]], [4, 0, 4, 4])

    def test_a_slow_host_stays_empty(self):
        placed = self.placed("torus2d:4x4:64KiB", "--hosts", "5x4", "--slow", "node0=8")
        self.assertEqual(placed["nodes"][0]["ranks"], [])

    def test_racks_keep_their_messages(self):
        racks = self.file("racks", "one: node0 node2\ntwo: node1 node3\n")
        machine = self.file("machine.json", json.dumps({"format": "quadrille machine 1", "from": "a test", "rack": {
            "latency_us": 50, "overhead_us": 2, "work_ns_per_byte": 0.2, "wire_ns_per_byte": 100}}))
        placed = self.placed("stencil1d:16:64KiB", "--hosts", "4x4", "--racks", racks, "--machine", machine)
        ranks = {node["host"]: node["ranks"] for node in placed["nodes"]}
        one = sorted(ranks["node0"] + ranks["node2"])
        self.assertIn(one, (list(range(8)), list(range(8, 16))))

    def test_the_files_of_launchers_have_the_order(self):
        today = self.file("today", "b\na\nb\na\n")
        hosts = self.file("hosts", "a slots=2\nb slots=2\n")
        words = ("stencil1d:4:64KiB", "--hosts", hosts, "--from", today, "--fix", "0=b")
        output = self.folder / "out"
        for launcher, expected, line in (
            ("openmpi", "rank 0=b slot=*\nrank 1=b slot=*\nrank 2=a slot=*\nrank 3=a slot=*\n",
             f"mpirun -n 4 --hostfile {hosts} --rankfile {output} PROGRAM"),
            ("openmpi-5", "rank 0=b slot=*\nrank 1=b slot=*\nrank 2=a slot=*\nrank 3=a slot=*\n",
             f"mpirun -n 4 --hostfile {hosts} --map-by rankfile:file={output} --bind-to none PROGRAM"),
            ("slurm", "b\nb\na\na\n", f"SLURM_HOSTFILE={output} srun --ntasks=4 --distribution=arbitrary PROGRAM"),
            ("mpich", "b:2\na:2\n", f"mpiexec -n 4 -f {output} PROGRAM"),
            ("cluster", "b\nb\na\na\n", f"quadrille cluster run --map {output} -- PROGRAM"),
        ):
            with self.subTest(launcher):
                text = self.text(*words, "--launcher", launcher, "--output", output)
                self.assertEqual(output.read_text(), expected)
                self.assertIn(f"\n  {line}\n", text)
        self.text(*words, "--launcher", "openmpi", "--output", output, "--cores")
        self.assertEqual(output.read_text().splitlines()[1], "rank 1=b slot=1")

    def test_mpich_is_said_to_split_hosts(self):
        output = self.folder / "out"
        words = ("stencil1d:6:64KiB", "--hosts", "2x3", "--fix", "0=node1", "--fix", "3=node1", "--fix", "2=node0")
        text = self.text(*words, "--launcher", "mpich", "--output", output)
        self.assertIn("MPICH takes each line of the file for a node of its own: node", text)

    def test_the_picture_has_both_orders(self):
        today = self.file("today", "".join(f"node{rank % 4}\n" for rank in range(16)))
        picture = self.folder / "map.svg"
        self.text("stencil1d:16:64KiB", "--hosts", "4x4", "--from", today, "--svg", picture)
        text = picture.read_text()
        self.assertIn(">today: given<", text)
        self.assertRegex(text, ">placed: [a-z]+<")
        self.assertIn(">1.9 MiB of 1.9 MiB between nodes<", text)
        self.assertIn(">384.0 KiB of 1.9 MiB between nodes<", text)

    def test_what_is_wrong_is_said(self):
        what = ("stencil1d:4:64", "--hosts", "2x2")
        self.assertIn("--hosts: where may ranks run?", self.refused("stencil1d:4:64"))
        self.assertIn("nothing to place", self.refused("--hosts", "2x2"))
        self.assertIn("5 ranks, but only 4 slots", self.refused("stencil1d:5:64", "--hosts", "2x2"))
        self.assertIn("--hosts: can't read '/nonexistent'", self.refused("stencil1d:4:64", "--hosts", "/nonexistent"))
        self.assertIn("--fix: 'x=node0': expected a rank from 0 to 3", self.refused(*what, "--fix", "x=node0"))
        self.assertIn("--fix: 'other' is none of the hosts: node0, node1", self.refused(*what, "--fix", "1=other"))
        self.assertIn("--fix: more ranks on node0 than its 2 slots",
                      self.refused(*what, "--fix", "1=node0", "--fix", "2=node0", "--fix", "3=node0"))
        self.assertIn("--fix: rank 1 is fixed twice", self.refused(*what, "--fix", "1=node0", "--fix", "1=node1"))
        self.assertIn("4 ranks, but only 2 slots", self.refused(*what, "--without", "node0"))
        self.assertIn("--slow: 'node0': expected as node2=4", self.refused(*what, "--slow", "node0"))
        self.assertIn("--output", self.refused(*what, "--launcher", "slurm"))
        self.assertIn("--output: for which launcher?", self.refused(*what, "--output", "file"))
        self.assertIn("a program behind -- is for --run", self.refused(*what, "--", "mpirun", "-n", 4, "true"))
        self.assertIn("--run: where may ranks run?", self.refused("--run", "--", "srun", "-n", 4, "true"))
        self.assertIn("--run: where may ranks run?", self.refused("--run", "--", "srun", "-n", 4, "true", "--hostfile", "x"))
        for option in ("-m", "--distribution=cyclic"):
            self.assertIn(f"--run: leave {option} out", self.refused("--run", "--hosts", "2x2", "--", "srun", option, "true"))
        for option in ("-ppn", "--perhost"):
            self.assertIn(f"--run: leave {option} out",
                          self.refused("--run", "--hosts", "2x2", "--", "mpirun.mpich", option, 2, "true"))
        self.assertIn("does not show where the program begins",
                      self.refused("--run", "--hosts", "2x2", "--", "mpirun.mpich", "-l", "./run.sh", "-f", "input"))
        self.assertIn("--slow: 'node0=inf'", self.refused(*what, "--slow", "node0=inf"))
        self.assertIn("unknown launcher 'true'", self.refused("--run", "--", "true"))
        self.assertIn("--drop-in requires --run", self.refused(*what, "--drop-in"))
        self.assertIn("--verify: start it instead of the program", self.refused("--verify", "file"))
        self.assertIn("racks: node1 is in none of the racks",
                      self.refused(*what, "--racks", self.file("racks", "one: node0\n")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
