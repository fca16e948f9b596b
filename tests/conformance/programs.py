#!/usr/bin/env python3
"""Runs real programs without and with the drop-in, which replaces all their collectives, and compares the results.

Alone under MPICH, whose waits spin, a library makes them yield the core, or programs with more ranks than cores would
take many times as long. A program's facts, what it says of its results, must be the same both times, and what they must contain they must
contain. Programs that Debian has only for Open MPI are built from their sources for MPICH.
"""

import argparse
import collections.abc
import dataclasses
import json
import pathlib
import re
import shutil
import signal
import statistics
import sys
import tempfile

import launch
import mpis
import sources

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 900  # seconds
SCALAPACK = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack")


@dataclasses.dataclass(frozen=True)
class Program:
    packages: tuple  # of Debian, that it needs
    mpis: tuple
    ranks: int
    least_served: int  # calls, of all ranks
    command: collections.abc.Callable  # (MPI, work folder, run folder) -> words; writes its input into the run folder
    facts: collections.abc.Callable  # (output, run folder) -> lines
    success: str  # a regular expression that some fact must match, and
    failure: str = "$^"  # one that none may
    status: int = 0  # that it ends with; others than 0 leave no report


def lines_matching(pattern, text):
    return [line.strip() for line in text.splitlines() if re.search(pattern, line)]


# mpi4py: all its methods.

def mpi4py_command(_mpi, _work, _folder):
    return ["/usr/bin/python3", HERE / "all_methods.py"]


# HPCC: HPL, PTRANS, random access, FFT, with their own validations.

HPL_SETTINGS = """SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir
RM = /bin/rm -f
TOUCH = touch
ARCH = quadrille
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
LAlib = -lblas
F2CDEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) $(LAlib) -lm
HPL_DEFS = $(F2CDEFS) $(HPL_INCLUDES)
CC = {compiler}
CCNOOPT = $(HPL_DEFS) -w
CCFLAGS = $(HPL_DEFS) -O2 -w
LINKER = {compiler}
LINKFLAGS =
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
"""


def build_hpcc(mpi, work):
    """Gives the program, built from Debian's source for this MPI unless it is there."""
    source = sources.fetch(work, "hpcc", "hpcc_1.5.0.orig.tar.gz")
    folder, log = work / f"hpcc.{mpi.compiler}", work / f"build.hpcc.{mpi.compiler}.log"
    if not (folder / "hpcc").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        (folder / "hpl/Make.quadrille").write_text(HPL_SETTINGS.format(compiler=mpi.compiler))
        if sources.logged(["make", "arch=quadrille"], log, cwd=folder):
            sources.die_with_log("cannot build HPCC", log)
    return folder / "hpcc"


def hpcc_command(mpi, work, folder):
    text = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text()
    text = re.sub(r"^1000 +Ns", "400 Ns", text, flags=re.MULTILINE)
    (folder / "hpccinf.txt").write_text(text)
    return [build_hpcc(mpi, work) if mpi.spins else "/usr/bin/hpcc"]


def hpcc_facts(_output, folder):
    text = (folder / "hpccoutf.txt").read_text()
    verdicts = re.findall(r"PASSED|FAILED", text)
    return [f"PASSED {verdicts.count('PASSED')} times", *["FAILED"] * verdicts.count("FAILED"),
            *lines_matching(r"_Errors=|Failure=|Failures=|^Success=|^PTRANS_residual=", text)]


# LAMMPS: its melt benchmark, with a smaller crystal.

