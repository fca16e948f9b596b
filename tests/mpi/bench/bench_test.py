"""The benchmark on a few ranks: bench_test.py QUADRILLE MPI SLOW_BARRIER LAUNCHER..."""

import collections
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

QUADRILLE, MPI, SLOW_BARRIER = sys.argv[1:4]
LAUNCH = sys.argv[4:]
del sys.argv[1:]


def bench(*words, ranks=2, environment=None, expect=0):
    done = subprocess.run(
        [*LAUNCH, str(ranks), QUADRILLE, "bench", *words],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **(environment or {})},
    )
    if done.returncode != expect:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def report(*words, **more):
    return json.loads(bench(*words, "--json", "-", **more).stdout)


def point(of, collective, size, variant):
    found = [
        one
        for one in of["points"]
        if (one["collective"], one["bytes"], one["variant"]) == (collective, size, variant)
    ]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} points for {collective} {size} {variant}")
    return found[0]


def good(of):
    """A quarter of the repeats is better: what else the machine does only makes them longer."""
    return sorted(of["seconds"])[len(of["seconds"]) // 4]


def whole_blocks(collective, size, ranks):
    """The bytes of a rank's data, where it is cut into blocks of whole elements for the ranks."""
    if not collective.startswith(("alltoall", "reduce_scatter")):
        return size
    element = 8 if collective.startswith("reduce") and size % 8 == 0 else 1
    return max(size // element // ranks, 1) * ranks * element


class Bench(unittest.TestCase):
    def test_every_collective_is_measured_beside_native(self):
        names = {one["collective"] for one in json.loads(subprocess.check_output([QUADRILLE, "list", "--json"]))}
        found = report(*sorted(names), "--sizes", "8,1000", "--algorithms", "all", "--least", "6", "--time", "0.02", ranks=3)
        for name in names:
            for size in (0,) if name == "barrier" else (8, 1000):
                native = point(found, name, whole_blocks(name, size, 3), "native")
                self.assertGreater(native["time"]["median"], 0)
                ours = [one for one in found["points"] if one["collective"] == name and one["variant"] != "native"]
                self.assertTrue(ours, name)

    def test_calls_that_overlap_are_one_a_repeat(self):
        found = report("bcast", "scan", "allreduce", "--sizes", "8", "--algorithms", "default", "--time", "0.1")
        for variant in ("native", "default"):
            self.assertEqual(point(found, "bcast", 8, variant)["calls"], 1)
            self.assertEqual(point(found, "scan", 8, variant)["calls"], 1)
            self.assertGreater(point(found, "allreduce", 8, variant)["calls"], 1)

    def test_blocks_have_an_element_at_least(self):
        found = report("alltoall", "reduce_scatter_block", "--sizes", "1,2,8,100", "--algorithms", "none", "--time", "0.02", ranks=3)
        sizes = [(one["collective"], one["bytes"]) for one in found["points"]]
        alltoall = [("alltoall", size) for size in (3, 6, 99)]
        self.assertEqual(sizes, alltoall + [("reduce_scatter_block", size) for size in (3, 24, 99)])

    def test_what_cannot_be_done_is_told_with_status_1_and_the_rest_is_done(self):
        done = bench("alltoallv", "--sizes", "8,2GiB", "--algorithms", "none", "--time", "0.02", "--json", "-", expect=1)
        self.assertIn("not measured: alltoallv, 2147483648 bytes", done.stderr)
        self.assertEqual([one["bytes"] for one in json.loads(done.stdout)["points"]], [8])

    def test_files_that_cannot_be_written_are_told_at_once(self):
        done = bench("bcast", "--time", "100", "--csv", "/no/such/folder/a.csv", expect=2)
        self.assertIn("can't write /no/such/folder/a.csv", done.stderr)

    def test_says_where_the_numbers_come_from(self):
        provenance = report("barrier", "--time", "0.05")["provenance"]
        self.assertEqual(provenance["ranks"], 2)
        self.assertEqual(provenance["nodes"], 1)
        self.assertIn("Open MPI" if MPI == "openmpi" else "MPICH", provenance["mpi"])
        self.assertGreater(provenance["usable_cores"], 0)
        self.assertIn("quadrille bench barrier", provenance["command"])

    def test_table_csv_and_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            done = bench("bcast", "--sizes", "8-4KiB*8", "--time", "0.05", "--csv", f"{folder}/a.csv", "--plot", f"{folder}/a.svg")
            self.assertIn("native", done.stdout)
            self.assertRegex(done.stdout, r"\n\nfastest\n  bcast  ")
            rows = list(csv.DictReader(io.StringIO(pathlib.Path(f"{folder}/a.csv").read_text())))
            self.assertIn(("bcast", "512", "native"), [(row["collective"], row["bytes"], row["variant"]) for row in rows])
            xml.etree.ElementTree.parse(f"{folder}/a.svg")
            self.assertIn("below 1 is faster", pathlib.Path(f"{folder}/a.svg").read_text())

    def test_rows_are_printed_as_they_are_measured(self):
        done = bench("barrier", "bcast", "--sizes", "8,64", "--algorithms", "none", "--time", "0.05")
        self.assertRegex(done.stderr, "3 cells, 3 points: at most 1 s and the first calls, ")
        cells = [line for line in done.stdout.splitlines() if line.startswith(("barrier, ", "bcast, "))]
        self.assertEqual(cells, ["barrier, 0 B", "bcast, 8 B", "bcast, 64 B"])
        self.assertNotIn("fastest", done.stdout)  # native has no rival
        rows = csv.DictReader(io.StringIO(bench("bcast", "--sizes", "8,64", "--time", "0.05", "--csv", "-").stdout))
        self.assertEqual({row["bytes"] for row in rows}, {"8", "64"})

    def test_an_interrupted_run_leaves_whole_files(self):
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(how=how.name), tempfile.TemporaryDirectory() as folder:
                self.interrupt_and_check(how, pathlib.Path(folder))

    def interrupt_and_check(self, how, folder):
        files = {name: folder / f"a.{name}" for name in ("json", "csv", "table", "plot")}
        words = [word for name, path in files.items() for word in (f"--{name}", str(path))]
        command = [*LAUNCH, "2", QUADRILLE, "bench", "allreduce", "--sizes", "8-1MiB", "--algorithms", "ring,hierarchical", "--time", "0.1", *words]
        # A group of its own, as a terminal's Ctrl-C reaches it.
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True) as running:
            for line in running.stdout:
                if line.startswith("allreduce, 32 B"):  # the third cell
                    break
            os.killpg(running.pid, how)
            running.stdout.read()  # ends with the last rank
        found = json.loads(files["json"].read_text())
        self.assertIs(found["complete"], False)
        by_size = collections.Counter(one["bytes"] for one in found["points"])
        self.assertGreaterEqual(set(by_size), {8, 16})
        self.assertEqual(len(set(by_size.values())), 1, "cells are whole")
        rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
        self.assertGreaterEqual({int(row["bytes"]) for row in rows}, {8, 16})
        xml.etree.ElementTree.parse(files["plot"])
        bench("barrier", "--time", "0.05", environment={"QUADRILLE_TABLE": str(files["table"])})
        compared = subprocess.run([QUADRILLE, "bench", "compare", files["json"], files["json"]], capture_output=True, text=True)
        self.assertIn("interrupted run", compared.stdout)

    def test_variants_with_one_schedule_are_known(self):
        found = report("bcast", "--sizes", "8", "--algorithms", "default,linear,binomial,scatter_ring", "--time", "0.05")
        same = {one["variant"]: one.get("same_as") for one in found["points"]}
        # On 2 ranks every tree is one message.
        self.assertEqual(same["binomial"], "linear")
        for variant in ("native", "linear", "scatter_ring"):
            self.assertIsNone(same[variant])
        found = report("bcast", "--sizes", "8", "--algorithms", "linear,binomial", "--time", "0.05", ranks=4)
        self.assertFalse([one for one in found["points"] if "same_as" in one])

    def test_a_busy_machine_is_noticed(self):
        words = ("barrier", "--algorithms", "none", "--precision", "0.0001", "--time", "2")
        hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
        try:
            done = bench(*words, "--json", "-")
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()
        self.assertIn("warning: the machine is busy: other processes used ", done.stderr)
        provenance = json.loads(done.stdout)["provenance"]
        self.assertIn("the machine is busy", provenance["warnings"][0])
        self.assertGreater(provenance["other_load"], 0.1)

    def test_winners_go_into_a_table_beside_what_it_has(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(f"{folder}/a.table")
            words = ("barrier", "bcast", "--sizes", "8,64", "--algorithms", "dissemination,binomial", "--time", "0.3", "--table", path)
            done = bench(*words)
            text = path.read_text()
            self.assertRegex(text, r"^# quadrille table 1\n\n\[(Open MPI v|MPICH )[\d.]+\w*, 2 ranks, 1 nodes\]\n# measured ")
            rules = [line for line in text.splitlines() if line.startswith(("barrier", "bcast"))]
            self.assertIn(f"{len(rules)} rules for 2 ranks and 1 nodes are in {path}", done.stderr)
            head = text.splitlines()[2]
            path.write_text(f"# quadrille table 1\n{head}\n# old\nbarrier 0 tree\nallreduce 8 ring # mine\n"
                            "[Another MPI 1, 2 ranks, 1 nodes]\nbarrier 0 tree\n")
            bench(*words)
            text = path.read_text()
            self.assertRegex(text, r"# old\nallreduce +8 +ring  # mine\n")
            self.assertRegex(text, r"\[Another MPI 1, 2 ranks, 1 nodes\]\nbarrier +0 +tree\n")
            self.assertEqual(text.count("tree\n"), 1)
            self.assertEqual(os.listdir(folder), ["a.table"])
            # What was written can be read.
            bench("barrier", "--time", "0.05", environment={"QUADRILLE_TABLE": str(path)})

    def test_a_table_that_cannot_be_read_is_told_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(f"{folder}/a.table")
            path.write_text("# quadrille table 1\nbarrier\n")
            done = bench("barrier", "--time", "100", "--table", path, expect=2)
            self.assertIn(f"{path}:2: expected", done.stderr)
            self.assertEqual(path.read_text(), "# quadrille table 1\nbarrier\n")

    @unittest.skipIf(MPI == "openmpi", "its calls yield by themselves")
    def test_where_ranks_share_cores_a_table_is_measured_with_the_drop_in(self):
        with tempfile.TemporaryDirectory() as folder:
            ranks = 2 * (os.cpu_count() or 1) + 1
            words = ("barrier", "--algorithms", "tree", "--time", "0.05", "--table", f"{folder}/a.table")
            self.assertIn("quadrille run -- mpirun", bench(*words, ranks=ranks, expect=2).stderr)
            done = subprocess.run([QUADRILLE, "run", "--", *LAUNCH, str(ranks), QUADRILLE, "bench", *words],
                                  capture_output=True, text=True, timeout=240)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{ranks} ranks", pathlib.Path(f"{folder}/a.table").read_text())

    def test_notices_a_delay_but_not_where_there_is_none(self):
        found = report("bcast", "allreduce", "--sizes", "256KiB", "--algorithms", "none", "--control", "--delay", "0.3", "--time", "2")
        for collective in ("bcast", "allreduce"):
            native = good(point(found, collective, 262144, "native"))
            self.assertGreater(good(point(found, collective, 262144, "delayed")), 1.1 * native)
            self.assertLess(good(point(found, collective, 262144, "control")), 1.2 * native)

    def test_a_late_rank_changes_nothing(self):
        words = ("bcast", "--sizes", "256KiB", "--algorithms", "none", "--time", "2")
        usual = point(report(*words), "bcast", 262144, "native")
        late = point(report(*words, environment={"QUADRILLE_BENCH_LATE": "1:0.005"}), "bcast", 262144, "native")
        self.assertLess(good(late), 1.5 * good(usual) + 50e-6)
        self.assertGreater(late["discarded"], 0)

    def test_a_barrier_with_a_slow_exit_changes_nothing(self):
        preload = " ".join(filter(None, (os.environ.get("LD_PRELOAD"), SLOW_BARRIER)))
        words = ("bcast", "barrier", "--sizes", "64KiB", "--algorithms", "none", "--time", "1")
        usual = report(*words)
        slow = report(*words, environment={"LD_PRELOAD": preload})
        barrier = good(point(slow, "barrier", 0, "native"))
        self.assertGreater(barrier, 2e-3, "the slow barrier is not in place")
        bcast = [good(point(one, "bcast", 65536, "native")) for one in (usual, slow)]
        self.assertLess(bcast[1], 1.5 * bcast[0] + 50e-6)

    def test_what_it_does_not_understand_it_explains(self):
        self.assertIn("no collective 'bcats'", bench("bcats", expect=2).stderr)
        self.assertIn("'8x' is not a size", bench("bcast", "--sizes", "8x", expect=2).stderr)
        self.assertIn("no algorithm 'rign' of bcast; there are", bench("bcast", "--algorithms", "rign", expect=2).stderr)
        self.assertIn("COLLECTIVE", bench("--help").stdout)


if __name__ == "__main__":
    unittest.main()
