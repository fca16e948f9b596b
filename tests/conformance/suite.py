"""MPICH's test suite: its lists of tests, and how it is fetched and built."""

import collections
import collections.abc
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
UPSTREAM = "4.0.2"  # of MPICH: the lists of passing tests hold for its test suite
LEAST_PROGRAMS = 100  # built of the 136 in the list: all with MPICH, 116 with Open MPI, which lacks MPI-4
LEAST_LIMIT = 120  # seconds a test may take, if its own limit is not larger


@dataclasses.dataclass(frozen=True)
class Mpi:
    compiler: str
    package: str
    preprocessor_flags: str
    launcher: tuple
    variable: collections.abc.Callable  # options that set a variable for the ranks
    environment: dict
    spins: bool  # while it waits, whatever it is told: see yield.c


MPIS = {
    "openmpi": Mpi(
        compiler="mpicc.openmpi",
        package="libopenmpi3",
        # The suite calls two functions that MPI 3.0 removed; without the first flag they are macros of mpi.h.
        preprocessor_flags="-DOMPI_OMIT_MPI1_COMPAT_DECLS=1 -DMPI_Type_hvector=MPI_Type_create_hvector"
        " -DMPI_Type_hindexed=MPI_Type_create_hindexed",
        # Single copy needs a permission that containers lack, and warns in the test's output.
        launcher=("mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
                  "--mca", "pml", "ob1", "--mca", "btl", "self,vader",
                  "--mca", "btl_vader_single_copy_mechanism", "none"),
        variable=lambda name, value: ["-x", f"{name}={value}"],
        environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        spins=False,
    ),
    "mpich": Mpi(
        compiler="mpicc.mpich",
        package="libmpich12",
        preprocessor_flags="",
        launcher=("mpirun.mpich",),
        variable=lambda name, value: ["-genv", name, value],
        environment={},
        spins=True,
    ),
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """A line of a list of tests: program, ranks, then key=value any number of times."""
    line: str
    program: str
    ranks: int
    arguments: tuple
    environment: tuple
    limit: int
    result_test: str
    expected_to_fail: bool


def die(message):
    sys.exit(f"conformance: {message}")


def parse_entry(line):
    program, *rest = line.split()
    ranks, *options = rest or ["2"]
    values = collections.defaultdict(list)
    for option in options:
        key, _, value = option.partition("=")
        if key not in ("arg", "env", "timeLimit", "resultTest", "xfail", "strict", "mem"):
            die(f"unknown key in: {line}")
        values[key].append(value)
    return Entry(
        line=" ".join(line.split()), program=program, ranks=int(ranks), arguments=tuple(values["arg"]),
        environment=tuple(values["env"]), limit=max([LEAST_LIMIT] + [int(limit) for limit in values["timeLimit"]]),
        result_test=values["resultTest"][-1] if values["resultTest"] else "", expected_to_fail=bool(values["xfail"]))


def read_list(path):
    if not path.is_file():
        die(f"{path} is missing")
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [parse_entry(line) for line in lines if line]


def passing_list(mpi_name):
    return HERE / f"passing.{mpi_name}.txt"


def package_version(package):
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=True, capture_output=True,
                          text=True).stdout


def logged(command, log, **options):
    """Runs a command, its output appended to the log; gives its exit status."""
    with log.open("a") as stream:
        return subprocess.run(command, stdout=stream, stderr=subprocess.STDOUT, **options).returncode


def die_with_log(message, log):
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-40:])
    die(f"{message}; the end of {log}:\n{tail}")


def apt_options(folder):
    """Options of apt-get for the source packages of the configured Debian mirrors, with nothing of the system's
    changed."""
    sources, lists = folder / "sources", folder / "lists"
    for path in (sources, lists / "partial"):
        path.mkdir(parents=True, exist_ok=True)
    configured = [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*.*")]
    for path in configured:
        text = path.read_text() if path.suffix in (".list", ".sources") and path.is_file() else ""
        if "debian" in text:
            text = re.sub(r"^deb\s", "deb-src ", text, flags=re.MULTILINE)
            text = re.sub(r"^Types:.*", "Types: deb-src", text, flags=re.MULTILINE)
            (sources / path.name).write_text(text)
    settings = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": sources, "Dir::State::lists": lists,
                "Dir::Cache": folder, "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "",
                "APT::Sandbox::User": "root"}
    return [part for key, value in settings.items() for part in ("-o", f"{key}={value}")]


def fetch_source(work):
    """Gives the folder of MPICH's source, fetched from Debian unless it is there."""
    source = work / f"mpich-{UPSTREAM}"
    if (source / "test/mpi/configure").is_file():
        return source
    log = work / "fetch.log"
    archive = work / f"mpich_{UPSTREAM}.orig.tar.xz"
    if not archive.is_file():
        options = apt_options(work / "apt")
        logged(["apt-get", *options, "update"], log)
        if logged(["apt-get", *options, "source", "--download-only", "mpich"], log, cwd=work) or not archive.is_file():
            die_with_log(f"no source package of MPICH {UPSTREAM}", log)
    if logged(["tar", "--extract", "--file", archive, f"mpich-{UPSTREAM}/test/mpi"], log, cwd=work):
        die_with_log(f"cannot unpack {archive}", log)
    return source


def build(mpi_name, work, source, jobs):
    """Builds what is not built yet, from the source folder if one is given, else from Debian's."""
    if source and not (source / "test/mpi/configure").is_file():
        die(f"{source} is not a source of MPICH")
    work.mkdir(parents=True, exist_ok=True)
    folder, log = work / mpi_name, work / f"build.{mpi_name}.log"
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        log.unlink(missing_ok=True)
        folder.mkdir()
        make(MPIS[mpi_name], source or fetch_source(work), folder, jobs, log)
    check_build(mpi_name, folder, log)
    (folder / "done").touch()


def make(mpi, source, folder, jobs, log):
    # Without --disable-shared the programs would be scripts, and the library preloaded into their shell.
    configure = [source.resolve() / "test/mpi/configure", "--quiet", "--disable-shared", "--disable-fortran",
                 "--disable-cxx", "--disable-spawn", "--disable-dependency-tracking", "CFLAGS=-O1 -w",
                 f"CPPFLAGS={mpi.preprocessor_flags}", f"CC={mpi.compiler}", f"MPICC={mpi.compiler}"]
    commands = [configure, ["make", "-C", "dtpools"], ["make", "-C", "util", "libmtest_single.la"]]
    if mpi.spins:
        commands.append(["cc", "-O2", "-shared", "-fPIC", "-o", "yield.so", HERE / "yield.c"])
    for command in commands:
        if logged(command, log, cwd=folder):
            die_with_log(f"cannot build the test suite with {mpi.compiler}", log)
    logged(["make", "--keep-going", f"-j{jobs}", "-C", "coll"], log, cwd=folder)  # some need a newer MPI


def check_build(mpi_name, folder, log):
    programs = {entry.program for entry in read_list(folder / "coll/testlist")}
    built = sum((folder / "coll" / program).is_file() for program in programs)
    print(f"{built} of {len(programs)} programs built with {mpi_name}")
    if built < LEAST_PROGRAMS:
        die_with_log("too few programs built", log)
