#!/usr/bin/env python3
"""Which measured figures of the documents are older than the code that they depend on.

    stale.py            lists them, with how many commits have changed that code since
    stale.py --check    only whether each document with figures says when they were measured, and of what

A document that shows what a script of benchmarks/ measured says so where the figures are:

    <!-- measured 2026-11-19: src/core src/mpi -->

The folders are those whose code the figures depend on. Reports of `quadrille bench` in docs/benchmarks have their own date,
and depend on all that a call runs through. Exit status 1 if there is anything to tell.
"""

import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OF_CALLS = ("src/core/algorithms", "src/core/compose", "src/core/run", "src/core/select", "src/mpi/api", "src/mpi/engine")
MARK = re.compile(r"<!-- measured (\S+): ([^>]*?) -->")
SCRIPT = re.compile(r"\bbenchmarks/\w+\.py\b")
FROM_REPORTS = {ROOT / "docs/benchmarks.md", ROOT / "docs/benchmarks/README.md"}


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def marked():
    """(where, date, folders) of all figures; a date that is none is None."""
    for path in documents():
        for date, folders in MARK.findall(path.read_text(encoding="utf-8")):
            yield path, as_date(date), tuple(folders.split())
    for path in sorted((ROOT / "docs/benchmarks").glob("*.json")):
        provenance = json.loads(path.read_text(encoding="utf-8")).get("provenance", {})
        yield path, as_date(provenance.get("date", "")), OF_CALLS


def as_date(text):
    try:
        return datetime.date.fromisoformat(text[:10])
    except ValueError:
        return None


def faults():
    for path in documents():
        text = path.read_text(encoding="utf-8")
        if path not in FROM_REPORTS and SCRIPT.search(text) and not MARK.search(text):
            yield f"{path.relative_to(ROOT)}: names a script of benchmarks/, and has no <!-- measured DATE: FOLDER... -->"
    for path, date, folders in marked():
        name = path.relative_to(ROOT)
        if date is None:
            yield f"{name}: measured at no date"
        elif date > datetime.date.today() + datetime.timedelta(days=1):
            yield f"{name}: measured on {date}, which is yet to come"
        if not folders:
            yield f"{name}: measured of no folder"
        for folder in folders:
            if not (ROOT / folder).exists():
                yield f"{name}: {folder} does not exist"


def commits_since(date, folders):
    words = ["git", "-C", ROOT, "log", "--format=%h", f"--since={date + datetime.timedelta(days=1)}T00:00:00", "--", *folders]
    return len(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split())


def stale():
    for path, date, folders in marked():
        if count := commits_since(date, folders):
            yield f"{path.relative_to(ROOT)}: of {date}; {count} commits since then changed {' '.join(folders)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only whether there are dates")
    found = list(faults())
    if not parser.parse_args().check and not found:
        found = list(stale())
    print("\n".join(found) or "none")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
