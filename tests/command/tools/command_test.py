"""The command line interface: command_test.py PATH_OF_QUADRILLE"""

import collections
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

QUADRILLE = sys.argv.pop(1)


def run(*words, **variables):
    return subprocess.run([QUADRILLE, *words], capture_output=True, text=True, check=False,
                          env={**os.environ, **variables})


class List(unittest.TestCase):
    def test_json_is_a_list_of_objects(self):
        algorithms = json.loads(run("list", "--json").stdout)
        self.assertGreaterEqual(len(algorithms), 9)
        for one in algorithms:
            for key in ("collective", "algorithm", "steps", "cost", "restrictions"):
                self.assertIn(key, one)

    def test_only_the_named_collectives_are_listed(self):
        algorithms = json.loads(run("list", "--json", "bcast").stdout)
        self.assertEqual({one["collective"] for one in algorithms}, {"bcast"})


class Verify(unittest.TestCase):
    def test_ends_with_a_count_and_succeeds(self):
        result = run("verify", "barrier", "--ranks", "1-5,9")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.splitlines()[-1], "204 passed, 0 failed")

    def test_invalid_arguments_are_named_with_status_2(self):
        for words, expected in (
            (["verify", "gossip"], "no collective 'gossip'"),
            (["verify", "--algorithm", "magic"], "no algorithm 'magic'"),
            (["verify", "--ranks", "1-4294967298"], "neither a number of ranks nor a range"),
            (["verify", "--ranks", ""], "neither a number of ranks nor a range"),
            (["verify", "--ranks", "4-2"], "neither a number of ranks nor a range"),
            (["list", "--jsn"], "--jsn"),
            ([], "subcommand is required"),
        ):
            result = run(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(expected, result.stdout + result.stderr)


class Show(unittest.TestCase):
    def test_prints_the_messages_of_each_step(self):
        result = run("show", "bcast", "--algorithm", "binomial", "--ranks", "8")
        self.assertEqual(
            result.stdout,
            "bcast, binomial: 8 ranks, 3 steps, 7 messages\n"
            "step   1:  0->4\n"
            "step   2:  0->2  4->6\n"
            "step   3:  0->1  2->3  4->5  6->7\n",
        )

    def test_prints_one_rank_of_a_million(self):
        words = ("show", "allreduce", "--algorithm", "rabenseifner", "--ranks", "1048576", "--rank", "77")
        self.assertIn("rank 77 of 1048576", run(*words).stdout)
        self.assertEqual(json.loads(run(*words, "--json").stdout)["rank"], 77)

    def test_draws_into_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ring.svg"
            result = run("show", "allreduce", "--algorithm", "ring", "--ranks", "5", "--svg", str(path))
            self.assertEqual(result.returncode, 0)
            self.assertIn("<svg", path.read_text(encoding="utf-8"))

    def test_a_drawing_that_fails_leaves_the_file_unchanged(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kept.svg"
            path.write_text("kept", encoding="utf-8")
            result = run("show", "bcast", "--algorithm", "binomial", "--ranks", "65", "--svg", str(path))
            self.assertEqual(result.returncode, 2)
            self.assertEqual(path.read_text(encoding="utf-8"), "kept")

    def test_inapplicable_options_are_rejected(self):
        for words, expected in (
            (["allreduce", "--algorithm", "ring", "--root", "1"], "has no root"),
            (["barrier", "--algorithm", "dissemination", "--count", "4"], "moves no data"),
            (["bcast", "--algorithm", "binomial", "--segment", "2"], "is not pipelined"),
            (["bcast", "--algorithm", "binomial", "--root", "4"], "no rank 4 of 4"),
            (["bcast", "--algorithm", "binomial", "--rank", "4"], "no rank 4 of 4"),
            (["alltoallv", "--algorithm", "linear", "--in-place"], "separate input and output"),
            (["bcast", "--algorithm", "magic"], "there are binary, binomial, doubling_binomial, exchanged_binomial, hier"),
            (["bcast", "--algorithm", "binomial", "--svg", "/no/such/folder/x.svg"], "can't write"),
        ):
            result = run("show", *words, "--ranks", "4")
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(expected, result.stderr)

    def test_too_many_messages_are_rejected(self):
        result = run("show", "allreduce", "--algorithm", "ring", "--ranks", "4096")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--rank", result.stderr)


class Knows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = folder.name
        self.folder = pathlib.Path(json.loads(self.knows("--json").stdout)["folder"])
        self.assertTrue(self.folder.is_relative_to(folder.name))

    def knows(self, *words, **variables):
        return run("knows", *words, XDG_CACHE_HOME=self.cache, **variables)

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "a.table").write_text(
            "# quadrille table 1\n[Open MPI v4.1.4, 64 ranks, 16 nodes]\n"
            "bcast 8-4096 pipelined_chain segment 65536 seconds 1e-5 native 2e-5 calls 400 when 2026-11-15T12:00:00Z\n"
            "barrier 0 native\n[MPICH 4.0.2, 2 ranks, 1 nodes]\nallreduce 8 ring\n")

    def test_where_nothing_is_remembered_it_says_what_to_do(self):
        done = self.knows()
        self.assertEqual(done.returncode, 0)
        self.assertIn("mpirun -n 4 quadrille tune", done.stdout)
        self.assertIn(str(self.folder), done.stdout)
        self.assertIn("QUADRILLE_LEARN is 0", self.knows(QUADRILLE_LEARN="0").stdout)

    def test_what_is_remembered_is_shown_by_place(self):
        self.write()
        text = self.knows().stdout
        self.assertRegex(text, r"(?m)^Open MPI v4.1.4, 64 ranks on 16 nodes$")
        self.assertRegex(text, r"bcast +8 B to 4 KiB +pipelined_chain, 64 KiB segments +10.0 µs +20.0 µs +2.00 +400  2026-11-15T12:00:00Z")
        self.assertRegex(text, r"barrier +the MPI's own")
        self.assertIn(f"The files are in {self.folder}", text)
        self.assertNotIn("MPICH", self.knows("--mpi", "Open MPI").stdout)
        self.assertNotIn("bcast", self.knows("allreduce").stdout)
        found = json.loads(self.knows("--json", "bcast").stdout)["findings"]
        self.assertEqual([(one["algorithm"], one["segment"], one["seconds"]) for one in found], [("pipelined_chain", 65536, 1e-5)])

    def test_it_is_what_explain_tells_of(self):
        self.write()
        words = ("explain", "bcast", "1KiB", "-n", "64", "--nodes", "16")
        text = run(*words, XDG_CACHE_HOME=self.cache).stdout
        self.assertIn("jobs under Open MPI v4.1.4 have found pipelined_chain to be fastest, 10.0 µs, the MPI's own 20.0 µs", text)
        self.assertNotIn("have found", run(*words, "--mpi", "MPICH", XDG_CACHE_HOME=self.cache).stdout)
        self.assertNotIn("have found", run("explain", "bcast", "8KiB", *words[3:], XDG_CACHE_HOME=self.cache).stdout)
        found = json.loads(run(*words, "--json", XDG_CACHE_HOME=self.cache).stdout)["found"]
        self.assertEqual([(one["algorithm"], one["seconds"]) for one in found], [("pipelined_chain", 1e-5)])

    def test_what_is_damaged_is_said(self):
        self.write()
        (self.folder / "b.table").write_text("nonsense")
        done = self.knows()
        self.assertEqual(done.returncode, 0)
        self.assertIn("allreduce", done.stdout)
        self.assertIn("b.table:1: expected", done.stderr)

    def test_some_or_all_is_forgotten(self):
        self.write()
        self.assertIn("2 findings forgotten", self.knows("--forget", "bcast", "barrier").stdout)
        self.assertEqual([one["collective"] for one in json.loads(self.knows("--json").stdout)["findings"]], ["allreduce"])
        (self.folder / "b.table").write_text("nonsense")
        self.assertIn("1 finding forgotten", self.knows("--forget").stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_machine_file_has_a_memory_of_its_own(self):
        other = json.loads(self.knows("--json", QUADRILLE_MACHINE="/somewhere/cluster-200mbit.json").stdout)["folder"]
        self.assertEqual(pathlib.Path(other), self.folder.parent / "cluster-200mbit.learned")

    def test_mistakes_are_named_with_status_2(self):
        self.assertEqual(self.knows("broadcast").returncode, 2)
        self.assertIn("set HOME", run("knows", XDG_CACHE_HOME="", HOME="").stderr)
        done = run("tune", "allreduce", PMI_RANK="", OMPI_COMM_WORLD_RANK="")
        self.assertEqual(done.returncode, 2)
        self.assertIn("mpirun -n 64 quadrille tune", done.stderr)


class Tune(unittest.TestCase):
    def test_what_belongs_to_the_other_mode_is_refused(self):
        for words, expected in (
            (["--output", "x.json", "allreduce"], "--output is for tune --native"),
            (["allreduce", "--each", "1"], "--each is for tune --native"),
            (["--rounds", "2"], "--rounds is for tune --native"),
            (["--segments", "none"], "--segments is for tune --native"),
            (["--timeout", "60"], "--timeout is for tune --native"),
            (["allreduce", "--", "mpirun", "-n", "8"], "without --native the launcher starts quadrille: mpirun -n 8 quadrille"),
            (["--native", "allreduce"], "quadrille tune --native allreduce -- mpirun -n 8"),
            (["--native", "--"], "quadrille tune --native allreduce -- mpirun -n 8"),
            (["--native", "--", "nolauncher", "-n", "8"], "unknown launcher 'nolauncher'"),
        ):
            done = run("tune", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(expected, done.stderr)


class Explain(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.machine = pathlib.Path(self.folder.name) / "machine.json"
        self.write_machine(flag_us=0.1)

    def write_machine(self, **memory):
        self.machine.write_text(json.dumps({"format": "quadrille machine 1", "memory": memory}))

    def explain(self, *words):
        done = run("explain", *words, "--machine", str(self.machine))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_all_that_could_run_a_call_have_a_price(self):
        found = json.loads(self.explain("allreduce", "64KiB", "-n", "8", "--nodes", "2", "--json"))
        prices = [one["seconds"] for one in found["variants"]]
        self.assertEqual(prices, sorted(prices))
        self.assertEqual(found["library"]["algorithm"], found["variants"][0]["algorithm"])
        self.assertLessEqual({"ring", "hierarchical", "rabenseifner"}, {one["algorithm"] for one in found["variants"]})
        sizes = json.loads(self.explain("allreduce", "8,64KiB", "-n", "8", "--nodes", "2", "--json"))
        self.assertEqual([one["bytes"] for one in sizes], [8, 65536])
        self.assertEqual(sizes[1], found)

    def test_the_numbers_of_the_machine_count(self):
        self.assertIn("run by hierarchical", self.explain("barrier", "-n", "4"))
        self.assertIn("replaces it by hierarchical", self.explain("barrier", "-n", "4"))
        self.write_machine(flag_us=1e6)
        self.assertNotIn("run by hierarchical", self.explain("barrier", "-n", "4"))
        self.assertIn("passes it through", self.explain("barrier", "-n", "4"))

    def test_what_an_mpi_does_by_itself_is_known(self):
        words = ("allreduce", "2KiB", "-n", "8")
        self.assertIn("Open MPI 4.1 by itself runs it by its recursive_doubling: the messages of allreduce recursive_doubling",
                      self.explain(*words))
        self.assertIn("MPICH 4.0 by itself runs it by its reduce_scatter_allgather: the messages of allreduce rabenseifner",
                      self.explain(*words, "--nodes", "8", "--mpi", "MPICH"))
        # Inside a node it goes through shared memory, of which no price is known.
        self.assertIn("MPICH 4.0 by itself runs it by its composition_gamma\n", self.explain(*words, "--mpi", "MPICH"))
        self.assertNotIn("by itself", self.explain(*words, "--mpi", "MPICH 4.1"))
        found = json.loads(self.explain("allreduce", "2KiB", "-n", "8", "--json"))["libraries"]
        self.assertEqual([(one["mpi"], one["algorithm"]) for one in found],
                         [("Open MPI 4.1", "recursive_doubling"), ("Open MPI 5.0", "recursive_doubling"),
                          ("MPICH 4.0", "composition_gamma"), ("MPICH 4.2", "composition_gamma")])
        # It has a price. Without segments a chain passes on the whole data from rank to rank.
        longer = json.loads(self.explain("bcast", "1MiB", "-n", "5", "--json"))
        chain = longer["libraries"][0]
        self.assertEqual(chain["messages_of"], [{"collective": "bcast", "algorithm": "pipelined_chain"}])
        ours = [one["seconds"] for one in longer["variants"] if one["algorithm"] == "pipelined_chain"]
        self.assertGreater(chain["seconds"], 1.5 * min(ours))

    def test_the_drop_in_is_held_against_what_the_mpi_does(self):
        words = ("bcast", "1MiB", "-n", "5", "--nodes", "5")
        text = self.explain(*words)
        own = re.search(r"Open MPI 4.1's own +([0-9.]+ \w+)", text).group(1)
        self.assertRegex(text, rf"under Open MPI 4.1 the drop-in replaces it by .*the MPI's own {own} or more")
        self.assertIn("under other MPIs the drop-in", text)
        libraries = json.loads(self.explain(*words, "--json"))["libraries"]
        self.assertNotEqual(libraries[0]["drop_in"]["algorithm"], "native")
        by_version = self.explain(*words, "--mpi", "Open MPI v4.1.4")
        self.assertIn("under Open MPI 4.1 the drop-in", by_version)
        self.assertNotIn("under other MPIs", by_version)
        self.assertIn("\nthe drop-in", self.explain(*words, "--mpi", "Open MPI v6"))

    def test_a_rule_of_a_table_counts_more(self):
        table = pathlib.Path(self.folder.name) / "table"
        table.write_text("# quadrille table 1\n[MPICH 4.0.2, 4 ranks, 1 nodes]\nbcast 8-64 linear  # 0.5 of native's time\n")
        text = self.explain("bcast", "8", "-n", "4", "--table", str(table))
        self.assertIn("measured under MPICH 4.0.2: linear 0.5 of native's time", text)
        self.assertIn("run by linear: the tuning table has linear for 8 to 64 bytes", text)

    def test_a_rule_may_leave_a_call_to_the_mpi(self):
        table = pathlib.Path(self.folder.name) / "table"
        table.write_text("# quadrille table 1\n[MPICH 4.0.2, 4 ranks, 1 nodes]\nbarrier 0 native\n")
        words = ("barrier", "-n", "4", "--table", str(table))
        text = self.explain(*words)
        self.assertIn("measured under MPICH 4.0.2: native", text)
        self.assertIn("run by hierarchical", text)
        self.assertIn("passes it through: the tuning table has the MPI's own function for 0 to 0 bytes", text)
        found = json.loads(self.explain(*words, "--json"))
        self.assertEqual((found["rule"]["algorithm"], found["drop_in"]["algorithm"]), ("native", "native"))

    def test_what_has_no_price_and_what_makes_no_sense_is_refused(self):
        for words, said in ((["alltoallv", "8", "-n", "4"], "each rank knows its own size"),
                            (["bcast", "8", "-n", "4", "--nodes", "5"], "at least 2 ranks"),
                            (["nothing", "-n", "4"], "no collective"),
                            (["bcast", "x", "-n", "4"], "x")):
            done = run("explain", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)


class Predict(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.machine = pathlib.Path(self.folder.name) / "machine.json"
        self.machine.write_text(json.dumps({"format": "quadrille machine 1", "rack": {"latency_us": 10000}}))

    def predict(self, *words):
        done = run("predict", *words, "--machine", str(self.machine))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_every_point_has_the_times_of_all_algorithms(self):
        found = json.loads(self.predict("bcast", "--ranks", "4-64*4", "--sizes", "8,64KiB", "--json"))
        self.assertEqual([(one["ranks"], one["bytes"]) for one in found["points"]],
                         [(ranks, size) for ranks in (4, 16, 64) for size in (8, 65536)])
        for point in found["points"]:
            seconds = [one["seconds"] for one in point["algorithms"]]
            self.assertEqual(seconds, sorted(seconds))
            self.assertLessEqual({"binomial", "pipelined_chain"}, {one["algorithm"] for one in point["algorithms"]})
            self.assertEqual(point["policies"][0]["policy"], "Quadrille")

    def test_the_fastest_are_listed_and_drawn(self):
        svg = pathlib.Path(self.folder.name) / "winners.svg"
        text = self.predict("allreduce", "--ranks", "16,1048576", "--sizes", "8,1MiB", "--per-node", "4", "--svg", str(svg))
        self.assertRegex(text, r"1,048,576 +8 B +\w+ +~")
        self.assertEqual(len(re.findall('class="cell"', svg.read_text())), 4)

    def test_one_algorithm_may_be_named(self):
        point, = json.loads(self.predict("alltoall", "--ranks", "16", "--sizes", "8", "--algorithm", "bruck:4", "--json"))["points"]
        self.assertEqual([one["algorithm"] for one in point["algorithms"]], ["bruck:4"])
        self.assertEqual(point["policies"], [])
        text = self.predict("bcast", "--ranks", "4,8", "--sizes", "8", "--algorithm", "linear")
        self.assertRegex(text, r"algorithm +time\n +4 +8 B +linear .*\n +8 +8 B +linear ")

    def test_sites_are_far_apart(self):
        words = ("barrier", "--ranks", "12", "--per-node", "1", "--json")
        best = [json.loads(self.predict(*words, *more))["points"][0]["algorithms"][0]["seconds"]
                for more in ((), ("--rack-nodes", "4"))]
        self.assertLess(best[0], 0.01)
        self.assertGreater(best[1], 0.01)

    def test_a_traced_program_has_a_time_elsewhere(self):
        trace = pathlib.Path(self.folder.name) / "program.trace"
        trace.write_text("quadrille trace 1\nprogram ./solver\nmpi Open MPI v4.1.4\nranks 8\ncommunicator 0-7\n"
                         "calls allreduce blocking count=1 unit=8 calls=100 bytes=6400 seconds=0.8 longest=0.1\n"
                         "calls alltoallv blocking calls=2 bytes=131072 seconds=0.4 longest=0.1\nblocks 0 1:2:131072\n")
        text = self.predict("--trace", str(trace), "--per-node", "4")
        self.assertRegex(text, r"allreduce, 8 B, 8 ranks +100 +100 ms")
        self.assertIn("blocks of different sizes, taken as equal ones", text)
        totals = []
        for nodes in ((), ("--rack-nodes", "1")):
            found = json.loads(self.predict("--trace", str(trace), "--per-node", "4", "--json", *nodes))
            totals.append(found["policies"]["Quadrille"]["seconds"])
            self.assertEqual([one["calls"] for one in found["calls"]], [100, 2])
        self.assertGreater(totals[1], totals[0] + 100 * 0.01)

    def test_what_makes_no_sense_is_refused(self):
        for words, said in ((["alltoallv", "--ranks", "4"], "each rank has sizes of its own"),
                            (["bcast"], "a collective and --ranks, or --trace alone"),
                            (["bcast", "--ranks", "4", "--trace", "/nowhere"], "or --trace alone"),
                            (["--trace", "/nowhere"], "/nowhere"),
                            (["bcast", "--ranks", "1"], "at least 2"),
                            (["nothing", "--ranks", "4"], "no collective"),
                            (["bcast", "--ranks", "4", "--algorithm", "binomail"], "did you mean binomial"),
                            (["bcast", "--ranks", "4", "--algorithm", "linear", "--policy", "quadrille"], "one of them"),
                            (["bcast", "--ranks", "4", "--algorithm", "linear", "--svg", "/nowhere"], "--algorithm names one"),
                            (["allgather", "--ranks", "4,5", "--algorithm", "neighbour_exchange"], "on 5 ranks"),
                            (["bcast", "--ranks", "4", "--machine", "/nowhere"], "/nowhere")):
            done = run("predict", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)


def report(label, **factors):
    """A report of native and ring on 4 sizes, 12 repeats each; with ring=2, ring takes twice as long as usual."""
    points = []
    for size in (0, 8, 1024, 65536):
        for variant, usual in (("native", 1e-5), ("ring", 2e-5)):
            middle = factors.get(variant, 1) * usual * (1 + size / 1000)
            seconds = [middle * (1 + 0.003 * i) for i in range(12)]
            time = {"median": (seconds[5] + seconds[6]) / 2, "low": seconds[2], "high": seconds[9]}
            point = {"collective": "allreduce", "bytes": size, "variant": variant, "time": time, "seconds": seconds}
            points.append(point | {"discarded": 0, "calls": 1, "settled": True})
    texts = dict.fromkeys(("version", "ranks_per_node", "binding", "command", "host", "date"), "")
    numbers = {"ranks": 4, "nodes": 1, "usable_cores": 2, "rate_bits": 0, "uplink_bits": 0}
    provenance = texts | numbers | {"mpi": "Open MPI 4.1.4", "label": label, "oversubscribed": True}
    return {"format": "quadrille bench", "format_version": 1, "provenance": provenance, "points": points}


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.before = self.written("before", report("before"))
        self.svg = str(self.folder / "plot.svg")

    def written(self, name, content):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return str(path)

    def test_a_slowdown_is_reported_with_status_1(self):
        after = self.written("after", report("after", ring=1.3))
        result = run("bench", "compare", self.before, after)
        self.assertEqual(result.returncode, 1)
        self.assertIn("slower:\n  allreduce", result.stdout)
        self.assertIn("2.00 -> 2.60      times native's  +30 %", result.stdout)
        self.assertIn("4 slower, 0 faster, 8 compared", result.stdout)

    def test_a_speedup_is_reported_with_status_0(self):
        after = self.written("after", report("after", ring=0.7))
        result = run("bench", "compare", self.before, after)
        self.assertEqual(result.returncode, 0)
        self.assertIn("0 slower, 4 faster, 8 compared", result.stdout)

    def test_no_change_is_reported(self):
        result = run("bench", "compare", self.before, self.written("after", report("after", ring=1.01)))
        self.assertEqual(result.returncode, 0)
        self.assertTrue(result.stdout.startswith("Nothing got faster or slower: 8 compared; "), result.stdout)

    def test_a_slower_machine_is_shown_but_is_no_regression(self):
        result = run("bench", "compare", self.before, self.written("after", report("after", ring=2, native=2)))
        self.assertEqual(result.returncode, 0)
        self.assertIn("the MPI's own", result.stdout)
        self.assertIn("Nothing got faster or slower", result.stdout)

    def test_the_threshold_is_a_fraction_or_a_percentage(self):
        after = self.written("after", report("after", ring=1.3))
        for threshold, status in (("20%", 1), ("0.2", 1), ("40 %", 0), ("0.4", 0), ("5", 2), ("x%", 2), ("-1%", 2)):
            result = run("bench", "compare", self.before, after, f"--threshold={threshold}")
            self.assertEqual(result.returncode, status, threshold)

    def test_json_has_all_that_was_compared(self):
        after = self.written("after", report("after", ring=1.3))
        result = run("bench", "compare", "--json", self.before, after)
        self.assertEqual(result.returncode, 1)
        changes = json.loads(result.stdout)["changes"]
        self.assertEqual(len(changes), 8)
        self.assertEqual({one["verdict"] for one in changes if one["variant"] == "ring"}, {"slower"})

    def test_too_few_repeats_and_other_settings_are_noted(self):
        few = report("few")
        few["provenance"]["ranks"] = 8
        for point in few["points"]:
            point["seconds"] = point["seconds"][:2]
        result = run("bench", "compare", self.before, self.written("few", few))
        self.assertIn("8 of 8 points have too few repeats", result.stdout)
        self.assertIn("different settings", result.stdout)
        result = run("bench", "compare", "--json", self.before, self.written("few", few))
        self.assertEqual(json.loads(result.stdout)["too_few_repeats"], 8)

    def test_points_with_other_numbers_of_calls_are_noted(self):
        other = report("other")
        for point, calls in zip(other["points"], (1, 2, 3, 50)):
            point["calls"] = calls
        result = run("bench", "compare", self.before, self.written("other", other))
        self.assertIn("2 of 8 points have more than twice as many calls", result.stdout)

    def test_an_invalid_report_is_named_with_status_2(self):
        broken = report("broken")
        broken["points"][2]["bytes"] = "8"
        broken = self.written("broken", broken)
        other = report("other")
        for point in other["points"]:
            point["bytes"] += 1
        other = self.written("other", other)
        for words, expected in (
            (["compare", self.before, broken], "broken.json: points[2].bytes: not a count"),
            (["compare", self.before, "/no/such/file"], "can't read /no/such/file"),
            (["compare", self.before, str(self.folder)], "can't read"),
            (["compare", self.before], "AFTER"),
            (["compare", self.before, other], "nothing in common"),
            (["compare", self.before, self.before, "--jsn"], "--jsn"),
            (["plot", self.before], "--output"),
            (["plot", self.before, "--output", self.svg, "--collective", "bcast"], "no collective 'bcast'"),
            (["plot", self.before, "--output", "/no/such/folder/x.svg"], "can't write"),
        ):
            result = run("bench", *words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(expected, result.stderr)

    def test_interrupted_and_noisy_runs_are_compared_with_a_note(self):
        content = report("after") | {"complete": False}
        content["points"] = content["points"][:4]
        content["provenance"]["warnings"] = ["the machine is busy"]
        after = self.written("after", content)
        result = run("bench", "compare", self.before, after)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("note: after is from an interrupted run\nnote: after: the machine is busy\n", result.stdout)
        self.assertNotIn("note: before", result.stdout)
        found = json.loads(run("bench", "compare", "--json", self.before, after).stdout)
        self.assertEqual((found["complete_before"], found["complete_after"]), (True, False))

    def test_times_and_ratios_are_plotted_side_by_side(self):
        content = report("both")
        for point in content["points"]:
            if point["variant"] == "ring":
                point["ratio"] = {"median": 2, "low": 1.9, "high": 2.1}
        texts = self.texts_of_plot("--both", self.written("both", content))
        self.assertLessEqual({"10 µs", "2", "time / native's: below 1 is faster"}, texts)
        self.assertNotIn("time / native's: below 1 is faster", self.texts_of_plot("--both", self.before))
        self.assertEqual(run("bench", "plot", "--both", "--ratios", self.before, "--output", self.svg).returncode, 2)

    def test_plots_distinguish_reports_by_their_labels(self):
        after = self.written("after", report("after"))
        self.assertEqual(run("bench", "plot", self.before, after, "--output", self.svg).returncode, 0)
        texts = {element.text for element in ElementTree.parse(self.svg).iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({"allreduce", "ring, before", "ring, after", "native, before", "0 B", "64 KiB"}, texts)

    def test_only_the_named_collectives_are_plotted(self):
        content = report("several")
        for name in ("bcast", "alltoall"):
            content["points"] += [point | {"collective": name} for point in report("")["points"]]
        several = self.written("several", content)
        for names, kept in (([], {"allreduce", "bcast", "alltoall"}), (["bcast", "alltoall"], {"bcast", "alltoall"})):
            words = [word for name in names for word in ("--collective", name)]
            self.assertEqual(run("bench", "plot", *words, several, "--output", self.svg).returncode, 0)
            text = pathlib.Path(self.svg).read_text(encoding="utf-8")
            self.assertEqual({name for name in ("allreduce", "bcast", "alltoall") if f">{name}<" in text}, kept)

    def texts_of_plot(self, *words):
        result = run("bench", "plot", *words, "--output", self.svg)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {element.text for element in ElementTree.parse(self.svg).iter("{http://www.w3.org/2000/svg}text")}

    def test_times_are_plotted_against_ranks(self):
        paths = []
        for ranks in (16, 2, 8):
            content = report(f"of {ranks}")
            content["provenance"]["ranks"] = ranks
            paths.append(self.written(f"ranks{ranks}", content))
        texts = self.texts_of_plot("--against", "ranks", *paths)
        self.assertLessEqual({"allreduce, 64 KiB", "ranks", "2", "8", "16", "native", "ring"}, texts)
        result = run("bench", "plot", "--against", "ranks", paths[0], paths[0], "--output", self.svg)
        self.assertEqual(result.returncode, 2)
        self.assertIn("both have 16 ranks", result.stderr)

    def test_rates_are_plotted_instead_of_times(self):
        texts = self.texts_of_plot("--rates", self.before)
        self.assertTrue(any(text.endswith("B/s") for text in texts), texts)
        self.assertNotIn("0 B", texts)

    def test_duplicate_labels_are_replaced_by_file_names(self):
        again = self.written("again", report("before"))
        run("bench", "plot", self.before, again, "--output", self.svg)
        self.assertIn(f">ring, {again}<", pathlib.Path(self.svg).read_text(encoding="utf-8"))

    def test_without_a_nested_command_it_asks_for_mpirun_whatever_follows(self):
        for words in ([], ["allreduce"], ["--label", "compare", "--help"]):
            result = run("bench", *words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn("start it under mpirun", result.stderr)

    def test_help_names_the_nested_commands_and_how_to_measure(self):
        result = run("bench", "--help")
        self.assertEqual(result.returncode, 0)
        for part in ("compare", "plot", "mpirun -n 4 quadrille bench"):
            self.assertIn(part, result.stdout)


HOSTILE = '</title></td><script>alert(1)</script>" onload="x\x1b[31m'


def drop_in_report(rows=3):
    """Of the drop-in: calls on so many communicators, all with a name that is no name for a page."""
    return {"format": "quadrille report", "format_version": 2, "program": f"./a {HOSTILE}", "ranks": 8, "wall_seconds": 2,
            "communicators": [{"name": f"{HOSTILE}{i}", "ranks": 4, "count": 2} for i in range(rows)],
            "calls": [{"collective": "bcast", "size": "to 1 KiB", "communicator": i, "calls": 80, "replaced": 40,
                       "bytes": 81920, "seconds": 0.5, "mean_seconds": 0.25, "replaced_seconds": 0.125} for i in range(rows)],
            "collectives": [{"collective": "bcast", "mean_seconds": 0.25 * rows, "largest_seconds": 0.5 * rows}],
            "algorithms": [{"collective": "bcast", "algorithm": "binomial", "calls": 40 * rows}],
            "passed_through": {"bcast": {"not selected": 40 * rows}},
            "learned": [{"communicator": HOSTILE, "ranks": 4, "nodes": 2, "collective": "bcast", "from": 64, "to": 1024,
                         "calls": 10, "replaced": 8, "verdict": "binomial", "seconds": 0.001, "native_seconds": 0.002,
                         "tried": [{"name": "binomial", "seconds": 0.001}], "saved_seconds": 0.008, "start": "price"}]}


class Balance(html.parser.HTMLParser):
    """Counts elements by name, and those left open."""

    def __init__(self):
        super().__init__()
        self.open, self.elements, self.wrong = [], collections.Counter(), []

    def handle_starttag(self, tag, attributes):
        self.elements[tag] += 1
        self.open.append(tag)
        self.wrong += [name for name, _ in attributes if name.startswith("on") or name in ("src", "srcset")]

    def handle_startendtag(self, tag, attributes):
        self.elements[tag] += 1

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def written(self, content):
        path = self.folder / "report.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def page(self, content):
        path = self.folder / "page.html"
        result = run("report", self.written(content), "--output", str(path))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        return path.read_text(encoding="utf-8")

    def test_is_printed_as_text(self):
        result = run("report", self.written(drop_in_report()))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("learned in the run: saved about 4 ms of 10 ms against the MPI's own as measured", result.stdout)
        self.assertNotIn("\x1b", result.stdout)

    def test_is_a_page_that_is_well_formed_and_loads_nothing(self):
        page = self.page(drop_in_report())
        ElementTree.fromstring(page.split("\n", 1)[1])
        found = Balance()
        found.feed(page)
        self.assertEqual((found.open, found.wrong), ([], []))
        self.assertEqual((found.elements["script"], found.elements["style"], found.elements["h1"]), (1, 1, 1))
        self.assertIsNone(re.search(r"https?://|url\(|@import", page))
        self.assertEqual(page.count("alert(1)"), page.count("&lt;script&gt;alert(1)"))
        self.assertNotIn('" onload', page)

    def test_a_page_of_many_rows_stays_small(self):
        page = self.page(drop_in_report(2000))
        self.assertLess(len(page.encode()), 300_000)
        self.assertRegex(page, r"[\d,]+ more rows are not shown. They are in the JSON file.")

    def test_of_an_earlier_version_is_shown_as_far_as_it_goes(self):
        old = {"ranks": 2, "peak_bytes": 0, "waits": "MPI's", "wall_seconds": 2.0,
               "collectives": [{"collective": "bcast", "mean_seconds": 0.5, "largest_seconds": 0.8}],
               "calls": [{"collective": "bcast", "size": "1-64 B", "calls": 8, "replaced": 2, "bytes": 32, "seconds": 0.6}],
               "algorithms": [], "passed_through": {}}
        self.assertRegex(run("report", self.written(old)).stdout, r"bcast +1-64 B +8 +32 B +500 ms +25 % +25%")
        self.assertIn("25 %", self.page(old))

    def test_what_is_no_report_is_named_with_status_2(self):
        for content, said in (("{", "not JSON"), ([], "not a report of quadrille run"), (report("bench"), "not a report of"),
                              ({"format_version": 9, "ranks": 1, "passed_through": {}}, "format_version: from a newer"),
                              (drop_in_report() | {"ranks": "x"}, "not a report: ")):
            with self.subTest(said):
                result = run("report", self.written(content))
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(f"report.json: {said}", result.stderr)
        self.assertIn("can't read", run("report", str(self.folder / "none.json")).stderr)


class Doctor(unittest.TestCase):
    def test_each_finding_has_its_remedy(self):
        done = run("doctor", "-n", "100000", "--json")
        findings = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1)
        topics = {finding["topic"] for finding in findings}
        self.assertGreaterEqual(topics, {"cores", "shared memory", "single copy"})
        for finding in findings:
            self.assertEqual(finding["good"], not finding["remedy"], finding)
        self.assertIn("100000 ranks", topics)
        self.assertTrue(all(finding["remedy"] for finding in findings if finding["topic"].endswith(", waiting")))
        self.assertTrue(any(finding["topic"].endswith(", binding") for finding in findings))

    def test_settings_of_the_environment_are_seen(self):
        done = run("doctor", "-n", "100000", "--json", OMPI_MCA_mpi_yield_when_idle="1", QUADRILLE_ONLY="bcast",
                   QUADRILLE_FROCE="all")
        findings = json.loads(done.stdout)
        waiting = [finding for finding in findings if finding["topic"] == "openmpi, waiting"]
        self.assertTrue(all(finding["good"] for finding in waiting))
        remedies = {finding["text"]: finding["remedy"] for finding in findings if finding["topic"] == "environment"}
        self.assertEqual(remedies["QUADRILLE_ONLY=bcast is set"], "")
        self.assertIn("unknown variable QUADRILLE_FROCE", remedies["QUADRILLE_FROCE=all is set"])

    def test_the_tuning_table_is_checked_against_the_installed_mpis(self):
        def finding(text):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "a.table")
                path.write_text(text)
                site = pathlib.Path(folder, "site.conf")
                site.write_text(f"QUADRILLE_TABLE={path}\n")
                for settings in ({"QUADRILLE_TABLE": str(path)}, {"QUADRILLE_CONFIG": str(site)}):
                    done = run("doctor", "--json", **settings)
                    found = [one for one in json.loads(done.stdout) if one["topic"] == "table"]
                    self.assertEqual(len(found), 1)
            return found[0]

        broken = finding("# quadrille table 1\nbcast\n")
        self.assertRegex(broken["text"], r"a\.table:2: expected")
        self.assertFalse(broken["good"])
        foreign = finding("# quadrille table 1\n[Another MPI 1.0, 2 ranks, 1 nodes]\nbcast 8 linear\n")
        self.assertIn("quadrille bench", foreign["remedy"])
        here = [one for one in json.loads(run("doctor", "--json").stdout) if one["topic"] in ("openmpi", "mpich")]
        for one in here:
            version = re.search(r"(\d+\.\d+[\w.]*)\), drop-in", one["text"]).group(1)
            name = {"openmpi": "Open MPI v", "mpich": "MPICH "}[one["topic"]] + version
            found = finding(f"# quadrille table 1\n[{name}, 2 ranks, 1 nodes]\nbcast 8 linear\nbcast 9 linear\n")
            self.assertIn("has 2 rules for the installed MPIs", found["text"])
            self.assertTrue(found["good"])

    def test_the_text_shows_the_remedy_below_the_finding(self):
        done = run("doctor", "-n", "100000")
        self.assertRegex(done.stdout, r"warn  100000 ranks: oversubscribed: .* cores\n      -> ")


if __name__ == "__main__":
    unittest.main()
