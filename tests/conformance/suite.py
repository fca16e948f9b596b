"""MPICH's test suite: its lists of tests, and how it is fetched and built."""

import collections
import dataclasses
import pathlib
import shutil

import mpis
import sources

HERE = pathlib.Path(__file__).resolve().parent
# The folders of tests that use collectives: those of the collectives themselves, and the others.
FOLDERS = ("coll", "comm", "attr", "errhan", "datatype", "topo", "threads/coll", "threads/comm", "threads/init")
UPSTREAM = "4.0.2"  # the version of MPICH whose test suite is used under all MPIs
LEAST_SHARE = 0.73  # of the programs that must build: all do with MPICH; Open MPI lacks MPI-4
LEAST_LIMIT = 120  # seconds a test may take, if its own limit is not larger


@dataclasses.dataclass(frozen=True)
class Entry:
    """A line of a list of tests: folder/program, ranks, then key=value any number of times."""
    line: str
    folder: str
    program: str
    ranks: int
    arguments: tuple
    environment: tuple
    limit: int
    result_test: str
    expected_to_fail: bool


def parse_entry(line):
    path, *rest = line.split()
    folder, _, program = path.rpartition("/")
    ranks, *options = rest or ["2"]
    values = collections.defaultdict(list)
    for option in options:
        key, _, value = option.partition("=")
        if key not in ("arg", "env", "timeLimit", "resultTest", "xfail", "strict", "mem"):
            sources.die(f"unknown key in: {line}")
        values[key].append(value)
    return Entry(
        line=" ".join(line.split()), folder=folder, program=program, ranks=int(ranks), arguments=tuple(values["arg"]),
        environment=tuple(values["env"]), limit=max([LEAST_LIMIT] + [int(limit) for limit in values["timeLimit"]]),
        result_test=values["resultTest"][-1] if values["resultTest"] else "", expected_to_fail=bool(values["xfail"]))


def read_list(path, prefix=""):
    if not path.is_file():
        sources.die(f"{path} is missing")
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [parse_entry(prefix + line) for line in lines if line]


def tests_of(built, folder):
    """Gives the tests of one of the suite's folders, as its own list has them; built is where the suite was built."""
    made = built / folder / "testlist"  # some lists are made by configure
    return read_list(made if made.is_file() else built / "source/test/mpi" / folder / "testlist", f"{folder}/")


def passing_list(mpi_name):
    return HERE / f"passing.{mpi_name}-{mpis.version_of(mpi_name)}.txt"


def build(mpi_name, work, source, folders, jobs):
    """Builds what is not built yet, from the source folder if one is given, else from Debian's."""
    if source and not (source / "test/mpi/configure").is_file():
        sources.die(f"{source} is not a source of MPICH")
    work.mkdir(parents=True, exist_ok=True)
    built, log = work / mpi_name, work / f"build.{mpi_name}.log"
    if not (built / "done").exists():
        shutil.rmtree(built, ignore_errors=True)
        log.unlink(missing_ok=True)
        built.mkdir()
        source = source or sources.fetch(work, "mpich", f"mpich_{UPSTREAM}.orig.tar.xz", "test/mpi")
        make_base(mpis.MPIS[mpi_name], source, built, log)
        (built / "done").touch()
    for folder in folders:
        if not (built / folder / "done").exists():
            # Some need a newer MPI.
            sources.logged(["make", "--keep-going", f"-j{jobs}", "-C", folder], log, cwd=built)
        (built / folder / "done").touch()
    check_build(mpi_name, built, folders, log)


def make_base(mpi, source, built, log):
    """Configures the suite and makes the parts that all its folders need."""
    # Without --disable-shared the programs would be scripts, and the library preloaded into their shell.
    configure = [source.resolve() / "test/mpi/configure", "--quiet", "--disable-shared", "--disable-fortran",
                 "--disable-cxx", "--disable-spawn", "--disable-dependency-tracking", "--enable-threads=multiple",
                 "CFLAGS=-O1 -w", f"CPPFLAGS={mpi.preprocessor_flags}", f"CC={mpi.compiler}", f"MPICC={mpi.compiler}"]
    (built / "source").symlink_to(source.resolve())
    commands = [configure, ["make", "-C", "dtpools"], ["make", "-C", "util", "libmtest_single.la", "libmtest.la"]]
    for command in commands:
        if sources.logged(command, log, cwd=built):
            sources.die_with_log(f"cannot build the test suite with {mpi.compiler}", log)


def check_build(mpi_name, built, folders, log):
    programs = {f"{entry.folder}/{entry.program}" for folder in folders for entry in tests_of(built, folder)}
    count = sum((built / program).is_file() for program in programs)
    print(f"{count} of {len(programs)} programs built with {mpi_name}", flush=True)
    if count < LEAST_SHARE * len(programs):
        sources.die_with_log("too few programs built", log)
