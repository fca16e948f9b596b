"""`quadrille run` and the drop-in on programs that know nothing of them:
run_test.py QUADRILLE MPI DROPIN TOOL HIDING TIGHT CALLS[,FORTRAN...] LAUNCHER... -n

TOOL is another library that wraps MPI, HIDING one that keeps the drop-in from MPI's waits, TIGHT a program that has
little memory left, CALLS one that checks its own results; the others do so in Fortran, which calls MPI by other names.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

QUADRILLE, MPI, DROPIN, TOOL, HIDING, TIGHT, CALLS, *LAUNCH = sys.argv[1:]
del sys.argv[1:]
CALLS, *FORTRAN = CALLS.split(",")
# What stands in front of the launcher is for the environment: cmake -E env NAME=VALUE...
while not os.path.basename(LAUNCH[0]).startswith("mpi"):
    name, _, value = LAUNCH.pop(0).partition("=")
    os.environ.update({name: value} if value else {})

BLOCKING = ("Bcast Reduce Allreduce Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw "
            "Reduce_scatter Reduce_scatter_block Scan Exscan").split()
NEIGHBOURS = "allgather allgatherv alltoall alltoallv alltoallw".split()
MESSAGES = "Send Ssend Rsend Recv Mrecv Sendrecv Probe Mprobe Wait Waitall Waitany Waitsome".split()


def run(*words, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, env=environment, check=False,
                          timeout=120)


def launched(ranks, *program, options=(), **variables):
    return run(QUADRILLE, "run", *options, "--", *LAUNCH, ranks, *program, **variables)


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

    def report(self, ranks, *words, options=(), program=CALLS):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            self.check(launched(ranks, program, *words, options=(f"--report={path}", *options)))
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

    def test_the_report_tells_what_was_served(self):
        report = self.report(3, 5, options=["--force"])
        self.assertEqual(report["ranks"], 3)
        self.assertEqual(self.served(report), {"bcast": 18, "allreduce": 3, "gather": 3})
        self.assertEqual(report["passed_through"], {})

    def test_the_report_is_also_a_table(self):
        done = launched(2, CALLS, options=["--force", "--report"])
        self.assertRegex(done.stderr, r"bcast +1-64 B +8 +")

    def test_fortran_is_served_too(self):
        if not FORTRAN:
            self.skipTest(f"there is no Fortran compiler for {MPI}")
        for program in FORTRAN:
            for ranks in (1, 3):
                with self.subTest(program=program, ranks=ranks):
                    report = self.report(ranks, options=["--force"], program=program)
                    self.assertEqual(set(self.served(report)), {name.lower() for name in (*BLOCKING, "Barrier")})
                    self.assertEqual(report["passed_through"], {})

    def test_what_is_in_place_is_served_unasked(self):
        for program in FORTRAN:
            served = self.served(self.report(3, program=program))
            self.assertGreater(sum(served.values()), 0, program)
            self.assertLessEqual(set(served) - {name for name, count in served.items() if count == 0},
                                 {"alltoall", "alltoallv", "alltoallw"})
            left = self.served(self.report(3, program=program, options=["--except", "alltoall,alltoallv,alltoallw"]))
            self.assertEqual(sum(left.values()), 0)

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
data = numpy.repeat(numpy.arange(comm.size) * 100 + comm.rank, 1000)
comm.Alltoall(MPI.IN_PLACE, data)
assert (data == numpy.repeat(numpy.arange(comm.size) + 100 * comm.rank, 1000)).all()
counts = [1000] * comm.size
comm.Alltoallv(MPI.IN_PLACE, [data, counts])
assert (data == numpy.repeat(numpy.arange(comm.size) * 100 + comm.rank, 1000)).all()
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
            report = self.report(3, options=["--table", path])
            self.assertEqual(report["algorithms"], [
                {"collective": "bcast", "algorithm": "linear", "calls": 9},
                {"collective": "allreduce", "algorithm": "ring", "calls": 3}])
            # The bcast of a pair has 8 bytes, of which the table has nothing.
            self.assertEqual(self.served(report), {"bcast": 9, "allreduce": 3, "gather": 0})
            down = {"no rule in the tuning table": 3}
            self.assertEqual(report["passed_through"], {"bcast": down, "gather": down})
            done = launched(3, CALLS, options=["--table", path, "--report"])
            self.assertRegex(done.stderr, r"replaced, calls and by which algorithm:\n +bcast +9  linear\n")
            self.assertRegex(done.stderr, r"gather +3  no rule in the tuning table\n")
            # On another number of ranks it says nothing.
            report = self.report(2, options=["--table", path])
            self.assertEqual((sum(self.served(report).values()), report["algorithms"]), (0, []))
            self.assertEqual(report["passed_through"]["allreduce"], {"no rule in the tuning table": 2})

    def test_a_table_is_one_word_among_others(self):
        with tempfile.TemporaryDirectory() as folder:
            path = written(f"{folder}/table", "bcast 4 linear\nallreduce 4 ring", 2)
            report = self.report(2, options=["--table", path, "--except", "bcast"])
            self.assertEqual(report["passed_through"]["bcast"], {"not selected": 8})
            self.assertEqual(report["passed_through"]["gather"], {"no rule in the tuning table": 2})
            report = self.report(2, options=["--table", path, "--force", "--only", "bcast", "--algorithm", "allreduce=ring"])
            self.assertEqual(report["algorithms"], [
                {"collective": "bcast", "algorithm": "linear", "calls": 6},
                {"collective": "bcast", "algorithm": "binomial", "calls": 2}])
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
            self.assertRegex(done.stderr, r"bcast +8  no rule in the tuning table\n")

    def test_what_is_wrong_with_a_table_is_named_and_all_goes_down(self):
        with tempfile.TemporaryDirectory() as folder:
            path = written(f"{folder}/table", "bcast 4 linear\nbcast 8 slowly", 2)
            done = launched(2, CALLS, options=["--table", path])
            self.check(done)
            self.assertIn(f"{path}:4: expected an algorithm of bcast", done.stderr)
            self.assertIn("every call is passed through", done.stderr)
            done = launched(2, CALLS, options=["--table", f"{folder}/none"])
            self.assertEqual(done.returncode, 2)
            self.assertIn("--table", done.stderr)

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
        done = launched(2, CALLS, options=["--force", "--report"], QUADRILLE="off")
        self.check(done)
        self.assertNotIn("bcast", done.stderr)

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
            done = launched(2, CALLS, QUADRILLE_CONFIG=path)
            self.check(done)
            self.assertIn(f"{path}:1: expected NAME=VALUE", done.stderr)

    def test_what_it_is_told_wrongly_it_names_and_stays_away(self):
        done = launched(2, CALLS, options=["--only", "broadcast"])
        self.check(done)
        self.assertIn("QUADRILLE_ONLY=broadcast", done.stderr)
        self.assertIn("every call is passed through", done.stderr)

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

    def test_it_exports_what_it_wraps_and_nothing_else(self):
        listed = run("nm", "-D", "--defined-only", DROPIN).stdout
        exported = {line.split()[-1] for line in listed.splitlines()}
        expected = {"Init", "Init_thread", "Finalize", "Barrier", "Ibarrier", *BLOCKING, *MESSAGES}
        expected |= {f"I{name.lower()}" for name in BLOCKING}
        expected |= {f"{prefix}eighbor_{name}" for name in NEIGHBOURS for prefix in ("N", "In")}
        if MPI == "mpich":
            expected |= {f"{name}_c" for name in BLOCKING} | {f"{name}_init" for name in (*BLOCKING, "Barrier")}
            expected |= {f"Neighbor_{name}_init" for name in NEIGHBOURS}
        names = {f"MPI_{name}" for name in expected}
        fortran = [name.lower() for name in ("Init", "Init_thread", "Finalize", "Barrier", *BLOCKING)]
        if MPI == "openmpi":
            names |= {f"mpi_{name}_" for name in fortran} | {f"ompi_{name}_f" for name in fortran}
        else:
            names |= {f"mpi_{name}_f08_" for name in fortran[:4]} | {"ucp_worker_progress"}
        self.assertEqual(exported, names)


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
        self.assertIn("docs/environment.md", done.stderr)

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

    def test_srun_keeps_the_words_of_the_program(self):
        done = run(QUADRILLE, "run", "--print", "--", "srun", "-n", 2, "--export", "A", CALLS, "--export=csv")
        self.assertIn("--export=A,LD_PRELOAD=", done.stdout)
        self.assertTrue(done.stdout.endswith(f"{CALLS} --export=csv\n"), done.stdout)
        self.assertIn("--export=NONE", run(QUADRILLE, "run", "--", "srun", "--export=NONE", CALLS).stderr)

    def test_srun_is_told_by_its_own_option(self):
        done = run(QUADRILLE, "run", "--print", "--force", "--", "srun", "-n", 2, CALLS)
        self.assertIn("--export=ALL,LD_PRELOAD=", done.stdout)
        self.assertIn(f"/{MPI}/", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
