#!/usr/bin/env python3
"""What placing ranks gains, measured on clusters on one machine.

    placement.py figures           collectives placed: bcast, gather, allgather, reduce, allreduce, scatter, alltoall and
                                   barrier on 64 ranks of 16 nodes, allreduce on 33 ranks of 64 slots
    placement.py kernels           examples/kernels and LAMMPS, also from a shuffled start
    placement.py racks             four racks with slow uplinks; and one slow node, which probe --pairs has to name
    placement.py both              placement alone, Quadrille's algorithms alone, both
    placement.py show FILE...      the tables of JSON files once more

All but the last write JSON and a Markdown table to build/placement, anew after each row: a row that is there with as
many runs is not measured again, so that the whole may be done in parts of --seconds each. --remeasure starts over.

Ways to place the ranks of one program are run in turn in one cluster, each with the same binding, A B C C B A, --runs
times each. A time is the program's own, of its slowest rank, without start-up. Reported are medians, and of each way the
ratio of the others' medians to its own, with an interval of 95 % (Student's, by the logarithms of the ratios of rounds).
Beside each gain is the one that was predicted, by `quadrille place` with the machine file of `quadrille probe` on this
cluster (--machine): of messages alone, where a program computes, too. They agree in sign if both say faster or slower,
or if the gain is within its interval of none; in size if the predicted one is within 25 % of the measured ratio.

figures:  the MPI's own algorithms (Open MPI 4.1), block, cyclic and ours.
kernels:  block, cyclic, ours by point-to-point messages alone ("messages"), and ours; then the same from a shuffled
          order of ranks, which a scheduler might give: "given" and "regained".
racks:    block, cyclic and ours. The slow node is one that has a quarter of the rate of the others.
both:     block, ours for the MPI's algorithms ("placed"), block with the drop-in ("drop-in"), and ours for Quadrille's
          algorithms with the drop-in ("both").
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

import grid
import learning

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "placement"  # of the cluster
COLLECTIVES = ("bcast", "gather", "allgather", "reduce", "allreduce", "scatter", "alltoall", "barrier")
SIZES = ("1KiB", "16KiB", "128KiB", "1MiB")
KERNELS = ("ft", "is", "cg", "mg", "lu", "stencil2d", "stencil3d", "ge", "asp", "ep", "irregular")
RANKS_OF = {"irregular": 20}
SIDES_OF_FEWER = {"stencil2d": ("480",)}  # on 60 ranks, in 10 x 6 blocks
WITHIN = 0.25  # a predicted ratio is right in size
LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {size} 0 {size} 0 {size}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
fix 1 all nve
thermo {every}
run {steps}
"""


@dataclasses.dataclass(frozen=True)
class Ground:
    nodes: int
    slots: int
    rate: str
    up: tuple = ()  # further options of `quadrille cluster up`

    @property
    def hosts(self):
        """By slot."""
        return [f"node{node}" for node in range(self.nodes) for _ in range(self.slots)]

    def block(self, ranks):
        return self.hosts[:ranks]

    def cyclic(self, ranks):
        return [host for slot in range(self.slots) for host in self.hosts[slot::self.slots]][:ranks]

    def shuffled(self, ranks, seed):
        hosts = self.block(ranks)
        random.Random(seed).shuffle(hosts)
        return hosts


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    ranks: int
    words: tuple
    seconds: str  # a pattern in the output, with the time as its first group
    pattern: str = ""  # that stands for a trace; empty: it is traced
    every: int = 1  # calls that the time is of


@dataclasses.dataclass(frozen=True)
class Way:
    """How a program is run: where its ranks are, and whether with the drop-in."""
    name: str
    hosts: tuple
    drop_in: bool = False
    predicted: float = math.nan  # seconds, of its communication


def quadrille(*words, check=True, **more):
    return subprocess.run(["quadrille", *map(str, words)], check=check, stdout=subprocess.PIPE, text=True, **more).stdout


