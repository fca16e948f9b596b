"""The MPI's own algorithms, measured and chosen by its own rules: native_test.py QUADRILLE MPI ROUNDING LAUNCHER..."""

import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

QUADRILLE, MPI, ROUNDING = sys.argv[1:4]
LAUNCH = sys.argv[4:]
del sys.argv[1:]
# What cmake -E env would set.
while "mpi" not in pathlib.Path(LAUNCH[0]).name:
    if "=" in LAUNCH[0]:
        os.environ.update([LAUNCH[0].split("=", 1)])
    del LAUNCH[0]
OPENMPI = MPI == "openmpi"
RANKS = 5

# A launcher that writes what the benchmark would, but hangs or fails for some algorithms.
FAKE = """#!/usr/bin/env python3
import json, pathlib, sys, time
words = sys.argv[1:]
if words == ["--version"]:
    print("mpirun (Open MPI) 4.1.4" if OPENMPI else "HYDRA build details:")
    sys.exit(0)
sizes = [int(size) for size in words[words.index("--sizes") + 1].split(",")]
file = pathlib.Path(words[words.index("--json") + 1])
line = " ".join(words)
report = json.loads(pathlib.Path(TEMPLATE).read_text())
point = report["points"][0]
report["points"] = []
with open(LOG, "a") as log:
    log.write(line + "\\n")
for size in sizes:
    if HANGING in line and size == 64:
        time.sleep(100)
    if FAILING in line and size == 8:
        sys.exit("an Error of its own")
    seconds = [0.5 if WINNING in line else 1.0] * 9
    report["points"].append({**point, "collective": "allreduce", "bytes": size, "seconds": seconds})
    beside = file.with_suffix(".new")
    beside.write_text(json.dumps(report))
    beside.rename(file)
"""


def run(*words, status=0, **variables):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=200, env={**os.environ, **variables})
    if done.returncode != status:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def rounding(*calls, **variables):
    """The bits of sums, by call."""
    done = run(*LAUNCH, str(RANKS), ROUNDING, *calls, **variables)
    return dict(line.split() for line in done.stdout.splitlines())


def winning_at(best, collective, algorithm, setting):
    """The points of a report in which an algorithm is faster than the default at one size, and not beside it."""
    return [{"collective": collective, "bytes": bytes, "algorithm": name, "number": setting if OPENMPI and name == algorithm
             else 0, "segment": 0, "seconds": [[0.5 if (name, bytes) == (algorithm, best) else 1] * 9] * 2}
            for name in (algorithm, "default") for bytes in (best - 1, best, best + 1)]


def names_in_library():
    """What the library of MPICH that the program is linked with calls its algorithms in a file of rules."""
    path = re.search(r"libmpi\S* => (/\S+)", run("ldd", ROUNDING).stdout)[1]
    return {name.decode() for name in re.findall(rb"algorithm=(MPIR_\w+)", pathlib.Path(path).read_bytes())}


