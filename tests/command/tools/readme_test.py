#!/usr/bin/env python3
"""Runs the commands of README.md as they are written there: every line behind "$ " in its console blocks, in order, in
one folder. The lines below a command are its output, unless they are "...".

    readme_test.py QUADRILLE README PROGRAM MPIRUN

PROGRAM stands for ./program, and MPIRUN, of the MPI that it is linked with, for mpirun.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))
import harness  # pylint: disable=wrong-import-position

SKIPPED = 77
QUADRILLE, README, PROGRAM, MPIRUN = (pathlib.Path(word).absolute() for word in sys.argv[1:])
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands_in(block):
    """(command, lines of its output) of each command."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def environment(folder):
    binaries = folder / "bin"
    binaries.mkdir()
    (binaries / "quadrille").symlink_to(QUADRILLE)
    # Not a link: Open MPI looks for the rest of itself beside its launcher.
    (binaries / "mpirun").write_text(f'#!/bin/sh\nexec {MPIRUN} "$@"\n', encoding="utf-8")
    (binaries / "mpirun").chmod(0o755)
    (folder / "program").symlink_to(PROGRAM)
    return {
        **os.environ,
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "XDG_RUNTIME_DIR": str(folder),
        # What is measured here is not for the user's own programs, nor for the other tests.
        "XDG_CACHE_HOME": str(folder / "cache"),
        # A test may run as root, and on a machine of one core.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
    }


def main():
    blocks = [commands_in(block) for block in BLOCK.findall(README.read_text(encoding="utf-8"))]
    if sum(map(len, blocks)) < 10:
        sys.exit("README.md has fewer than 10 commands: are its blocks still called console?")
    failed = skipped = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        around = environment(folder)
        for block in blocks:
            for command, expected in block:
                done = subprocess.run(command, shell=True, cwd=folder, env=around, capture_output=True, text=True,
                                      check=False, timeout=200)
                if "cluster up" in command and done.returncode != 0 and harness.why_impossible([]):
                    print(f"SKIP: {command}: {done.stderr.strip()}")
                    skipped += 1
                    break
                wrong = done.returncode != 0
                wrong |= expected not in ([], ["..."]) and done.stdout.splitlines() != expected
                print(f"{'FAILED' if wrong else 'ok'}: {command}", flush=True)
                if wrong:
                    failed += 1
                    print(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    sys.exit(1 if failed else SKIPPED if skipped else 0)


main()
