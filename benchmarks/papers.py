#!/usr/bin/env python3
"""Predicts the papers' experiments at their own size, and writes the tables and plots of docs/explanation/papers.md anew.

    benchmarks/papers.py [--program build/release/tests/papers]

A table stands behind its mark in the page, <!-- short -->; the text around it is written by hand.
"""

import argparse
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ("short", "long", "orders", "trees", "placements")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/tests/papers")
    arguments = parser.parse_args()
    done = subprocess.run([arguments.program, ROOT / "docs/machines", ROOT / "docs/papers"], capture_output=True, text=True,
                          check=True)
    page = ROOT / "docs/explanation/papers.md"
    text = page.read_text(encoding="utf-8")
    for name, table in zip(TABLES, done.stdout.strip().split("\n\n"), strict=True):
        text, found = re.subn(rf"(<!-- {name} -->\n)(?:\|.*\n)*", lambda mark, made=table: mark[1] + made + "\n", text)
        if found != 1:
            raise SystemExit(f"{page}: expected one mark <!-- {name} -->")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
