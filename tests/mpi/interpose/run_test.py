"""`quadrille run` and the drop-in on programs that know nothing of them:
run_test.py QUADRILLE MPI DROPIN TOOL HIDING TIGHT NEWER CROSSING STANDARD CALLS[,FORTRAN...] LAUNCHER... -n

TOOL is another library that wraps MPI, HIDING one that keeps the drop-in from MPI's waits, TIGHT a program that has
little memory left, NEWER one that calls what only newer MPIs have, CROSSING one whose messages need ranks that are in
collectives, STANDARD one of MPI's standard ABI, CALLS one that checks its own results; the others do so in Fortran, which
calls MPI by other names.
"""

import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

QUADRILLE, MPI, DROPIN, TOOL, HIDING, TIGHT, NEWER, CROSSING, STANDARD, CALLS, *LAUNCH = sys.argv[1:]
del sys.argv[1:]
CALLS, *FORTRAN = CALLS.split(",")
# What stands in front of the launcher is for the environment: cmake -E env NAME=VALUE...
while not os.path.basename(LAUNCH[0]).startswith("mpi"):
    name, _, value = LAUNCH.pop(0).partition("=")
    os.environ.update({name: value} if value else {})
# What is replaced must not depend on whether the user has measured this machine, nor on what is measured now.
os.environ.update({"QUADRILLE_MACHINE": "none", "QUADRILLE_LEARN": "0"})

BLOCKING = ("Bcast Reduce Allreduce Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw "
            "Reduce_scatter Reduce_scatter_block Scan Exscan").split()
NEIGHBOURS = "allgather allgatherv alltoall alltoallv alltoallw".split()
MESSAGES = "Send Ssend Rsend Recv Mrecv Sendrecv Probe Mprobe Wait Waitall Waitany Waitsome".split()
# For a trace alone: with data, and without.
TRACED = """Bsend Isend Ibsend Issend Irsend Send_init Bsend_init Ssend_init Rsend_init Irecv Imrecv
            Sendrecv_replace""".split()
TRACED_REQUESTS = "Start Startall Request_free Iprobe Improbe Test Testall Testany Testsome".split()


def run(*words, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, env=environment, check=False,
                          timeout=120)


def launched(ranks, *program, options=(), **variables):
    return run(QUADRILLE, "run", *options, "--", *LAUNCH, ranks, *program, **variables)


def preloaded(ranks, *program, **variables):
    """Without `quadrille run`, which would refuse what is wrong."""
    words = [f"{name}={value}" for name, value in {"LD_PRELOAD": DROPIN, **variables}.items()]
    return run(*LAUNCH, ranks, "env", *words, *program)


def exports_of(library):
    listed = run("nm", "-D", "--defined-only", library).stdout
    return {line.split()[-1].partition("@")[0] for line in listed.splitlines()}


def name_of_mpi():
    done = run(*LAUNCH, 1, QUADRILLE, "bench", "barrier", "--algorithms", "none", "--time", "0.01", "--json", "-")
    return json.loads(done.stdout)["provenance"]["mpi"]


