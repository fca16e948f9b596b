#!/usr/bin/env python3
"""Broadcasts through windows: the experiment of Abuelsoud's and Paznikov's paper, with data that is waited for.

    one_sided.py times GROUND...    a broadcast until the last rank has its data: linear, binary, binomial, chain and
                                    hierarchical, each by messages and through windows, and MPI_Bcast
    one_sided.py late GROUND...     what the root waits while one rank computes for 100 ms
    one_sided.py stress GROUND...   a million short broadcasts with rotating roots, and every byte checked

A ground is a number of ranks on this machine or on a cluster on it, under some MPI: 4-openmpi, or 16x4-200 for 16 nodes of
4 ranks with 200 Mbit/s a node, 4x1-200-mpich under MPICH. --set gives the MPI's own settings, as OMPI_MCA_osc=pt2pt or
MPIR_CVAR_ASYNC_PROGRESS=1.

times: medians over rounds, in which each variant runs once, in turn. By trees, data can reach all ranks sooner than by a
linear broadcast by the factor in the column "possible": p - 1 puts one after another against the steps of the tree. "1 / 2
sided" is the time through windows over that by messages of the same shape.

late: the rank that is late is a leaf of the binomial tree or an inner rank. It calls late; or, "ready", it has called ibcast
before, so that its memory is handed over. "one_sided_staged" goes as "one_sided_binomial" where the data is longer than a place
in staging (QUADRILLE_STAGING).

Reports are written to --output as JSON. Exit status 1 if a byte is wrong.
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys

import grid
import learning

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = (16, 512 * 1024, 4 * 1024 ** 2)
ON_ONE_NODE = 32 * 1024 ** 2
LATE_SIZES = (16, 16 * 1024, 64 * 1024, 4 * 1024 ** 2)
SHAPES = {"linear": "linear", "binary": "binary", "binomial": "binomial", "chain": "pipelined_chain",
          "hierarchical": "hierarchical"}


def ground_of(name):
    """A ground by its name; argparse reports a ValueError."""
    cluster = re.fullmatch(r"(\d+)x(\d+)-(\d+)(?:-(openmpi|mpich))?", name)
    if cluster:
        nodes, slots, megabits = map(int, cluster.groups()[:3])
        return name, grid.Ground(cluster[4] or "openmpi", nodes * slots, nodes, megabits)
    node = re.fullmatch(r"(\d+)-(openmpi|mpich)", name)
    if not node:
        raise ValueError(name)
    return name, grid.Ground(node[2], int(node[1]))


class Place(learning.Place):
    """Where the program is run, on a cluster that is up as long as it is entered."""

    def __init__(self, named, arguments):
        self.name, self.ground = named
        self.arguments = arguments

    def rows(self, *words):
        """What the program prints."""
        program = self.arguments.programs / f"one_sided_{self.ground.mpi}"
        words = [*self.ground.launcher(), program, *words]
        environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **os.environ,
                       **dict(self.arguments.set)}
        done = subprocess.run(list(map(str, words)), env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or not rows:
            sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return rows


def possible(shape, ranks):
    """How many times as fast as a linear broadcast a tree can be, one put at a time; None: not by its shape alone."""
    steps = {"linear": ranks - 1, "binomial": math.ceil(math.log2(ranks)),
             "binary": max(2 * math.ceil(math.log2(ranks)) - 2, 1)}
    return (ranks - 1) / steps[shape] if shape in steps else None


def table(rows, ranks):
    """Text of the times of one size."""
    seconds = {row["variant"]: row["seconds"] for row in rows}
    lines = [f"  {rows[0]['bytes']} bytes, {rows[0]['rounds']} rounds, by {rows[0]['transport']}: "
             f"MPI_Bcast {1e6 * seconds['MPI_Bcast']:.1f} µs, Quadrille's default {1e6 * seconds['default']:.1f} µs",
             f"    {'shape':<14}{'messages':>13}{'windows':>13}{'1 / 2 sided':>13}{'linear / it':>13}{'possible':>10}"]
    for shape, messages in SHAPES.items():
        one = seconds[f"one_sided_{shape}"]
        limit = possible(shape, ranks)
        lines.append(f"    {shape:<14}{1e6 * seconds[messages]:>10.1f} µs{1e6 * one:>10.1f} µs{one / seconds[messages]:>13.2f}"
                     f"{seconds['one_sided_linear'] / one:>13.2f}" + (f"{limit:>10.1f}" if limit else ""))
    return "\n".join(lines)


def times(place):
    sizes = place.arguments.sizes or [*SIZES, *([ON_ONE_NODE] if place.ground.nodes == 1 else [])]
    rows = []
    for size in sizes:
        found = place.rows("times", size)
        print(table(found, place.ground.ranks), flush=True)
        rows += found
    return rows


def late(place):
    rows = place.rows("late", place.arguments.milliseconds, *(place.arguments.sizes or LATE_SIZES))
    columns = ("MPI_Bcast", "binomial", "default", "one_sided_binomial", "one_sided_staged", "ready")
    print("  the root waits" + "".join(f"{name:>20}" for name in columns))
    for row in rows:
        print(f"  {row['bytes']:>8} B, {row['late']:<5}" + "".join(f"{1e3 * row[name]:>17.2f} ms" for name in columns))
    return rows


def stress(place):
    rows = place.rows("stress", place.arguments.count, place.arguments.seconds)
    for row in rows:
        print(f"  {row['broadcasts']} broadcasts in {row['seconds']:.1f} s, {row['wrong']} bytes wrong, "
              f"by {row['transport']}")
    return rows


def setting(text):
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(text)
    return name, value


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for function in (times, late, stress):
        command = commands.add_parser(function.__name__)
        command.set_defaults(function=function)
        command.add_argument("grounds", nargs="+", type=ground_of, metavar="GROUND", help="as 4-openmpi, 16x4-200")
        command.add_argument("--quadrille", type=pathlib.Path, default=ROOT / "build/release/src/quadrille")
        command.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release/tests", help="folder")
        command.add_argument("--output", type=pathlib.Path, default=ROOT / "build/one_sided", help="folder of JSON files")
        command.add_argument("--set", type=setting, action="append", default=[], metavar="NAME=VALUE",
                             help="an environment variable of the ranks")
        if function is stress:
            command.add_argument("--count", type=int, default=1_000_000, help="broadcasts")
            command.add_argument("--seconds", type=float, default=600.0, help="after which it ends all the same")
        else:
            command.add_argument("--sizes", type=learning.bytes_of, nargs="+", metavar="SIZE", help="as 16 512KiB 4MiB")
        if function is late:
            command.add_argument("--milliseconds", type=float, default=100.0, help="for which the rank computes")
    return parser.parse_args(words)


def main(words):
    arguments = parse(words)
    for path in (arguments.quadrille, arguments.programs):
        if not path.exists():
            sys.exit(f"{path} does not exist: build it, or set --quadrille and --programs")
    arguments.programs = arguments.programs.resolve()
    arguments.output.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = f"{arguments.quadrille.resolve().parent}{os.pathsep}{os.environ['PATH']}"
    for named in arguments.grounds:
        print(named[0], *(f"{name}={value}" for name, value in arguments.set), flush=True)
        with Place(named, arguments) as place:
            rows = arguments.function(place)
        report = {"ground": named[0], "settings": dict(arguments.set), "rows": rows}
        name = "-".join([arguments.command, named[0], *("=".join(pair) for pair in arguments.set)])
        path = arguments.output / f"{name}.json"
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
