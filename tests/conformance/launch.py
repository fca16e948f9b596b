"""Runs one test, and leaves no process behind."""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import uuid

import mpis
import sources
import suite

TAG = "QUADRILLE_CONFORMANCE_TAG"  # marks the processes of one launch: Hydra's ranks leave its session
RUNNING = set()  # the tags of the launches under way
# Open MPI 5's launcher, when its remote shell was started before the launcher had put it into a group of processes; the
# shell has done so itself.
HARMLESS = re.compile(r"\[\S+\] plm:ssh: Warning: setpgid\(\d+,\d+\) failed in parent with errno=Permission denied")
LOCK = threading.RLock()  # held to start a launch, and for good once none may start any more


@dataclasses.dataclass
class Outcome:
    entry: suite.Entry
    passed: bool
    seconds: float
    output: str
    report: dict  # the drop-in's; empty if there is none
    timed_out: bool


def tagged_processes(tag):
    mark = f"{TAG}={tag}".encode()
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
        except OSError:
            pass  # gone, or not ours


def kill_tagged(tag):
    while processes := list(tagged_processes(tag)):
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)


def stop_all(number, _frame):
    """A signal handler that ends all launches and this process."""
    LOCK.acquire()
    for tag in list(RUNNING):
        kill_tagged(tag)
    os._exit(128 + number)


def end_at_last(process, tag, ended):
    ended.set()
    process.terminate()  # lets the launcher remove its files
    time.sleep(5)
    kill_tagged(tag)


def run_command(command, folder, environment, limit):
    """Runs a launcher with its ranks; gives output, exit status (none after the limit) and seconds."""
    tag = uuid.uuid4().hex
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:  # a pipe would stay open with a rank left behind
        with LOCK:
            RUNNING.add(tag)
            process = subprocess.Popen(command, cwd=folder, env={**os.environ, **environment, TAG: tag},
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       start_new_session=True)
        ended = threading.Event()
        limited = threading.Timer(limit, end_at_last, (process, tag, ended))
        limited.start()
        status = process.wait()  # with a limit it would look now and then, and be late by as much
        seconds = time.monotonic() - start
        limited.cancel()
        if ended.is_set():
            status = None
        kill_tagged(tag)
        RUNNING.discard(tag)
        output.seek(0)
        return output.read().decode(errors="replace"), status, seconds


def is_success(entry, output, status):
    """What MPICH's runtests takes for a pass."""
    if status is None:
        return False
    if entry.result_test in ("TestStatus", "TestErrFatal"):
        return status != 0
    lines = [line.strip() for line in output.splitlines() if not HARMLESS.match(line)]
    said = [line for line in lines if line in ("No Errors", "No errors")]
    silent = all(line in said or line == "Test Passed" for line in lines)
    return len(said) == 1 and silent and (status != 0) == (entry.result_test == "TestStatusNoErrors")


def command_line(mpi_name, entry, variables, cluster):
    """The test under the MPI's launcher, or on the nodes of a cluster by the command `quadrille` that brought it up."""
    mpi, program = mpis.MPIS[mpi_name], [f"./{entry.program}", *entry.arguments]
    if cluster:
        settings = [f"{name}={value}" for name, value in variables]
        # Round robin, so that tests of few ranks are on several nodes, too.
        words = ["cluster", "run", "-n", str(entry.ranks), "--mpi", mpi_name, "--map", "cyclic"]
        return [cluster, *words, "--", "env", *settings, *program]
    options = [option for name, value in variables for option in mpi.variable(name, value)]
    return [*mpis.launcher(mpi_name), *options, "-n", str(entry.ranks), *program]


def run_test(mpi_name, work, entry, libraries=(), variables=(), as_installed=False, cluster=None):
    """Runs a test once. Libraries to preload and variables, (name, value), are for the ranks, not for the launcher.
    Unless everything is to be as it is installed, waits yield the core under every MPI."""
    mpi, built = mpis.MPIS[mpi_name], work / mpi_name
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.json")
        variables = [*variables, *(text.split("=", 1) for text in entry.environment)]
        libraries = [*libraries, *([] if as_installed else sources.yielding(mpi, work))]
        if libraries:
            variables.append(("LD_PRELOAD", ":".join(map(str, libraries))))
        variables.append(("QUADRILLE_REPORT", str(report)))
        command = command_line(mpi_name, entry, variables, cluster)
        output, status, seconds = run_command(command, built / entry.folder, mpi.environment, entry.limit)
        text = report.read_text() if report.exists() else "{}"
    if status is None:
        output += f"\nkilled after {entry.limit} s"
    passed = is_success(entry, output, status)
    try:
        contents = json.loads(text)
    except ValueError:
        passed, contents, output = False, {}, f"{output}\nunreadable report: {text}"
    return Outcome(entry, passed, seconds, output, contents, status is None)
