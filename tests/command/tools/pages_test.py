#!/usr/bin/env python3
"""Runs the commands of pages as they are written there: every line behind "$ " in a page's console blocks, in order, in
one folder. What the page tells to save as a file is saved. The lines below a command are its output, in any order and
with any blanks between words; where there is "...", there may be others, and where there is a number with a point, which
somebody has measured, only the exit status counts.

    pages_test.py --quadrille FILE --program FILE --mpirun FILE PAGE...
    pages_test.py --install BUILD PAGE...

--quadrille and --mpirun stand for those commands, and --program, of that MPI, for ./program. --install: everything is as
cmake installs that build; a page says /usr/local for the place.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))
import harness  # pylint: disable=wrong-import-position

SKIPPED = 77
PREFIX = "prefix"
ROOT = pathlib.Path(__file__).resolve().parents[3]
# A file to save, or commands.
PART = re.compile(r"[Ss]ave this as `(?P<name>[^`]+)`[^`]*^```\w*\n(?P<text>.*?)^```|^```console\n(?P<block>.*?)^```",
                  re.MULTILINE | re.DOTALL)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--quadrille", "--program", "--mpirun", "--install"):
        parser.add_argument(option, type=lambda name: pathlib.Path(name).absolute())
    parser.add_argument("pages", type=pathlib.Path, nargs="+", metavar="PAGE")
    return parser.parse_args()


def commands_in(block):
    """(command, lines of its output) of each command."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def shim(folder, name, target):
    # Not a link: Open MPI looks for the rest of itself beside its launcher.
    (folder / name).write_text(f'#!/bin/sh\nexec {target} "$@"\n', encoding="utf-8")
    (folder / name).chmod(0o755)


def environment(given, folder):
    binaries = folder / PREFIX / "bin"
    if given.install:
        subprocess.run(["cmake", "--install", given.install, "--prefix", binaries.parent], check=True,
                       stdout=subprocess.DEVNULL)
    binaries.mkdir(parents=True, exist_ok=True)
    if given.quadrille:
        (binaries / "quadrille").symlink_to(given.quadrille)
    if given.mpirun:
        shim(binaries, "mpirun", given.mpirun)
    packages = ":".join(str(path.parent) for path in binaries.parent.rglob("quadrille*.pc"))
    return {
        **os.environ,
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": packages,
        "XDG_RUNTIME_DIR": str(folder),
        # What is measured here is not for the user's own programs, nor for the other tests.
        "XDG_CACHE_HOME": str(folder / "cache"),
        # A test may run as root, and on a machine of one core: under Open MPI 4, and 5.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
    }


def lines_of(text):
    return sorted(" ".join(line.split()) for line in text.splitlines() if line.strip())


def is_as_written(expected, done, prefix):
    """What a page shows is what comes on a terminal; where it shows all, errors and reports are not looked at."""
    if not expected or any(re.search(r"\d\.\d", line) for line in expected):
        return True
    expected = lines_of("\n".join(expected).replace("/usr/local", str(prefix)))
    if "..." in expected:
        return set(expected) - {"..."} <= set(lines_of(done.stdout + "\n" + done.stderr))
    return expected == lines_of(done.stdout)


def finish(command, folder, around, seconds):
    """Like subprocess.run, but ends all that the command has started if it takes longer; None then."""
    with subprocess.Popen(command, shell=True, cwd=folder, env=around, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


class Page:
    """A page whose commands are run in a folder."""

    def __init__(self, path, folder, around, seconds):
        self.path, self.folder, self.around, self.seconds = path, folder, around, seconds
        self.ran = self.failed = self.skipped = 0
        self.cluster = False  # is up, by a command of the page

    def run(self):
        for part in PART.finditer(self.path.read_text(encoding="utf-8")):
            if part["name"]:
                (self.folder / part["name"]).write_text(part["text"], encoding="utf-8")
                continue
            for command, expected in commands_in(part["block"]):
                self.ran += 1
                if not self.run_command(command, expected):
                    return

    def run_command(self, command, expected):
        """Whether those after it can be run."""
        is_up = "quadrille cluster up" in command
        if is_up and not self.cluster and self.cluster_status() == 0:
            print(f"FAILED: {command}: there is a cluster already, which is not this test's: quadrille cluster down")
            self.failed += 1
            return False
        done = finish(command, self.folder, self.around, self.seconds)
        if is_up and done and done.returncode != 0 and harness.why_impossible([]):
            print(f"SKIP: {command}, and what is below: {done.stderr.strip()}")
            self.skipped += 1
            return False
        self.cluster |= is_up and done is not None and done.returncode == 0
        fine = done is not None and done.returncode == 0 and is_as_written(expected, done, self.folder / PREFIX)
        print(f"{'ok' if fine else 'FAILED'}: {command}", flush=True)
        if not fine:
            self.failed += 1
            print(f"exit status {done.returncode}\n{done.stdout}{done.stderr}" if done
                  else f"not done after {self.seconds} s")
        return True

    def cluster_status(self):
        return subprocess.run(["quadrille", "cluster", "status"], env=self.around, check=False,
                              capture_output=True).returncode

    def end(self):
        if self.cluster:
            subprocess.run(["quadrille", "cluster", "down"], env=self.around, check=False, capture_output=True)


def check(path, given):
    """How many commands failed, and how many could not be run here."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page = Page(path, folder, environment(given, folder), 400 if given.install else 100)
        (folder / "examples").symlink_to(ROOT / "examples")
        if given.program:
            (folder / "program").symlink_to(given.program)
        try:
            page.run()
        finally:
            page.end()
    if page.ran < 4:
        print(f"FAILED: {path} has fewer than 4 commands: are its blocks still called console?")
        page.failed += 1
    return page.failed, page.skipped


def main():
    given = arguments()
    results = [check(page, given) for page in given.pages]
    failed, skipped = (sum(counts) for counts in zip(*results))
    sys.exit(1 if failed else SKIPPED if skipped else 0)


main()