class Bench:
    """A cluster that is up as long as it is entered, and the programs that are run on it."""

    def __init__(self, ground, arguments, pairs=False):
        """`pairs`: probe --pairs comes first, so that the machine's numbers are those of the nodes that are not slow."""
        self.ground, self.arguments, self.pairs = ground, arguments, pairs
        self.end = time.monotonic() + arguments.seconds

    def __enter__(self):
        quadrille("cluster", "up", "--name", NAME, "--nodes", self.ground.nodes, "--slots", self.ground.slots, "--rate",
                  self.ground.rate, *self.ground.up, "--while", os.getpid())
        self.probe()
        return self

    def __exit__(self, *_):
        quadrille("cluster", "down", "--name", NAME)

    def is_over(self):
        return time.monotonic() > self.end

    def environment(self):
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return {**root, **os.environ}

    def probe(self):
        """The machine's numbers, once for each kind of cluster, unless there is a file that has them."""
        words = "-".join(re.sub(r"\W", "", str(word)) for word in (self.ground.nodes, self.ground.slots, self.ground.rate,
                                                                   *self.ground.up))
        path = self.arguments.machine or self.arguments.output / f"machine-{words}.json"
        known = path.exists()
        if self.pairs:
            found = self.start([*self.launcher(self.ground.nodes, ("--map", "ppr:1")), "quadrille", "probe", "--pairs",
                                "--output", path])
            (self.arguments.output / "pairs.txt").write_text(found, encoding="utf-8")
        if not known:
            self.start([*self.launcher(self.ground.nodes * self.ground.slots, ()), "quadrille", "probe", "--output", path])
        self.machine = path

    def launcher(self, ranks, where):
        return ["quadrille", "cluster", "run", "--name", NAME, "--mpi", "openmpi", "-n", str(ranks), *map(str, where), "--"]

    def start(self, words, may_fail=False):
        done = subprocess.run([str(word) for word in words], text=True, env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=self.arguments.limit)
        if done.returncode != 0 and not may_fail:
            sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def run(self, program, way):
        """Its own seconds."""
        with tempfile.NamedTemporaryFile("w", dir=self.arguments.output, suffix=".hosts") as file:
            file.write("".join(f"{host}\n" for host in way.hosts))
            file.flush()
            start = ["quadrille", "run", "--"] if way.drop_in else []
            output = self.start([*start, *self.launcher(program.ranks, ("--map", file.name)), *program.words])
        found = re.search(program.seconds, output, re.MULTILINE)
        if not found:
            sys.exit(f"{program.name}: no time in what it prints:\n{output}")
        return float(found[1]) / program.every

    def traced(self, program):
        """What stands for the program on the command line of `quadrille place`."""
        if program.pattern:
            return program.pattern
        name = re.sub(r"\W+", "-", program.name)
        path = self.arguments.output / f"{name}-{program.ranks}.trace"
        if not path.exists():
            self.start(["quadrille", "trace", "--output", path, "--", *self.launcher(program.ranks, ()), *program.words])
        return path

    def place(self, program, what, given, policy=None):
        """Hosts by rank, and predicted seconds by method."""
        with tempfile.NamedTemporaryFile("w", dir=self.arguments.output, suffix=".hosts") as file:
            file.write("".join(f"{host}\n" for host in given))
            file.flush()
            words = ["place", what, "--cluster", NAME, "--machine", self.machine, "--from", file.name, "--json"]
            if program.pattern:
                words += ["-n", program.ranks, "--policy", policy or "openmpi-4.1"]
            elif policy:
                words += ["--policy", policy]
            placed = json.loads(quadrille(*words))
        hosts = [None] * program.ranks
        for node in placed["nodes"]:
            for rank in node["ranks"]:
                hosts[rank] = node["host"]
        return tuple(hosts), {one["method"]: one["seconds"] for one in placed["candidates"]} | {"ours": placed["chosen"]}


def predicted_of(seconds, method):
    return seconds[seconds["ours"]] if method == "ours" else seconds[method]