def forcing(collective, algorithm):
    """The algorithm for all calls: of Open MPI a number, of MPICH a name."""
    if OPENMPI:
        return {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", f"OMPI_MCA_coll_tuned_{collective}_algorithm": str(algorithm)}
    return {f"MPIR_CVAR_{collective.upper()}_DEVICE_COLLECTIVE": "0",
            f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM": algorithm}


# Numbers are Open MPI's.
ALGORITHMS = {
    "allreduce": {"basic_linear": 1, "ring": 4, "rabenseifner": 6} if OPENMPI else {"smp": "smp", "nb": "nb"},
    "reduce_scatter_block": {"basic_linear": 1, "recursive_halving": 3, "recursive_doubling": 2}
    if OPENMPI else {"pairwise": "pairwise", "recursive_doubling": "recursive_doubling"},
}


class Native(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def fake_launcher(self, hanging="nothing", failing="nothing", winning="nothing"):
        template = self.folder / "template.json"
        run(*LAUNCH, "2", QUADRILLE, "bench", "allreduce", "--sizes", "8", "--algorithms", "none", "--time", "0.01",
            "--json", str(template))
        launcher = self.folder / "mpirun"
        text = FAKE.replace("TEMPLATE", repr(str(template))).replace("LOG", repr(str(self.folder / "log")))
        text = text.replace("HANGING", repr(hanging)).replace("FAILING", repr(failing)).replace("WINNING", repr(winning))
        launcher.write_text(text.replace("OPENMPI", repr(OPENMPI)))
        launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
        return str(launcher)

    def tune(self, *words, status=0, **variables):
        done = subprocess.run([QUADRILLE, "tune", "--native", "--output", "native.json", *words], cwd=self.folder,
                              capture_output=True, text=True, check=False, timeout=200, env={**os.environ, **variables})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def report(self):
        return json.loads((self.folder / "native.json").read_text())

    def export(self, report, *words, status=0):
        """The variables to set."""
        source = self.folder / "made.json"
        source.write_text(json.dumps(report))
        done = run(QUADRILLE, "export", f"--{MPI}", str(self.folder / "rules.json"), "--from", str(source), *words,
                   status=status)
        return dict(re.findall(r"^  export (\w+)=(.*)$", done.stdout, re.MULTILINE)), done.stdout

    def test_what_hangs_or_fails_is_skipped_and_the_rest_measured(self):
        hanging, failing, winning = (("_algorithm=2", "_algorithm=3", "_algorithm=1") if OPENMPI else
                                     ("ALGORITHM smp", "ALGORITHM nb", "ALGORITHM recursive_doubling"))
        launcher = self.fake_launcher(hanging, failing, winning)
        done = self.tune("--sizes", "8,64,512", "--timeout", "5", "--segments", "none", "allreduce", "--", launcher)
        report = self.report()
        self.assertTrue(report["complete"])
        names = [("nonoverlapping", 64, "not done in 5 s"), ("recursive_doubling", 8, "an Error of its own")] if OPENMPI \
            else [("smp", 64, "not done in 5 s"), ("nb", 8, "an Error of its own")]
        for algorithm, size, why in names:
            skipped = [one for one in report["skipped"] if one["algorithm"] == algorithm]
            self.assertEqual({one["bytes"] for one in skipped}, {size})
            self.assertIn(why, skipped[0]["reason"])
            self.assertIn(f"allreduce {algorithm} is skipped at {size} B: ", done.stderr)
            measured = {one["bytes"] for one in report["points"] if one["algorithm"] == algorithm}
            self.assertEqual(measured, {8, 64, 512} - {size})
            self.assertEqual(len(skipped), 1)  # not tried again in the second round
        # The default between all others, and no more launches than were announced, but for one each that failed.
        launches = (self.folder / "log").read_text().splitlines()
        defaults = sum("ALGORITHM" not in line and "_algorithm=" not in line for line in launches)
        self.assertEqual(len(launches), 2 * defaults - 1 + len(names))
        self.assertIn(f"launch 2 of {2 * defaults - 1}: ", done.stderr)
        is_default = [not re.search("ALGORITHM|_algorithm=", before) for before in launches]
        self.assertTrue(is_default[0] and is_default[-1])
        self.assertFalse(any(one and other for one, other in zip(is_default, is_default[1:])))
        self.assertIn(" left", done.stderr)
        self.assertEqual([path.name for path in self.folder.glob(".quadrille*")], [])
        variables, text = self.export(report)
        self.assertTrue(variables)
        self.assertIn("allreduce, 8 B to 512 B on 2 ranks: " + ("basic_linear" if OPENMPI else "recursive_doubling"), text)
        self.assertIn("0.5-0.5 of the default's time", text)

    def test_when_the_time_is_up_no_more_is_launched(self):
        words = ("allreduce", "barrier", "--segments", "none", "--sizes", "8")
        done = self.tune(*words, "--time", "0.0001", "--", self.fake_launcher())
        launches = (self.folder / "log").read_text().splitlines()
        self.assertEqual(len(launches), 1)
        self.assertRegex(done.stderr, r"the time for allreduce is up: (\d+) of \1 launches are left out")
        self.assertRegex(done.stderr, r"the time for barrier is up: (\d+) of \1 launches are left out")
        report = self.report()
        self.assertFalse(report["complete"])
        self.assertIn("--time 0.0001 -- ", report["command"])
        self.assertEqual([(one["algorithm"], one["bytes"]) for one in report["points"]], [("default", 8)])

    def test_collectives_share_the_time(self):
        # Hundreds of launches take more than three seconds.
        words = ("allreduce", "barrier", "--segments", "none", "--sizes", "8", "--rounds", "100", "--time", "0.05")
        done = self.tune(*words, "--", self.fake_launcher())
        launches = (self.folder / "log").read_text().splitlines()
        for collective in ("allreduce", "barrier"):
            self.assertTrue(any(f" {collective} --sizes" in line for line in launches))
            self.assertRegex(done.stderr, rf"the time for {collective} is up: \d+ of \d+ launches are left out")

    def test_a_setting_that_changes_the_default_is_named(self):
        variable = "OMPI_MCA_coll_tuned_use_dynamic_rules" if OPENMPI else "MPIR_CVAR_BCAST_INTRA_ALGORITHM"
        done = self.tune("bcast", "--", *LAUNCH, "2", status=2, **{variable: "binomial"})
        self.assertIn(f"{variable} changes the MPI's default", done.stderr)
        done = self.tune("bcast", "--", *LAUNCH, "2", f"{variable}=1", status=2)
        self.assertIn(f"{variable}=1 changes the MPI's default", done.stderr)
        done = self.tune("scan", "--", *LAUNCH, "2", status=2)
        self.assertIn("'scan'", done.stderr)

    def test_the_mpis_own_algorithms_are_measured(self):
        collective = "reduce_scatter_block" if OPENMPI else "barrier"
        self.tune("--sizes", "64", "--each", "0.01", collective, "--", *LAUNCH, "2")
        report = self.report()
        self.assertEqual((report["library"], report["ranks"], report["nodes"]), (MPI, 2, 1))
        self.assertEqual(report["skipped"], [])
        algorithms = {one["algorithm"]: one for one in report["points"]}
        self.assertIn("default", algorithms)
        self.assertIn("butterfly" if OPENMPI else "smp", algorithms)
        self.assertTrue(all(one["low"] <= one["median"] <= one["high"] for one in algorithms.values()))
        self.assertEqual(len(algorithms["default"]["seconds"]), 2 * (len(algorithms) - 1) + 1)
        if not OPENMPI:
            self.assertIn("collective=ialltoallw", report["trees"]["own"])

    def test_the_mpi_takes_the_rules(self):
        """By the order of its sums: in the rules' sizes and on their ranks as forced, else as by default."""
        calls = [f"{collective}:{bytes}{ranks}" for collective in ALGORITHMS for bytes in (720, 1440, 23040)
                 for ranks in ("", ":3")]
        usual = rounding(*calls)
        self.tune("--sizes", "8", "barrier", "--", self.fake_launcher())  # for MPICH's default
        report = self.report()
        report.update(ranks=RANKS, points=[])
        expected = dict(usual)
        chosen = 0
        for collective, algorithms in ALGORITHMS.items():
            call = f"{collective}:1440"
            for algorithm, setting in algorithms.items():
                forced = rounding(*calls, **forcing(collective, setting))
                # Different for this size, and for others and fewer ranks, too, which the rule must not concern.
                others = [one for one in calls if one.startswith(collective) and one != call and forced[one] != usual[one]]
                if forced[call] == usual[call] or not others:
                    continue
                chosen += 1
                expected[call] = forced[call]
                report["points"] += winning_at(1440, collective, algorithm, setting)
                break
        self.assertEqual(chosen, len(ALGORITHMS))
        variables, text = self.export(report, *(["--commutative"] if OPENMPI else []))
        self.assertEqual(rounding(*calls, **variables), expected, text)
        self.assertNotEqual(usual, expected)
        # Without a rule nothing is written.
        (self.folder / "rules.json").unlink()
        report["points"] = [one for one in report["points"] if one["algorithm"] == "default"]
        self.export(report, status=1)
        self.assertFalse((self.folder / "rules.json").exists())

    @unittest.skipIf(OPENMPI, "Open MPI's are numbers, tested above")
    def test_rules_set_the_parameters_of_mpichs_algorithms(self):
        library = names_in_library()
        self.assertIn("MPIR_Allreduce_intra_recursive_doubling", library)
        algorithms = [name for name in ("tree", "ring") if f"MPIR_Allreduce_intra_{name}" in library]
        if not algorithms:
            self.skipTest("before 4.2 MPICH's algorithms have no parameters")
        self.tune("--sizes", "8", "barrier", "--", self.fake_launcher())  # for MPICH's default
        report = self.report()
        call = "allreduce:1440"
        forced = {algorithm: rounding(call, **forcing("allreduce", algorithm)) for algorithm in algorithms}
        self.assertNotIn(rounding(call), forced.values())
        for algorithm in algorithms:
            report.update(ranks=RANKS, points=winning_at(1440, "allreduce", algorithm, algorithm))
            variables, text = self.export(report)
            self.assertEqual(rounding(call, **variables), forced[algorithm], text)


if __name__ == "__main__":
    unittest.main()
