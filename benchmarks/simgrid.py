#!/usr/bin/env python3
"""Judges `quadrille predict` by an independent simulator, SimGrid: the same schedules, message by message, under both.

    simgrid.py run GROUND...        runs them, and writes a report of each ground to --output as JSON
    simgrid.py show REPORT...       what reports say

A ground is a network and a number of ranks, as cluster-64, fattree-256, torus-512, or, with 4 ranks on each node,
cluster-64x4. The network has latency and bandwidth and nothing else: 10 Gbit/s a link, 10 us between neighbours; sends of
up to 64 KiB don't wait for their receives. Both get the same numbers: SimGrid as a platform, predict as a machine file. Of
a torus predict knows the mean distance only. Ranks of a node share no memory here (QUADRILLE_SHARED=0): SimGrid knows
messages.

The error is the time predicted over that under SimGrid, less one. Beside it: what SimGrid's own functions take, by the
rules of MPICH, Open MPI, MVAPICH2 and Intel MPI as SimGrid has them, against what Quadrille would choose, all under
SimGrid. Needs SimGrid (Debian: libsimgrid-dev). Exit status 1 if the median error is above --most.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BANDWIDTH = 1.25e9  # bytes a second, of a link in each direction
EAGER = 65536
SELECTORS = ("mpich", "ompi", "mvapich2", "impi")
SIZES = {"barrier": (0,), "bcast": (8, 65536, 1 << 20), "reduce": (8, 65536, 1 << 20), "allreduce": (8, 65536, 1 << 20),
         "allgather": (8, 4096), "alltoall": (65536,)}
DTD = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'


@dataclasses.dataclass(frozen=True)
class Ground:
    network: str
    nodes: int
    per_node: int = 1

    @property
    def name(self):
        return f"{self.network}-{self.nodes}" + (f"x{self.per_node}" if self.per_node > 1 else "")

    @property
    def ranks(self):
        return self.nodes * self.per_node

    def extents(self):
        """Of a torus: three powers of two as equal as can be."""
        sides = [1, 1, 1]
        while sides[0] * sides[1] * sides[2] < self.nodes:
            sides[sides.index(min(sides))] *= 2
        return sides

    def leaf(self):
        """Nodes of a leaf switch of a fat tree, and of upper switches."""
        return min(16, self.nodes // 2)

    def hop(self):
        """Seconds for each link on the way."""
        return 10e-6 if self.network == "torus" else 5e-6

    def platform(self):
        more = ""
        if self.network == "fattree":
            leaf = self.leaf()
            more = f'topology="FAT_TREE" topo_parameters="2;{leaf},{self.nodes // leaf};1,{leaf};1,1"'
        elif self.network == "torus":
            more = f'topology="TORUS" topo_parameters="{",".join(map(str, self.extents()))}"'
        return (f'<?xml version="1.0"?>\n{DTD}\n<platform version="4.1">\n'
                f'<cluster id="cluster" prefix="node" suffix="" radical="0-{self.nodes - 1}" speed="1Gf" bw="{BANDWIDTH}Bps" '
                f'lat="{self.hop()}s" loopback_bw="1e15Bps" loopback_lat="1us" sharing_policy="SPLITDUPLEX" {more}/>\n'
                "</platform>\n")

    def machine(self):
        wire = 1e9 / BANDWIDTH
        link = {"overhead_us": 0, "work_ns_per_byte": 0, "eager_bytes": EAGER, "rendezvous_us": 0}
        near, far, shared = 10.0, 10.0, wire
        if self.network == "fattree":
            far, shared = 20.0, wire / self.leaf()
        if self.network == "torus":
            near = far = 10.0 * sum(mean_distance(side) for side in self.extents()) * self.nodes / (self.nodes - 1)
        return {"format": "quadrille machine 1", "from": f"latency and bandwidth alone: {self.name}",
                "node": {"latency_us": 1, **link},
                "network": {"latency_us": near, "wire_ns_per_byte": wire, "exchange": 1, **link},
                "rack": {"latency_us": far, "wire_ns_per_byte": shared, **link},
                "memory": {"flag_us": 0, "copy_ns_per_byte": 0},
                "core": {"reduce_ns_per_byte": 0, "operation_us": 0, "call_us": 0, "wake_us": 0}}


def mean_distance(side):
    """Of two places on a ring."""
    return sum(min(i, side - i) for i in range(side)) / side


def ground_of(name):
    match = re.fullmatch(r"(cluster|fattree|torus)-(\d+)(?:x(\d+))?", name)
    if not match or (int(match[2]) & (int(match[2]) - 1)) or int(match[2]) < 4:
        raise ValueError(name)
    return Ground(match[1], int(match[2]), int(match[3] or 1))


class Judge:
    """Both simulators on one ground, in a folder of their own."""

    def __init__(self, ground, arguments, folder):
        self.ground = ground
        self.arguments = arguments
        self.folder = pathlib.Path(folder)
        self.write("machine.json", json.dumps(ground.machine(), indent=1))
        self.write("platform.xml", ground.platform())
        hosts = [f"node{rank // ground.per_node}" for rank in range(ground.ranks)]
        self.write("hosts", "\n".join(hosts) + "\n")

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def command(self, words, **variables):
        done = subprocess.run(list(map(str, words)), cwd=self.folder, env={**os.environ, **variables},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def predicted(self, collective, sizes):
        racks = ["--rack-nodes", self.ground.leaf()] if self.ground.network == "fattree" else []
        words = [self.arguments.quadrille, "predict", collective, "--ranks", self.ground.ranks, "--sizes",
                 ",".join(map(str, sizes)), "--per-node", self.ground.per_node, *racks, "--machine", "machine.json",
                 "--simulate", 1_000_000, "--json"]
        return json.loads(self.command(words, QUADRILLE_SHARED="0"))["points"]

    def simgrid(self, calls, *settings, in_order=False):
        """Seconds of calls, each a collective, bytes, an algorithm and its segment."""
        self.write("calls", "".join(" ".join(map(str, call)) + "\n" for call in calls))
        plain = ("smpi/simulate-computation:no", "smpi/lat-factor:0:1", "smpi/bw-factor:0:1", "network/crosstraffic:0",
                 "network/weight-S:0", f"smpi/async-small-thresh:{EAGER + 1}", f"smpi/send-is-detached-thresh:{EAGER + 1}")
        words = ["smpirun", "-no-privatize", "-np", self.ground.ranks, "-platform", "platform.xml", "-hostfile", "hosts",
                 *(f"--cfg={one}" for one in (*plain, *settings)), "--log=root.thres:warning", self.arguments.program,
                 self.ground.per_node, self.ground.leaf() if self.ground.network == "fattree" else 0,
                 int(in_order), self.arguments.messages, "calls"]
        seconds = [float(line) for line in self.command(words).split()]
        if len(seconds) != len(calls):
            sys.exit(f"{self.ground.name}: SimGrid ended after {len(seconds)} of {len(calls)} calls")
        return seconds

    def rows(self):
        rows, chosen = [], []
        for collective in self.arguments.collectives:
            for point in self.predicted(collective, SIZES[collective]):
                call = {"collective": collective, "bytes": point["bytes"]}
                for one in point["algorithms"]:
                    rows.append({**call, "algorithm": one["algorithm"], "segment": one["segment"], "by": one["by"],
                                 "predicted": one["seconds"]})
                ours = next(one["algorithm"] for one in point["policies"] if one["policy"] == "Quadrille")
                chosen.append({**call, "Quadrille": ours})
        calls = [(row["collective"], row["bytes"], row["algorithm"], row["segment"]) for row in rows]
        for name, in_order in (("simgrid", False), ("in_order", True)):
            for row, seconds in zip(rows, self.simgrid(calls, in_order=in_order)):
                row[name] = seconds
        rows = [row for row in rows if row["simgrid"] >= 0]
        natives = [(row["collective"], row["bytes"], "native", 0) for row in chosen]
        # With several ranks on a node SimGrid 3.32 ends in the midst of its own calls.
        for selector in self.arguments.selectors if self.ground.per_node == 1 else ():
            for row, seconds in zip(chosen, self.simgrid(natives, f"smpi/coll-selector:{selector}")):
                row[selector] = seconds
        return rows, chosen


def errors(rows, by=None):
    return [abs(row["predicted"] / row["simgrid"] - 1) for row in rows if by in (None, row["by"])]


def show(report):
    rows = report["rows"]
    print(f"{report['ground']}: {len(rows)} times, median error {statistics.median(errors(rows)):.1%}")
    for by in ("simulation", "price"):
        found = errors(rows, by)
        if found:
            print(f"  by {by}: {len(found)} times, median error {statistics.median(found):.1%}, "
                  f"within 10 %: {sum(one <= 0.1 for one in found)}, worst {max(found):.0%}")
    alone = errors([{**row, "simgrid": row["in_order"]} for row in rows])
    print(f"  with the messages of a pair one after another: median error {statistics.median(alone):.1%}, "
          f"within 10 %: {sum(one <= 0.1 for one in alone)} of {len(alone)}, worst {max(alone):.0%}")
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["collective"], row["bytes"]].append(row)
    for beside in report["chosen"]:
        same = groups[beside["collective"], beside["bytes"]]
        if not same:
            continue
        ours = next((row for row in same if row["algorithm"] == beside["Quadrille"]), None)
        best = min(same, key=lambda row: row["simgrid"])
        worst = max(same, key=lambda row: abs(row["predicted"] / row["simgrid"] - 1))
        print(f"  {beside['collective']:<10}{beside['bytes']:>8} B  median error {statistics.median(errors(same)):>5.1%}, "
              f"most {worst['predicted'] / worst['simgrid'] - 1:+.0%} ({worst['algorithm']}, {worst['by']}); "
              f"the best {best['algorithm']} {1e6 * best['simgrid']:.0f} us")
        natives = [name for name in SELECTORS if name in beside]
        if ours and natives:
            factors = " ".join(f"{beside[name] / ours['simgrid']:.2f}" for name in natives)
            print(f"    Quadrille: {ours['algorithm']} {1e6 * ours['simgrid']:.0f} us; {' '.join(natives)} take {factors} times "
                  "as long")


def run(arguments):
    arguments.output.mkdir(parents=True, exist_ok=True)
    most = 0.0
    for ground in arguments.grounds:
        with tempfile.TemporaryDirectory() as folder:
            rows, chosen = Judge(ground, arguments, folder).rows()
        report = {"ground": ground.name, "machine": ground.machine(), "rows": rows, "chosen": chosen}
        path = arguments.output / f"{ground.name}.json"
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        show(report)
        sys.stdout.flush()
        most = max(most, statistics.median(errors(rows)))
    return 1 if most > arguments.most else 0


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("run")
    command.add_argument("grounds", nargs="+", type=ground_of, metavar="GROUND", help="as cluster-64, torus-512")
    command.add_argument("--quadrille", type=pathlib.Path, default=ROOT / "build/release/src/quadrille")
    command.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/tests/libsimgrid_judge.so")
    command.add_argument("--collectives", nargs="+", choices=SIZES, default=list(SIZES), metavar="COLLECTIVE")
    command.add_argument("--selectors", nargs="*", choices=SELECTORS, default=SELECTORS, metavar="NAME",
                         help="whose rules SimGrid's own functions go by")
    command.add_argument("--messages", type=int, default=20_000,
                         help="algorithms that send more are left out")
    command.add_argument("--output", type=pathlib.Path, default=ROOT / "build/simgrid", help="folder of JSON files")
    command.add_argument("--most", type=float, default=0.1, help="the median error that is let pass")
    commands.add_parser("show").add_argument("reports", nargs="+", type=pathlib.Path)
    return parser.parse_args(words)


def main(words):
    arguments = parse(words)
    if arguments.command == "show":
        for path in arguments.reports:
            show(json.loads(path.read_text(encoding="utf-8")))
        return 0
    for path in (arguments.quadrille, arguments.program):
        if not path.exists():
            sys.exit(f"{path} does not exist: build it, with SimGrid installed, or set --quadrille and --program")
    arguments.quadrille, arguments.program = arguments.quadrille.resolve(), arguments.program.resolve()
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