def written(path, rules, ranks, mpi=None):
    """A table for so many ranks of one node."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# quadrille table 1\n[{mpi or name_of_mpi()}, {ranks} ranks, 1 nodes]\n{rules}\n")
    return path


class Program(unittest.TestCase):
    def check(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("0 faults", done.stdout)

    def refused(self, said, options=(), **variables):
        done = launched(1, CALLS, options=options, **variables)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(f"quadrille: {said}", done.stderr)

    def report(self, ranks, *words, options=(), program=CALLS, **variables):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            self.check(launched(ranks, program, *words, options=(f"--report={path}", *options), **variables))
            with open(path, encoding="utf-8") as file:
                return json.load(file)

    def served(self, report):
        served = collections.Counter()
        for row in report["calls"]:
            served[row["collective"]] += row["replaced"]
        return served

    def test_it_is_right_by_default_and_forced(self):
        for ranks in (1, 2, 4):
            with self.subTest(ranks):
                self.check(launched(ranks, CALLS))
                self.check(launched(ranks, CALLS, options=["--force"]))
                self.check(launched(ranks, CALLS, options=["--force", "--check"]))

    def test_what_is_rare_or_wrong_ends_as_without_it(self):
        for ranks in (1, 3):
            for options in (["--except", "p2p"], ["--force"], ["--report"], ["--force", "--report", "--check"]):
                with self.subTest(ranks=ranks, options=options):
                    self.check(launched(ranks, CALLS, "corners", options=options))

    @unittest.skipIf(MPI == "openmpi", "its waits yield by themselves")
    def test_where_waits_of_mpi_are_out_of_reach_its_own_take_their_place(self):
        ranks = 2 * (os.cpu_count() or 1) + 1
        for words in ((), ("corners",)):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "report.json")
                self.check(run(*LAUNCH, ranks, "env", f"LD_PRELOAD={HIDING}:{DROPIN}", f"QUADRILLE_REPORT={path}", CALLS,
                               *words))
                with open(path, encoding="utf-8") as file:
                    report = json.load(file)
            self.assertEqual(report["waits"], "ours")
            self.assertEqual(self.served(report)["allreduce"] > 0, True)

    def test_each_of_several_programs_has_it(self):
        if run(*LAUNCH, 1, "true", ":", "-n", 2, "true").returncode < 0:
            self.skipTest("this launcher crashes where there are several programs")  # Open MPI 5.0.7
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            self.check(launched(1, CALLS, ":", "-n", 2, CALLS, options=["--force", f"--report={path}"]))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(self.served(json.load(file))["allreduce"], 3)

    def test_a_report_needs_neither_the_environment_nor_the_folder_at_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "site.conf")
            with open(path, "w", encoding="utf-8") as file:
                file.write("QUADRILLE_REPORT=-\n")
            done = launched(2, CALLS, "after main", options=["--force"], QUADRILLE_CONFIG=path)
            self.check(done)
            self.assertIn("collectives of 2 ranks", done.stderr)

    def test_calls_in_mpi_finalize_are_passed_through(self):
        for options in (["--force"], []):
            self.check(launched(3, CALLS, "in finalize", options=options))

    def test_the_report_tells_what_was_served(self):
        report = self.report(3, 5, options=["--force"])
        self.assertEqual(report["ranks"], 3)
        self.assertEqual(self.served(report), {"bcast": 18, "allreduce": 3, "gather": 3})
        self.assertEqual(report["passed_through"], {})

    def test_the_report_is_also_a_table(self):
        done = launched(2, CALLS, options=["--force", "--report"])
        self.assertRegex(done.stderr, r"bcast +1-64 B +8 +")

    def test_the_report_tells_communicators_apart_by_name_and_ranks(self):
        for options in ((), ("--force",)):
            report = self.report(4, "grid", options=options)
            found = {(one["name"], one["ranks"]): one["count"] for one in report["communicators"]}
            odd = "</td><script>alert(1)</script>\x1b[31m\ufffd"
            self.assertEqual(found, {(odd, 4): 1, ("", 4): 10, ("row", 2): 2, ("column", 2): 2, ("MPI_COMM_SELF", 1): 4})
            calls = {(report["communicators"][row["communicator"]]["name"], row["collective"]): row
                     for row in report["calls"]}
            self.assertEqual({key: row["calls"] for key, row in calls.items()},
                             {(odd, "barrier"): 4, ("", "barrier"): 40, ("row", "barrier"): 4, ("column", "allreduce"): 12,
                              ("MPI_COMM_SELF", "barrier"): 4})
            for row in calls.values():
                self.assertLessEqual(row["replaced_seconds"], row["mean_seconds"])
                self.assertLessEqual(row["mean_seconds"], row["seconds"] * 1.000001)
            # Means add up.
            mean = sum(row["mean_seconds"] for row in report["calls"])
            self.assertAlmostEqual(mean, sum(one["mean_seconds"] for one in report["collectives"]))

    def test_the_report_tells_some_communicators_apart_and_adds_up_the_others(self):
        report = self.report(2, "names")
        self.assertEqual(len(report["communicators"]), 257)
        self.assertEqual(report["communicators"][-1], {"name": "", "ranks": 0, "count": 0})
        self.assertEqual(sum(row["calls"] for row in report["calls"]), 600)
        self.assertEqual([row["calls"] for row in report["calls"] if row["communicator"] == 256], [88])

    def test_the_report_says_what_ran_where(self):
        report = self.report(2, "grid")
        self.assertEqual((report["format"], report["format_version"], report["nodes"]), ("quadrille report", 2, 1))
        self.assertTrue(report["program"].endswith("grid"), report["program"])
        self.assertIn({"openmpi": "Open MPI", "mpich": "MPICH"}[MPI], report["mpi"])

    def test_a_page_is_made_in_one_step(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.html")
            self.check(launched(4, CALLS, "grid", options=[f"--report={path}"]))
            self.assertEqual(os.listdir(folder), ["run.html"])
            with open(path, encoding="utf-8") as file:
                page = file.read()
            self.assertIn("<!DOCTYPE html>", page)
            self.assertIn("column, 2 ranks x 2", page)
            self.assertNotIn("<script>alert", page)
            # A program that fails has one, too, if it came to MPI_Finalize.
            os.remove(path)
            done = launched(2, "sh", "-c", '"$0"; exit 3', CALLS, options=["--mpi", MPI, f"--report={path}"])
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertEqual(os.listdir(folder), ["run.html"])
            os.remove(path)
            done = launched(2, "sh", "-c", "exit 3", options=["--mpi", MPI, f"--report={path}"])
            self.assertEqual((done.returncode, os.listdir(folder)), (3, []))
            self.assertIn("quadrille: no page: the program wrote no report", done.stderr)
            done = launched(2, CALLS, options=["--print", f"--report={path}"])
            self.assertRegex(done.stdout, r"QUADRILLE_REPORT.*\.json.*\nquadrille report .*\.json --output .*run\.html\n")
            self.refused("can't write to ", options=[f"--report={folder}/none/run.html"])

    def test_fortran_is_served_too(self):
        if not FORTRAN:
            self.skipTest(f"there is no Fortran compiler for {MPI}")
        for program in FORTRAN:
            for ranks in (1, 3):
                with self.subTest(program=program, ranks=ranks):
                    report = self.report(ranks, options=["--force"], program=program)
                    self.assertEqual(set(self.served(report)), {name.lower() for name in (*BLOCKING, "Barrier")})
                    self.assertEqual(report["passed_through"], {})

    def test_what_is_in_place_and_small_is_passed_through(self):
        in_place = ("alltoall", "alltoallv", "alltoallw")
        little = "in place, with little data"
        for program in FORTRAN:
            passed = self.report(3, program=program)["passed_through"]
            self.assertGreater(sum(passed.get(name, {}).get(little, 0) for name in in_place), 0, program)
            # No reason where they are not asked for.
            passed = self.report(3, program=program, options=["--except", ",".join(in_place)])["passed_through"]
            self.assertEqual(sum(passed.get(name, {}).get(little, 0) for name in in_place), 0, program)

    def test_what_is_in_place_needs_hardly_any_memory(self):
        """And fails for want of it without the drop-in: MPI's own calls take a block more."""
        alone = run(*LAUNCH, 2, TIGHT, 256, 16)
        self.assertRegex(alone.stdout, "3 of 3 failed", alone.stderr)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            done = launched(2, TIGHT, 256, 16, options=[f"--report={path}"])
            with open(path, encoding="utf-8") as file:
                served = self.served(json.load(file))
        self.assertRegex(done.stdout, "0 of 3 failed", done.stderr)
        self.assertEqual({name: count for name, count in served.items() if count > 0},
                         {"alltoall": 2, "alltoallv": 2, "alltoallw": 2})
        # Below what anything takes, all ranks hand the call down.
        down = launched(2, TIGHT, 1, 64, options=["--memory", "20", "--report"])
        self.assertRegex(down.stdout, "0 of 3 failed", down.stderr)
        self.assertRegex(down.stderr, "memory")

    @unittest.skipIf(MPI != "openmpi", "Debian's mpi4py is made for Open MPI")
    def test_python_is_served_in_place(self):
        if run("/usr/bin/python3", "-c", "import mpi4py, numpy").returncode != 0:
            self.skipTest("there is no mpi4py")
        program = """
from mpi4py import MPI
import numpy
comm = MPI.COMM_WORLD
data = numpy.repeat(numpy.arange(comm.size) * 100 + comm.rank, 50000)
comm.Alltoall(MPI.IN_PLACE, data)
assert (data == numpy.repeat(numpy.arange(comm.size) + 100 * comm.rank, 50000)).all()
counts = [50000] * comm.size
comm.Alltoallv(MPI.IN_PLACE, [data, counts])
assert (data == numpy.repeat(numpy.arange(comm.size) * 100 + comm.rank, 50000)).all()
print("0 faults" if comm.rank == 0 else "", end="")
"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(program)
            served = self.served(self.report(3, path, program="/usr/bin/python3"))
        self.assertEqual((served["alltoall"], served["alltoallv"]), (3, 3))

    def test_a_table_serves_the_calls_it_has_by_its_algorithms_and_no_others(self):
        with tempfile.TemporaryDirectory() as folder:
            path = written(f"{folder}/table", "bcast 1-7 linear\nallreduce 4 ring\nallreduce 5-9 pairwise", 3)
            report = self.report(3, options=["--table", path, "--only", "bcast,allreduce"])
            self.assertEqual(report["algorithms"], [
                {"collective": "bcast", "algorithm": "linear", "calls": 9},
                {"collective": "allreduce", "algorithm": "ring", "calls": 3}])
            # The bcast of a pair has 8 bytes, of which the table has nothing.
            self.assertEqual(self.served(report), {"bcast": 9, "allreduce": 3, "gather": 0})
            self.assertEqual(report["passed_through"],
                             {"bcast": {"no rule in the tuning table": 3}, "gather": {"not selected": 3}})
            done = launched(3, CALLS, options=["--table", path, "--report"])
            self.assertRegex(done.stderr, r"replaced, calls and by which algorithm:\n +bcast +9  linear\n")
            self.assertRegex(done.stderr, r"bcast +3  no rule in the tuning table\n")
            self.assertNotIn("the tuning table has rules", done.stderr)
            # On another number of ranks it has nothing to say, which is said.
            done = launched(2, CALLS, options=["--table", path])
            self.check(done)
            self.assertEqual(done.stderr.count("the tuning table has rules for 3 ranks, none for 2"), 1, done.stderr)
            report = self.report(2, options=["--table", path])
            self.assertEqual((sum(self.served(report).values()), report["algorithms"]), (0, []))
            self.assertEqual(report["passed_through"]["allreduce"], {"the first calls on a communicator": 2})

    def test_without_a_table_what_is_clearly_faster_is_replaced(self):
        """After the first calls on a communicator, by the numbers of the machine."""
        with tempfile.TemporaryDirectory() as folder:
            def machine(flag_us, copy_ns):
                path = f"{folder}/machine.json"
                with open(path, "w", encoding="utf-8") as file:
                    json.dump({"format": "quadrille machine 1", "node": {"latency_us": 1},
                               "memory": {"flag_us": flag_us, "copy_ns_per_byte": copy_ns}}, file)
                return path

            report = self.report(2, 600000, QUADRILLE_MACHINE=machine(0.001, 0.001))
            self.assertGreater(self.served(report)["bcast"], 300)
            # Each rank counts them, and more may come before what they take is worth a context.
            self.assertGreaterEqual(report["passed_through"]["bcast"]["the first calls on a communicator"], 32)
            self.assertEqual({one["algorithm"] for one in report["algorithms"]}, {"hierarchical"})
            report = self.report(2, 600000, QUADRILLE_MACHINE=machine(1000, 1000))
            self.assertEqual(self.served(report)["bcast"], 0)
            self.assertGreater(report["passed_through"]["bcast"]["MPI's own is expected to be as fast"], 300)

    def test_a_table_is_one_word_among_others(self):
        with tempfile.TemporaryDirectory() as folder:
            path = written(f"{folder}/table", "bcast 4 linear\nallreduce 4 ring", 2)
            report = self.report(2, options=["--table", path, "--except", "bcast"])
            self.assertEqual(report["passed_through"]["bcast"], {"not selected": 8})
            self.assertEqual(report["passed_through"].get("gather", {}).get("not selected", 0), 0)
            report = self.report(2, options=["--table", path, "--force", "--only", "bcast", "--algorithm", "allreduce=ring"])
            self.assertEqual(report["algorithms"], [
                {"collective": "bcast", "algorithm": "linear", "calls": 6},
                {"collective": "bcast", "algorithm": "hierarchical", "calls": 2}])
            report = self.report(2, options=["--table", path, "--algorithm", "allreduce=pairwise"])
            self.assertIn({"collective": "allreduce", "algorithm": "pairwise", "calls": 2}, report["algorithms"])
            with open(f"{folder}/site.conf", "w", encoding="utf-8") as file:
                file.write(f"QUADRILLE_TABLE={path}\nQUADRILLE_REPORT=-\n")
            done = launched(2, CALLS, QUADRILLE_CONFIG=f"{folder}/site.conf")
            self.check(done)
            self.assertRegex(done.stderr, r"allreduce +2  ring\n")
            for words in (("corners",), ()):
                self.check(launched(3, CALLS, *words, options=["--table", path, "--check"]))

    def test_a_table_of_another_mpi_is_not_used(self):
        with tempfile.TemporaryDirectory() as folder:
            path = written(f"{folder}/table", "bcast 4 linear", 2, mpi="Another MPI 1.0")
            done = launched(2, CALLS, options=["--table", path, "--report"])
            self.check(done)
            said = f"quadrille: {path} was measured under Another MPI 1.0, and this is {name_of_mpi()}"
            self.assertEqual(done.stderr.count(said), 1, done.stderr)
            self.assertRegex(done.stderr, r"bcast +8  the first calls on a communicator\n")

    def test_what_is_wrong_with_a_table_is_named_and_all_goes_down(self):
        with tempfile.TemporaryDirectory() as folder:
            path = written(f"{folder}/table", "bcast 4 linear\nbcast 8 slowly", 2)
            done = preloaded(2, CALLS, QUADRILLE_TABLE=path)
            self.check(done)
            said = f"{path}:4: expected an algorithm of bcast"
            self.assertIn(said, done.stderr)
            self.assertIn("every call is passed through", done.stderr)
            self.refused(said, options=["--table", path])
            self.refused(f"{folder}/none: can't read it", options=["--table", f"{folder}/none"])
            self.refused(said, QUADRILLE_TABLE=path)

    def test_only_and_except_choose(self):
        served = self.served(self.report(2, options=["--force", "--only", "bcast,gather"]))
        self.assertEqual((served["allreduce"], served["bcast"] > 0), (0, True))
        served = self.served(self.report(2, options=["--force", "--except", "bcast"]))
        self.assertEqual((served["allreduce"], served["bcast"]), (2, 0))

    def test_more_ranks_than_cores_do_not_starve_each_other(self):
        ranks = 2 * (os.cpu_count() or 1) + 1
        report = self.report(ranks)
        self.assertEqual(self.served(report)["allreduce"], 0)
        self.assertEqual(report["waits"], "yielding" if MPI == "mpich" else "MPI's")
        if MPI == "openmpi":
            return
        # Its waits are left alone: collectives are served, so that at least those let others run.
        report = self.report(ranks, options=["--except", "p2p"])
        self.assertEqual((self.served(report)["allreduce"], report["passed_through"]), (ranks, {}))
        times = []
        for switch in ("on", "off", "on", "off"):
            start = time.monotonic()
            self.check(launched(ranks, CALLS, 400, QUADRILLE=switch))
            times.append(time.monotonic() - start)
        print(f"{times[0]:.2f} s, alone {times[1]:.2f} s ", end="", file=sys.stderr)
        self.assertLess(2 * min(times[::2]), min(times[1::2]))

    def test_the_switch_turns_it_off(self):
        done = launched(2, CALLS, options=["--force"], QUADRILLE="off")
        self.check(done)
        self.assertNotIn("quadrille", done.stderr)

    def test_a_report_of_the_program_as_it_is(self):
        done = launched(2, CALLS, options=["--force", "--report"], QUADRILLE="off")
        self.check(done)
        self.assertRegex(done.stderr, r"allreduce .* 0%")
        self.assertRegex(done.stderr, r"allreduce +2  not selected")
        # Not even where ranks would keep each other from their cores.
        done = launched(2 * (os.cpu_count() or 1) + 1, CALLS, options=["--report"], QUADRILLE="off")
        self.check(done)
        self.assertNotIn("oversubscribed", done.stderr)

    def test_the_report_has_the_time_in_collectives(self):
        report = self.report(3, 500, options=["--force"])
        self.assertEqual({row["collective"] for row in report["collectives"]}, {"bcast", "allreduce", "gather"})
        for row in report["collectives"]:
            self.assertGreater(row["mean_seconds"], 0)
            self.assertGreaterEqual(row["largest_seconds"], row["mean_seconds"])
            self.assertLess(row["largest_seconds"], report["wall_seconds"])
            largest = max(one["seconds"] for one in report["calls"] if one["collective"] == row["collective"])
            self.assertGreaterEqual(row["largest_seconds"] * 1.000001, largest)
        done = launched(2, CALLS, options=["--report"])
        self.assertRegex(done.stderr, r"in them, mean of the ranks: [0-9.]+ % of .* from MPI_Init to MPI_Finalize\n")

    def test_a_site_has_its_defaults_and_the_user_the_last_word(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "site.conf")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# Ours\n\nQUADRILLE_FORCE=allreduce\nQUADRILLE_REPORT=-\n")
            done = launched(2, CALLS, QUADRILLE_CONFIG=path)
            self.check(done)
            self.assertRegex(done.stderr, r"allreduce .* 100%")
            self.assertRegex(done.stderr, r"bcast .* 0%")
            done = launched(2, CALLS, options=["--force", "--only", "bcast"], QUADRILLE_CONFIG=path)
            self.assertRegex(done.stderr, r"allreduce .* 0%")
            self.assertRegex(done.stderr, r"bcast .* 100%")
            report = os.path.join(folder, "report.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"QUADRILLE_REPORT={report}\n")
            self.check(launched(2, CALLS, QUADRILLE_CONFIG=path))
            with open(report, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["ranks"], 2)
            with open(path, "w", encoding="utf-8") as file:
                file.write("force=all\n")
            done = preloaded(2, CALLS, QUADRILLE_CONFIG=path)
            self.check(done)
            self.assertIn(f"{path}:1: expected NAME=VALUE", done.stderr)
            self.refused(f"{path}:1: expected NAME=VALUE", QUADRILLE_CONFIG=path)

    def test_what_it_is_told_wrongly_it_names_and_stays_away(self):
        done = preloaded(2, CALLS, QUADRILLE_ONLY="broadcast")
        self.check(done)
        self.assertIn("QUADRILLE_ONLY=broadcast: expected", done.stderr)
        self.assertIn("every call is passed through", done.stderr)

    def test_what_is_wrong_is_found_before_the_program_starts(self):
        for option, value, variable in (("--only", "broadcast", "QUADRILLE_ONLY"), ("--except", "x", "QUADRILLE_EXCEPT"),
                                        ("--algorithm", "allreduce=nonsense", "QUADRILLE_ALGORITHM"),
                                        ("--memory", "12q", "QUADRILLE_MEMORY")):
            with self.subTest(option):
                self.refused(f"{variable}={value}: expected ", options=[option, value])
                self.refused(f"{variable}={value}: expected ", **{variable: value})
        # An option takes precedence.
        self.check(launched(1, CALLS, options=["--memory", "1M"], QUADRILLE_MEMORY="12q"))
        self.refused("QUADRILLE_PATIENCE=long: expected", QUADRILLE_PATIENCE="long")

    def test_rank_0_decides(self):
        shell = 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then export QUADRILLE_FORCE=bcast; fi; exec "$@"'
        self.check(launched(3, "sh", "-c", shell, "sh", CALLS, options=["--force"]))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            shell = 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 0 ]; then unset QUADRILLE_REPORT; fi; exec "$@"'
            self.check(launched(3, "sh", "-c", shell, "sh", CALLS, options=["--force", f"--report={path}"]))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(self.served(json.load(file))["allreduce"], 3)

    def test_another_tool_may_stand_before_or_behind_it(self):
        for order, seen in ((f"{TOOL}:{DROPIN}", 5), (f"{DROPIN}:{TOOL}", 0)):
            for force in ("all", "allreduce"):
                with self.subTest(order=order, force=force):
                    done = run(*LAUNCH, 2, "env", f"LD_PRELOAD={order}", f"QUADRILLE_FORCE={force}", CALLS, 4)
                    self.check(done)
                    # Handed down, a call reaches a tool behind the drop-in as well.
                    expected = 5 if force == "allreduce" else seen
                    self.assertIn(f"the tool saw {expected} calls", done.stdout)

    def test_under_the_wrong_mpi_it_says_so(self):
        other = {"openmpi": "mpich", "mpich": "openmpi"}[MPI]
        wrong = DROPIN.replace(f"/{MPI}/", f"/{other}/")
        if not os.path.exists(wrong):
            self.skipTest(f"there is no drop-in for {other}")
        done = run(*LAUNCH, 1, "env", f"LD_PRELOAD={wrong}", CALLS)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"preload lib/quadrille/{MPI}/libquadrille-dropin.so", done.stderr)

    def test_a_program_of_the_standard_abi_is_refused(self):
        self.check(run(STANDARD))
        done = run("env", f"LD_PRELOAD={DROPIN}", STANDARD)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn("the program uses the standard ABI (libmpi_abi.so), which Quadrille has no drop-in for", done.stderr)

    def test_in_other_programs_it_does_nothing(self):
        done = run("env", f"LD_PRELOAD={DROPIN}", "QUADRILLE_FORCE=all", "echo", "fine")
        self.assertEqual((done.stdout, done.stderr), ("fine\n", ""))

    def test_a_call_handed_down_costs_little(self):
        times = []
        for preload in ("", DROPIN):
            done = run(*LAUNCH, 1, "env", f"LD_PRELOAD={preload}", CALLS, "time")
            times.append(float(done.stdout))
        print(f"{times[1] - times[0]:.0f} ns more a call ", end="", file=sys.stderr)
        self.assertLess(times[1] - times[0], 1000)

    def test_nothing_is_left_of_freed_communicators(self):
        # Without its small caches the heap says exactly what is in use.
        done = run(*LAUNCH, 2, "env", f"LD_PRELOAD={DROPIN}", "QUADRILLE_FORCE=all",
                   "GLIBC_TUNABLES=glibc.malloc.tcache_count=0", CALLS, "churn")
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["0", "0"]), done.stdout + done.stderr)

    def newer(self, what, *options, ranks=2):
        done = launched(ranks, NEWER, what, options=options)
        if "not in this MPI" in done.stdout:
            self.skipTest("not in this MPI")
        self.check(done)
        return done

    def test_persistent_collectives_are_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            self.newer("persistent", f"--report={path}")
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["passed_through"], {"bcast": {"persistent": 2}})

    def test_calls_with_large_counts_are_served_and_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            self.newer("large", "--force", f"--report={path}")
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
            self.assertEqual(self.served(report), {"allreduce": 2})
            self.assertEqual(report["passed_through"], {"bcast": {"non-blocking": 2}})

    def test_a_program_of_sessions_alone_is_seen_and_yields(self):
        started = time.monotonic()
        done = self.newer("sessions", "--force", "--report", ranks=2 * (os.cpu_count() or 1) + 1)
        self.assertIn("uses MPI sessions without MPI_Init: its 50 collective calls on rank 0 were passed through", done.stderr)
        self.assertLess(time.monotonic() - started, 30)

    def test_it_exports_what_it_wraps_and_nothing_else(self):
        exported = exports_of(DROPIN)
        libraries = re.findall(r"=> (\S+/libmpi(?:ch)?\.so\S*)", run("ldd", DROPIN).stdout)
        self.assertEqual(len(libraries), 1)
        there = exports_of(libraries[0])
        collectives = {*BLOCKING, *(f"Neighbor_{name}" for name in NEIGHBOURS)}
        forms = {form for name in collectives for form in (name, f"I{name.lower()}", f"{name}_init")}
        forms |= {f"{form}_c" for form in forms} | {"Barrier", "Ibarrier", "Barrier_init", "Session_init", "Session_finalize"}
        with_data = {*TRACED, "Isendrecv", "Isendrecv_replace"}
        large = {f"{name}_c" for name in (*with_data, "Send", "Ssend", "Rsend", "Recv", "Mrecv", "Sendrecv")}
        names = {f"MPI_{name}" for name in ("Init", "Init_thread", "Finalize", *MESSAGES, *TRACED, *TRACED_REQUESTS)}
        names |= {f"MPI_{form}" for form in (*forms, *with_data, *large, "Psend_init")} & there
        fortran = [name.lower() for name in ("Init", "Init_thread", "Finalize", "Barrier", *BLOCKING)]
        waits = [name.lower() for name in (*TRACED_REQUESTS, *MESSAGES) if not re.search("send|recv", name, re.IGNORECASE)]
        if MPI == "openmpi":
            fortran += [name.lower() for name in (*MESSAGES, *TRACED, *TRACED_REQUESTS)]
            names |= {f"mpi_{name}_" for name in fortran} | {f"ompi_{name}_f" for name in fortran}
        else:
            names |= {f"mpi_{name}_f08_" for name in (*fortran[:4], *waits)} | {"ucp_worker_progress"}
        reordered = ("Cart_create", "Graph_create", "Dist_graph_create", "Dist_graph_create_adjacent")
        names |= {f"MPI_{name}" for name in reordered} | {f"mpi_{name.lower()}_f08_" for name in reordered}
        if MPI == "openmpi":
            names |= {f"mpi_{name.lower()}_" for name in reordered}
        self.assertEqual(exported, names)
        stems = "barrier|bcast|reduce|allreduce|gather|scatter|allgather|alltoall|scan|exscan|neighbor"
        like = {name for name in there if re.match(f"MPI_I?({stems})(v|w|_|$)", name, re.IGNORECASE)}
        self.assertEqual(like - exported - {"MPI_Reduce_local", "MPI_Reduce_local_c"}, set())
        self.assertGreater(len(like), 40)
        # Nothing is sent that a trace would not have.
        sends = {name for name in there if re.match("MPI_I?[bsrp]?send", name, re.IGNORECASE)}
        self.assertEqual(sends - exported, set())
        self.assertGreater(len(sends), 12)


class Compare(unittest.TestCase):
    def test_it_says_what_is_faster(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.json")
            done = launched(2, CALLS, 50, options=["--compare", 2, "--force", f"--json={path}"])
            with open(path, encoding="utf-8") as file:
                result = json.load(file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(faster|slower|no difference).*2 runs each.*; collectives are [0-9.]+ % of the run\n")
        # In turns, and only the output of the first run is shown.
        self.assertEqual(done.stdout.count("0 faults"), 1)
        self.assertRegex(done.stderr, r"run 1 of 2 without: .*\n.*run 1 of 2 with: .*, so far .*\n"
                                      r".*run 2 of 2 with: .*\n.*run 2 of 2 without: ")
        self.assertEqual((len(result["with"]), len(result["without"]), result["certain"]), (2, 2, False))
        self.assertLess(0, result["collectives"]["share"])
        self.assertLess(result["collectives"]["inside_seconds"], result["collectives"]["run_seconds"])
        self.assertEqual(set(result["collectives"]["mean_seconds"]), {"bcast", "allreduce", "gather"})

    def test_the_runs_without_are_without(self):
        """What a run sees: an observed one, then one without and one with."""
        with tempfile.TemporaryDirectory() as folder:
            shell = f'echo "$LD_PRELOAD $QUADRILLE" >> {folder}/seen; exec "$@"'
            done = launched(1, "sh", "-c", shell, "sh", CALLS, options=["--compare", 1])
            with open(f"{folder}/seen", encoding="utf-8") as file:
                seen = file.read().splitlines()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(seen, [f"{DROPIN} off", " ", f"{DROPIN} "])

    def test_every_run_reads_the_same_input(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/input", "w", encoding="utf-8") as file:
                file.write("data\n")
            with open(f"{folder}/input", encoding="utf-8") as file:
                words = [QUADRILLE, "run", "--compare", 2, "--", *LAUNCH, 1, "sh", "-c", f"cat >> {folder}/seen"]
                done = subprocess.run([str(word) for word in words], stdin=file, capture_output=True, check=False,
                                      text=True, timeout=120)
            with open(f"{folder}/seen", encoding="utf-8") as file:
                self.assertEqual(file.read(), 5 * "data\n")
        self.assertIn("the share of collectives is unknown", done.stdout)

    def test_a_run_that_fails_is_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            shell = f'echo x >> {folder}/runs; echo complaint >&2; [ $(wc -l < {folder}/runs) -lt 3 ] || exit 3'
            done = launched(1, "sh", "-c", shell, options=["--compare", 4])
        self.assertEqual(done.returncode, 3)
        # The first run's is shown in any case, the second's is not.
        self.assertEqual(done.stderr.count("complaint"), 2, done.stderr)
        self.assertIn("quadrille: run 1 of 4 with failed with exit status 3", done.stderr)

    def test_a_signal_ends_all_runs(self):
        words = [QUADRILLE, "run", "--compare", 9, "--", *LAUNCH, 1, "sh", "-c", "echo here; sleep 100"]
        with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
            job.stdout.readline()
            job.send_signal(signal.SIGTERM)
            _, errors = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 128 + signal.SIGTERM, errors)

    def test_print_shows_both_command_lines(self):
        done = launched(2, "./program", options=["--compare", 3, "--print"])
        without, line = done.stdout.splitlines()
        self.assertTrue(without.startswith(LAUNCH[0]) and "LD_PRELOAD" not in without, without)
        self.assertIn(os.path.basename(DROPIN), line)

    def test_what_would_compare_nothing_is_refused(self):
        for options, variables, said in ((["--compare", 0], {}, "--compare"), (["--compare", 2, "--report"], {}, "--report"),
                                         (["--json=x"], {}, "--compare"), (["--compare", 2], {"QUADRILLE": "off"}, "off"),
                                         (["--compare", 2], {"LD_PRELOAD": DROPIN}, "LD_PRELOAD")):
            done = launched(1, CALLS, options=options, **variables)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(said, done.stderr)


class Command(unittest.TestCase):
    def test_print_shows_the_command_line(self):
        done = launched(2, "./program", "a b", options=["--print", "--algorithm", "bcast=binomial"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(os.path.basename(DROPIN), done.stdout)
        self.assertIn("bcast=binomial", done.stdout)
        self.assertTrue(done.stdout.endswith("./program 'a b'\n"), done.stdout)

    def test_an_unknown_launcher_is_refused_with_the_remedy(self):
        done = run(QUADRILLE, "run", "--", "launcher", "./program")
        self.assertEqual(done.returncode, 2)
        self.assertIn("docs/reference/environment.md", done.stderr)

    def test_a_command_line_that_would_keep_it_out_is_refused(self):
        for words in (("-x" if MPI == "openmpi" else "-genv", "LD_PRELOAD", "x"), ("env", "LD_PRELOAD=x")):
            done = run(QUADRILLE, "run", "--print", "--", *LAUNCH, 2, *words, CALLS)
            self.assertEqual(done.returncode, 2)
            self.assertIn("in front of quadrille run", done.stderr)
        if MPI == "openmpi":
            done = run(QUADRILLE, "run", "--print", "--", *LAUNCH, 2, CALLS, OMPI_MCA_mca_base_env_list="A=1")
            self.assertIn("mca_base_env_list", done.stderr)
            done = run(QUADRILLE, "run", "--print", "--", LAUNCH[0], "--app", "file")
            self.assertIn("--app", done.stderr)

    def test_where_no_communicator_can_be_made_calls_are_passed_through(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            # A thread for progress needs MPI_THREAD_MULTIPLE.
            for setting in ({"QUADRILLE_RACKS": "/nowhere"}, {"QUADRILLE_PROGRESS": "1"}):
                done = preloaded(2, CALLS, QUADRILLE_FORCE="all", QUADRILLE_REPORT=path, **setting)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stderr.count("calls are passed through to MPI"), 1, done.stderr)
                with open(path, encoding="utf-8") as file:
                    self.assertIn("no communicator could be made", file.read())

    def test_messages_advance_while_ranks_are_in_collectives(self):
        for ranks in (2, 4):
            done = launched(ranks, CROSSING, options=["--force"])
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout.count("passed: "), 6 if MPI == "openmpi" else 5)

    def test_srun_keeps_the_words_of_the_program(self):
        done = run(QUADRILLE, "run", "--print", "--", "srun", "-n", 2, "--export", "A", CALLS, "--export=csv")
        self.assertIn("--export=A,LD_PRELOAD=", done.stdout)
        self.assertTrue(done.stdout.endswith(f"{CALLS} --export=csv\n"), done.stdout)
        done = run(QUADRILLE, "run", "--print", "--", "srun", "-l", CALLS, "--export=csv")
        self.assertTrue(done.stdout.endswith(f" -l {CALLS} --export=csv\n"), done.stdout)
        self.assertIn("--export=NONE", run(QUADRILLE, "run", "--", "srun", "--export=NONE", CALLS).stderr)

    def test_srun_is_told_by_its_own_option(self):
        done = run(QUADRILLE, "run", "--print", "--force", "--", "srun", "-n", 2, CALLS)
        self.assertIn("--export=ALL,LD_PRELOAD=", done.stdout)
        self.assertIn(f"/{MPI}/", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