def judge(bench, program, what, hosts, policy=None):
    """The predicted seconds of an order of ranks."""
    _, seconds = bench.place(program, what, hosts, policy)
    return seconds["given"]


def measured(bench, program, ways):
    """Seconds by way, in turn."""
    times = {way.name: [] for way in ways}
    for number in range(bench.arguments.runs):
        for way in reversed(ways) if number % 2 else ways:
            times[way.name].append(bench.run(program, way))
    return times


def row_of(program, ways, times, reference):
    """What is reported: of each way how many times as fast it is as `reference`, measured and predicted."""
    middles = {name: statistics.median(some) for name, some in times.items()}
    ways = {way.name: way for way in ways}
    row = {"program": program.name, "ranks": program.ranks, "seconds": times, "reference": reference, "gains": {}}
    for other in ways:
        if other == reference:
            continue
        ratios = [a / b for a, b in zip(times[other], times[reference])]
        gain = middles[other] / middles[reference]
        factor = learning.factor_of(ratios)
        predicted = ways[other].predicted / ways[reference].predicted if ways[reference].predicted else math.nan
        row["gains"][other] = {"gain": gain, "factor": factor, "predicted": predicted, **agreement(gain, factor, predicted)}
    return row


def agreement(gain, factor, predicted):
    """Of a measured ratio, which may be wrong by that factor, and a predicted one. Nothing where there is none."""
    if math.isnan(predicted):
        return {}
    beyond = gain > factor or gain < 1 / factor
    return {"beyond_noise": beyond, "sign": not beyond or (gain > 1) == (predicted > 1),
            "size": abs(predicted / gain - 1) <= WITHIN}


def percent(part, all_of):
    return f"{100 * part / all_of:.0f} %" if all_of else "of none"


def number(value):
    return "unknown" if value is None or math.isnan(value) else f"{value:.2f}"


def table_of(rows):
    """Markdown."""
    lines = ["| program | ranks | medians in seconds | ours to others: measured, interval | predicted |", "|---|---|---|---|---|"]
    for row in rows:
        medians = ", ".join(f"{name} {statistics.median(some):.4g}" for name, some in row["seconds"].items())
        gains = "; ".join(f"{name} {one['gain']:.2f} ({one['gain'] / one['factor']:.2f} to {one['gain'] * one['factor']:.2f})"
                          for name, one in row["gains"].items())
        predicted = "; ".join(f"{name} {number(one['predicted'])}" for name, one in row["gains"].items())
        lines.append(f"| {row['program']} | {row['ranks']} | {medians} | {row['reference']}: {gains} | {predicted} |")
    return "\n".join(lines) + "\n"


def summary_of(rows):
    """What follows from all rows."""
    lines = []
    better = []
    for row in rows:
        block_and_cyclic = [row["gains"][name] for name in ("block", "cyclic") if name in row["gains"]]
        if block_and_cyclic:
            better.append((min(one["gain"] for one in block_and_cyclic), row))
    if better:
        behind = [row["program"] for gain, row in better
                  if any(row["gains"].get(name, {"gain": 1, "factor": 1})["gain"] * row["gains"].get(name, {"factor": 1})["factor"]
                         < 1 for name in ("block", "cyclic"))]
        lines.append(f"over the better of block and cyclic, geometric mean of {len(better)}: "
                     f"{grid.geometric_mean([gain for gain, _ in better]):.3f}; behind it beyond the interval: "
                     f"{', '.join(behind) or 'none'}")
    given = [row["gains"]["given"]["gain"] for row in rows if "given" in row["gains"]]
    if given:
        lines.append(f"from a shuffled start, geometric mean of {len(given)}: {grid.geometric_mean(given):.3f}")
    judged = [one for row in rows for one in row["gains"].values() if "sign" in one]
    beyond = [one for one in judged if one["beyond_noise"]]
    lines.append(f"predictions: right in sign in {percent(sum(one['sign'] for one in beyond), len(beyond))} of {len(beyond)} "
                 f"gains beyond noise, within 25 % in {percent(sum(one['size'] for one in judged), len(judged))} of "
                 f"{len(judged)}")
    return "".join(f"{line}\n" for line in lines)