LAMMPS_INPUT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 12 0 12 0 12
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 5 check yes
balance 1.05 shift xyz 5 1.05
fix 1 all nve
thermo 10
run 50
"""


def lammps_command(_mpi, _work, folder):
    (folder / "in.melt").write_text(LAMMPS_INPUT)
    return ["lmp", "-in", "in.melt", "-log", "none"]


def lammps_facts(output, _folder):
    """The table of energies, and how often neighbours were sought."""
    return lines_matching(r"^ +\d+( +-?[\d.]+(e[+-]\d+)?){5} *$|^Created|^Neighbor list builds|^Total # of neigh", output)


# FFTW: its tester, which compares transforms of many shapes with their definition.

FFTW_SHAPES = ("ofc32x16 obc32x16 ofc12x12x12 ibc24x7 ofc1024 ibc1536 ofr16x20 obr16x20 ifr8x9x10 ofc5x7x11 ofc]64x8 "
               "obc[24x18 ifc[]20x12 ok]12e01x16e10 ofc256x256").split()


def build_fftw(mpi, work):
    source = sources.fetch(work, "fftw3", "fftw3_3.3.10.orig.tar.gz")
    folder, log = work / f"fftw.{mpi.compiler}", work / f"build.fftw.{mpi.compiler}.log"
    if not (folder / "mpi/mpi-bench").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        configure = [source / "configure", "--quiet", "--enable-mpi", "--disable-fortran", "--disable-doc",
                     "--disable-dependency-tracking", "CFLAGS=-O1 -w", f"MPICC={mpi.compiler}"]
        for command in (configure, ["make", "-j2"]):
            if sources.logged(command, log, cwd=folder):
                sources.die_with_log("cannot build FFTW", log)
    return folder / "mpi/mpi-bench"


def fftw_command(mpi, work, _folder):
    verify = [word for shape in FFTW_SHAPES for word in ("--verify", shape)]
    return [build_fftw(mpi, work), "-v1", "--verify-rounds=2", *verify]


def fftw_facts(output, _folder):
    """A transform and whether its three errors are small; their digits depend on what the planner found fastest."""
    lines = [line.split() for line in output.splitlines()]
    return [f"{line[0]} {all(float(error) < 1e-13 for error in line[1:])}" for line in lines if len(line) == 4]


# ScaLAPACK: its testers, of double and of complex numbers, and those of BLACS and PBLAS.

# Not xdllt: it hangs without the drop-in. Two ranks call MPI_Bcast and MPI_Allreduce on one communicator at the same
# time, as `quadrille run --force --check` shows.
TESTERS = ("xdlu xdqr xdls xdinv xdhrd xdbrd xdtrd xdnep xdgblu xdptllt xdpbllt xdsvd xdsep xdgsep xzlu xzqr xzevc xzls "
           "PBLAS/dpb1tst PBLAS/dpb2tst PBLAS/zpb3tst").split()


def scalapack_command(tester):
    def command(mpi, _work, folder):
        data = pathlib.Path("/usr/share/scalapack")
        for path in (*data.glob("*.dat"), *data.glob("BLACS/*.dat"), *data.glob("PBLAS/*.dat")):
            shutil.copy(path, folder)
        return [SCALAPACK / f"{'mpich' if mpi.spins else 'openmpi'}-tests" / tester]
    return command


def scalapack_facts(output, _folder):
    """Verdicts, and sums of them; the residuals and times beside them differ from run to run."""
    verdicts = [word.lower() for word in re.findall(r"\b(?:PASSED|Passed|FAILED|Failed)\b", output)]
    return [*(f"{verdict} {verdicts.count(verdict)} times" for verdict in sorted(set(verdicts))),
            *lines_matching(r"TESTS;|tests? completed|tests? skipped", output)]


PROGRAMS = {
    "mpi4py": Program(("python3-mpi4py", "python3-numpy"), ("openmpi",), 4, 800, mpi4py_command,
                      lambda output, _folder: output.splitlines(), r"^\d+ methods, 0 faults$"),
    "hpcc": Program(("hpcc", "libblas-dev", "make"), ("openmpi", "mpich"), 4, 1000, hpcc_command, hpcc_facts,
                    r"^Success=1$", r"FAILED|_Errors=[^0]"),
    "lammps": Program(("lammps",), ("openmpi",), 4, 100, lammps_command, lammps_facts, r"^50 "),
    "fftw": Program(("make",), ("openmpi", "mpich"), 4, 100, fftw_command, fftw_facts, "True$", "False$"),
    **{f"scalapack/{tester.rpartition('/')[2]}":
       Program(("scalapack-mpi-test",), ("openmpi", "mpich"), 4, 100, scalapack_command(tester), scalapack_facts,
               r"^passed \d+ times$") for tester in TESTERS},
    # The last thing it tests is BLACS_ABORT, in which some of the output may be lost.
    "blacs": Program(("scalapack-mpi-test",), ("openmpi", "mpich"), 4, 0, scalapack_command("xFbtest"),
                     lambda output, _folder: lines_matching("TESTS;", output), r" 0 FAILED", r" [1-9]\d* FAILED",
                     status=255),
}


# One of its residuals is too large in 5 of 12 runs without the drop-in, under Open MPI: the fact that shows it, and the
# number of attempts.
FLAKY = {"scalapack/xdsep": (r"^failed [1-9]", 8)}


def missing_packages(names):
    needed = {package for name in names for package in PROGRAMS[name].packages}
    return sorted(package for package in needed if not mpis.is_installed(package))


def run_once(name, arguments, forced):
    """Gives facts, calls replaced (of all ranks), seconds, and the output of one run."""
    program, mpi = PROGRAMS[name], mpis.MPIS[arguments.mpi]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        report = folder / "report.json"
        words = program.command(mpi, arguments.work, folder)
        start = [*mpis.launcher(arguments.mpi), "-n", str(program.ranks)]
        if forced:
            start = [arguments.quadrille, "run", "--force", f"--report={report}", "--", *start]
        elif libraries := sources.yielding(mpi, arguments.work):
            start += ["env", f"LD_PRELOAD={libraries[0]}"]
        command = [*start, *words]
        output, status, seconds = launch.run_command([str(word) for word in command], folder, mpi.environment, LIMIT)
        if status != program.status:
            return [f"exit status {status}"], 0, seconds, output
        rows = json.loads(report.read_text())["calls"] if forced and status == 0 else []
        return program.facts(output, folder), sum(row["replaced"] for row in rows), seconds, output


def run_until_good(name, arguments, forced):
    """The same; repeated for a program that fails sporadically without the drop-in."""
    failure, attempts = FLAKY.get(name, ("", 1))
    for _ in range(attempts):
        result = run_once(name, arguments, forced)
        if not any(re.search(failure, fact) for fact in result[0]):
            break
    return result


def check(name, arguments):
    """Runs a program both ways; gives the errors, if any."""
    program = PROGRAMS[name]
    alone, _, seconds_alone, output_alone = run_until_good(name, arguments, False)
    forced, replaced, seconds, output = run_until_good(name, arguments, True)
    faults = []
    if not any(re.search(program.success, fact) for fact in alone):
        faults.append(f"alone it has no success:\n{output_alone[-3000:]}")
    faults += [f"alone it says: {fact}" for fact in alone if re.search(program.failure, fact)]
    if alone != forced:
        faults += [f"only alone: {fact}" for fact in alone if fact not in forced]
        faults += [f"only with the drop-in: {fact}" for fact in forced if fact not in alone]
        faults.append(f"the facts differ; the output's end with the drop-in:\n{output[-3000:]}")
    if replaced < program.least_served:
        faults.append(f"{replaced} calls replaced, at least {program.least_served} expected")
    print(f"{'FAILED' if faults else 'ok':<8}{name:<22}{len(alone):>5} facts, {replaced:>8} calls replaced, "
          f"{seconds_alone:6.1f} s alone, {seconds:6.1f} s with the drop-in", flush=True)
    for fault in faults:
        print(f"    {fault}", flush=True)
    return faults


def pace(name, arguments):
    """Times a program alone and as `quadrille run` starts it, with an empty cache, in turn; gives whether it is slower."""
    seconds = {"alone": [], "with": []}
    for number in range(arguments.pace):
        for way in list(seconds) if number % 2 == 0 else reversed(list(seconds)):
            with tempfile.TemporaryDirectory() as scratch:
                folder, cache = pathlib.Path(scratch, "run"), pathlib.Path(scratch, "cache")
                folder.mkdir()
                cache.mkdir()
                program, mpi = PROGRAMS[name], mpis.MPIS[arguments.mpi]
                start = [arguments.quadrille, "run", "--"] if way == "with" else []
                words = [*start, *mpis.launcher(arguments.mpi), "-n", program.ranks,
                         *program.command(mpi, arguments.work, folder)]
                environment = {**mpi.environment, "XDG_CACHE_HOME": str(cache)}
                _, status, taken = launch.run_command([str(word) for word in words], folder, environment, LIMIT)
            if status != program.status:
                print(f"{name}: exit status {status}")
                return True
            seconds[way].append(taken)
    alone, together = (statistics.median(times) for times in seconds.values())
    spread = max(max(times) / min(times) for times in seconds.values())
    print(f"{name:<22}{alone:8.2f} s alone,{together:8.2f} s with the drop-in: {together / alone:.3f}; times of one way "
          f"differ by up to {100 * (spread - 1):.0f} %", flush=True)
    return together > alone * max(1.03, spread)


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, launch.stop_all)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PROGRAM", help=f"some of: {', '.join(PROGRAMS)} (default: all)")
    parser.add_argument("--mpi", choices=sorted(mpis.MPIS), required=True, help="the MPI to run them under")
    parser.add_argument("--work", type=lambda text: pathlib.Path(text).resolve(), required=True, metavar="DIR",
                        help="folder for sources and what is built of them")
    parser.add_argument("--quadrille", type=lambda text: pathlib.Path(text).resolve(), required=True, metavar="COMMAND",
                        help="the command quadrille")
    parser.add_argument("--pace", type=int, metavar="N", help="only time them, N times alone and N times as `quadrille run`"
                        " starts them; exit status 1 if one is slower by more than its times differ")
    arguments = parser.parse_args()
    names = [name for name in arguments.names or PROGRAMS if arguments.mpi in PROGRAMS[name].mpis]
    if missing := missing_packages(names):
        sources.die(f"install these packages first: {' '.join(missing)}")
    arguments.work.mkdir(parents=True, exist_ok=True)
    failed = [name for name in names if (pace if arguments.pace else check)(name, arguments)]
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed")
    return bool(failed) or not names


if __name__ == "__main__":
    sys.exit(main())
