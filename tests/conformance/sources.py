"""Source packages of Debian 12, on later versions of Debian, too, and the commands that build them."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SUITE = "bookworm"


def die(message):
    sys.exit(f"conformance: {message}")


def logged(command, log, **options):
    """Runs a command, its output appended to the log; gives its exit status."""
    with log.open("a") as stream:
        return subprocess.run(command, stdout=stream, stderr=subprocess.STDOUT, **options).returncode


def die_with_log(message, log):
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-40:])
    die(f"{message}; the end of {log}:\n{tail}")


def yielding(mpi, work):
    """Gives what to preload so that ranks that wait let others run, where the MPI does not by itself: libraries, built
    unless they are there."""
    if not mpi.spins:
        return []
    library, log = work / "yield.so", work / "build.yield.log"
    if not library.is_file() and logged(["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "yield.c"], log):
        die_with_log("cannot build yield.so", log)
    return [library]


def mirror():
    """Gives the address of Debian's mirror, as apt is configured: not that of its security updates."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"]
    addresses = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    if not addresses:
        die("apt knows no mirror of Debian: apt-get update")
    return addresses[0]


def apt_options(folder):
    """Options of apt-get for the source packages of the configured Debian mirror, with nothing of the system's
    changed."""
    sources, lists = folder / "sources", folder / "lists"
    for path in (sources, lists / "partial"):
        path.mkdir(parents=True, exist_ok=True)
    (sources / "debian.list").write_text(f"deb-src {mirror()} {SUITE} main\n")
    settings = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": sources, "Dir::State::lists": lists,
                "Dir::Cache": folder, "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "",
                "APT::Sandbox::User": "root"}
    return [part for key, value in settings.items() for part in ("-o", f"{key}={value}")]


def fetch(work, package, archive, *parts):
    """Gives the folder that the archive of a source package unpacks to, or some parts of it, fetched from Debian unless
    it is there."""
    folder = work / archive.partition(".orig.")[0].replace("_", "-")
    if all((folder / part).exists() for part in parts or ("",)):
        return folder
    log = work / f"fetch.{package}.log"
    if not (work / archive).is_file():
        options = apt_options(work / "apt")
        logged(["apt-get", *options, "update"], log)
        logged(["apt-get", *options, "source", "--download-only", package], log, cwd=work)
        if not (work / archive).is_file():
            die_with_log(f"Debian's source package {package} has no {archive}", log)
    unpack = ["tar", "--extract", "--file", archive, f"--one-top-level={folder.name}", "--strip-components=1",
              "--wildcards", "--no-wildcards-match-slash"]
    if logged([*unpack, *(f"*/{part}" for part in parts)], log, cwd=work):
        die_with_log(f"cannot unpack {archive}", log)
    return folder