class Rows:
    """Those that are measured, on file."""

    def __init__(self, arguments, name):
        self.path, self.arguments = arguments.output / f"{name}.json", arguments
        known = self.path.exists() and not arguments.remeasure
        self.rows = json.loads(self.path.read_text(encoding="utf-8")) if known else []

    def has(self, name, ranks):
        return any(row["program"] == name and row["ranks"] == ranks and
                   len(next(iter(row["seconds"].values()))) >= self.arguments.runs for row in self.rows)

    def add(self, row):
        same = (row["program"], row["ranks"])
        self.rows = [one for one in self.rows if (one["program"], one["ranks"]) != same] + [row]
        self.write()
        print(table_of([row]).splitlines()[-1], flush=True)

    def write(self):
        self.path.write_text(json.dumps(self.rows, indent=1) + "\n", encoding="utf-8")
        self.path.with_suffix(".md").write_text(f"{table_of(self.rows)}\n{summary_of(self.rows)}", encoding="utf-8")


def measure_all(bench, rows, programs, measure):
    """Each program that is not yet on file, as long as there is time. Whether all of them are there."""
    for program in programs:
        if rows.has(program.name, program.ranks):
            continue
        if bench.is_over():
            return False
        rows.add(measure(bench, program))
    return True


def ours_and_others(bench, program, more=()):
    """Block, cyclic and ours, in turn."""
    what, ground = bench.traced(program), bench.ground
    hosts, seconds = bench.place(program, what, ground.block(program.ranks))
    ways = [Way("block", tuple(ground.block(program.ranks)), predicted=seconds["given"]),
            Way("cyclic", tuple(ground.cyclic(program.ranks)), predicted=seconds["cyclic"]), *more,
            Way("ours", hosts, predicted=predicted_of(seconds, "ours"))]
    return row_of(program, ways, measured(bench, program, ways), "ours")


def messages_alone(trace):
    """A trace without its collectives: how MPIPP sees a program."""
    path = trace.with_suffix(".messages")
    lines = trace.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if line.split()[0] not in ("communicator", "calls", "blocks")),
                    encoding="utf-8")
    return path


def ours_and_messages(bench, program):
    trace = bench.traced(program)
    hosts, _ = bench.place(program, messages_alone(trace), bench.ground.block(program.ranks))
    messages = Way("messages", hosts, predicted=judge(bench, program, trace, hosts))
    return ours_and_others(bench, program, [messages])


def regained(bench, program):
    """From an order that has nothing to do with the program."""
    trace = bench.traced(program)
    given = bench.ground.shuffled(program.ranks, bench.arguments.seed)
    hosts, seconds = bench.place(program, trace, given)
    ways = [Way("given", tuple(given), predicted=seconds["given"]),
            Way("regained", hosts, predicted=predicted_of(seconds, "ours"))]
    shuffled = dataclasses.replace(program, name=f"{program.name}, shuffled")
    return row_of(shuffled, ways, measured(bench, program, ways), "regained")


def placed_and_drop_in(bench, program):
    trace, ground = bench.traced(program), bench.ground
    block = tuple(ground.block(program.ranks))
    placed, native = bench.place(program, trace, block)
    both, own = bench.place(program, trace, block, "quadrille")
    ways = [Way("block", block, predicted=native["given"]),
            Way("placed", placed, predicted=predicted_of(native, "ours")),
            Way("drop-in", block, True, own["given"]), Way("both", both, True, predicted_of(own, "ours"))]
    return row_of(program, ways, measured(bench, program, ways), "both")


def loop(arguments, collective, size, ranks):
    """Calls of a collective over and over."""
    if not size:
        words = (arguments.loops / "loop", collective, "--calls", arguments.calls)
        return Program(collective, ranks, words, r"^seconds: (\S+)$", collective, arguments.calls)
    each = max(learning.bytes_of(size) // (ranks if collective in grid.OF_BLOCKS else 1), 8)
    words = (arguments.loops / "loop", collective, "--bytes", each, "--calls", arguments.calls)
    return Program(f"{collective}:{size}", ranks, words, r"^seconds: (\S+)$", f"{collective}:{each}", arguments.calls)


def kernel(arguments, name):
    full = arguments.nodes * arguments.slots
    ranks = min(arguments.ranks or RANKS_OF.get(name, full), full)
    sizes = arguments.quick.get(name, ()) if arguments.quick else ()
    return Program(name, ranks, (arguments.kernels / f"{name}_openmpi", *sizes), r"^\w+, \d+ ranks,.*: ([\d.e+-]+) s, right$")


def lammps(arguments):
    """A Lennard-Jones liquid."""
    size, steps = (10, 5) if arguments.quick else (30, 100)
    path = arguments.output / f"in.lj-{size}-{steps}"
    path.write_text(LAMMPS.format(size=size, every=max(steps // 2, 1), steps=steps), encoding="utf-8")
    return Program("lammps", arguments.nodes * arguments.slots, ("lmp", "-log", "none", "-in", path),
                   r"^Loop time of ([\d.e+-]+) on")


def programs_of(arguments):
    names = arguments.programs.split(",") if arguments.programs else (*KERNELS, "lammps")
    return [lammps(arguments) if name == "lammps" else kernel(arguments, name) for name in names]


def ground_of(arguments, *up):
    return Ground(arguments.nodes, arguments.slots, arguments.rate, up)


def figures(arguments):
    full = arguments.nodes * arguments.slots
    names = arguments.programs.split(",") if arguments.programs else COLLECTIVES
    sizes = arguments.sizes.split(",")
    programs = [loop(arguments, name, size, full) for name in names for size in ([""] if name == "barrier" else sizes)]
    programs += [loop(arguments, "allreduce", size, full // 2 + 1) for size in sizes if not arguments.programs]
    with Bench(ground_of(arguments), arguments) as bench:
        return measure_all(bench, Rows(arguments, "figures"), programs, ours_and_others)


def kernels(arguments):
    with Bench(ground_of(arguments), arguments) as bench:
        rows, programs = Rows(arguments, "kernels"), programs_of(arguments)
        done = measure_all(bench, rows, programs, ours_and_messages)
        shuffled = Rows(arguments, "shuffled")
        for program in programs:
            if shuffled.has(f"{program.name}, shuffled", program.ranks):
                continue
            if bench.is_over():
                return False
            shuffled.add(regained(bench, program))
        return done


def names_slow_node(bench, node):
    """Whether `quadrille probe --pairs` says that this node is slow; the machine file has it from then on."""
    output = (bench.arguments.output / "pairs.txt").read_text(encoding="utf-8")
    said = [line for line in output.splitlines() if re.match(rf"{node} (sends|receives) ", line)]
    print(f"probe --pairs: {said[0].strip() if said else f'does not say that {node} is slow'}", flush=True)
    return bool(said)


def racks(arguments):
    uplink = arguments.uplink or arguments.rate
    in_racks = ground_of(arguments, "--racks", str(arguments.racks), "--uplink", uplink)
    with Bench(in_racks, arguments) as bench:
        done = measure_all(bench, Rows(arguments, "racks"), programs_of(arguments), ours_and_others)
    node = f"node{arguments.nodes // 2}"
    with Bench(ground_of(arguments, "--rate", f"{node}={arguments.slow}"), arguments, pairs=True) as bench:
        named = names_slow_node(bench, node)
        # There is room for all ranks without it: a node of them is left out.
        room = (arguments.nodes - 1) * arguments.slots
        fewer = [dataclasses.replace(one, ranks=min(one.ranks, room), name=f"{one.name}, slow node",
                                     words=(*one.words[:1], *SIDES_OF_FEWER.get(one.name, one.words[1:])))
                 for one in programs_of(arguments) if one.name in ("ep", "is", "ge", "asp", "stencil2d", "irregular")]
        return measure_all(bench, Rows(arguments, "slow"), fewer, ours_and_others) and done and named


def both(arguments):
    with Bench(ground_of(arguments), arguments) as bench:
        rows = Rows(arguments, "both")
        done = measure_all(bench, rows, programs_of(arguments), placed_and_drop_in)
    beats = [row["program"] for row in rows.rows if all(row["gains"][name]["gain"] > row["gains"][name]["factor"]
                                                        for name in ("placed", "drop-in"))]
    print(f"both together beat each alone, beyond the interval: {', '.join(beats) or 'none'}")
    return done


def show(arguments):
    for path in arguments.files:
        rows = json.loads(path.read_text(encoding="utf-8"))
        print(f"{path.stem}\n\n{table_of(rows)}\n{summary_of(rows)}")
    return True


# For a try: sizes as in the tests of examples/kernels.
QUICK = {"ep": (18,), "ft": (16, 2), "is": (20000, 2), "asp": (40,), "ge": (40,), "cg": (1024, 25), "lu": (16, 2),
         "stencil2d": (32, 10), "stencil3d": (16, 5), "mg": (16, 2), "irregular": (512, 40)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for function in (figures, kernels, racks, both):
        command = commands.add_parser(function.__name__)
        command.set_defaults(function=function)
        command.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
        command.add_argument("--output", type=pathlib.Path, default=ROOT / "build/placement", help="folder of results")
        command.add_argument("--nodes", type=int, default=16)
        command.add_argument("--slots", type=int, default=4)
        command.add_argument("--rate", default="50mbit")
        command.add_argument("--machine", type=pathlib.Path, help="machine file; default: probed once for each cluster")
        command.add_argument("--programs", help="kernels and lammps, or collectives, as ft,lammps")
        command.add_argument("--ranks", type=int, help="of each kernel; default: one for each slot, of irregular 20")
        command.add_argument("--runs", type=int, default=7, help="of each way")
        command.add_argument("--seconds", type=float, default=math.inf, help="no row is begun later; run it again to go on")
        command.add_argument("--limit", type=float, default=900, help="seconds that one run may take")
        command.add_argument("--seed", type=int, default=1, help="of the shuffled order")
        command.add_argument("--quick", action="store_const", const=QUICK, help="tiny programs: to try the script")
        command.add_argument("--remeasure", action="store_true", help="forget what is measured already")
        if function is figures:
            command.add_argument("--sizes", default=",".join(SIZES), help="of a rank's data in all")
            command.add_argument("--calls", type=int, default=20, help="of a collective in a run")
        if function is racks:
            command.add_argument("--racks", type=int, default=4)
            command.add_argument("--uplink", help="of a rack; default: that of a node")
            command.add_argument("--slow", default="12500kbit", help="rate of the slow node")
    again = commands.add_parser("show")
    again.set_defaults(function=show)
    again.add_argument("files", nargs="+", type=pathlib.Path)
    return parser.parse_args()


def main():
    arguments = parse()
    if arguments.function is not show:
        arguments.build, arguments.output = arguments.build.resolve(), arguments.output.resolve()
        arguments.output.mkdir(parents=True, exist_ok=True)
        arguments.kernels, arguments.loops = arguments.build / "examples/kernels", arguments.build / "tests/kernels/openmpi"
        for path in (arguments.build / "src/quadrille", arguments.kernels, arguments.loops):
            if not path.exists():
                sys.exit(f"{path} does not exist: build it, or set --build")
        if (load := os.getloadavg()[0]) > 0.25 * os.cpu_count():
            print(f"warning: the machine is busy, its load is {load:.2f}: all intervals will be wide", file=sys.stderr)
        os.environ["PATH"] = f"{arguments.build / 'src'}{os.pathsep}{os.environ['PATH']}"
    if not arguments.function(arguments):
        print("not all is measured: run it again to go on")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
