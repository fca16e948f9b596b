#!/usr/bin/env python3
"""What it costs and gains that the drop-in learns in the running job.

    learning.py first GROUND...    is a first run, with nothing learned before, slower than without the drop-in?
    learning.py second GROUND...   what does a second run gain, by what the first has learned?
    learning.py change             does a job notice that the links of its cluster got slower?

A ground is a number of ranks in some place, under some MPI. Programs are the kernels of benchmarks/kernels, named as
heat or heat:1024 with their size, and loops over a collective, named as allreduce:64KiB with a size: the data of one rank
in all, so that blocks of an allgather, gather and scatter are this divided by the ranks.

first: runs without and with the drop-in in turn, A B B A and so on, each of the latter with an empty cache. The ratio is
that of the medians; its interval is Student's, of 95 %, by the logarithms of pairs. A program is slower if that is beyond
3 % and beyond the interval; then twice as many pairs are run before it is believed. Exit status 1 if one is slower. Times
are those of the program's loop; what the drop-in takes outside it, in MPI_Init and MPI_Finalize, is in the last column.

second: loops, after one run that fills the cache. Native is the better of the MPI's default and, under Open MPI, han.
With --table also against a tuning table, with learning off, as `quadrille bench bcast reduce allreduce allgather --table
FILE` writes it. The share of calls that are replaced is that of one more run, since a report takes time.

change: a loop without and with the drop-in on a cluster whose links fall to a quarter of their rate after a third of the
time; and one with the drop-in whose links are slow from the start, which shows what can be reached.
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import grid

ROOT = pathlib.Path(__file__).resolve().parent.parent
GROUNDS = {
    **{f"{ranks}-{mpi}": grid.Ground(mpi, ranks) for mpi in ("openmpi", "mpich") for ranks in (2, 4, 8)},
    "16x4-50": grid.Ground("openmpi", 64, 16, 50),
    "4x2-50": grid.Ground("openmpi", 8, 4, 50),
}
KERNELS = ("heat", "cg", "fft", "kmeans", "sgd")
FIRST = (*KERNELS, *(f"{collective}:{size}" for collective in ("bcast", "reduce", "allreduce", "allgather", "alltoall")
                     for size in ("8", "4KiB", "64KiB", "1MiB")), "barrier", "gather:64KiB", "scatter:64KiB",
         "reduce_scatter_block:64KiB", "scan:64KiB")
SECOND = tuple(f"{collective}:{size}" for collective in grid.LONG
               for size in ("4KiB", "16KiB", "64KiB", "256KiB", "1MiB"))
TOLERANCE = 0.03
MEDIAN = math.sqrt(math.pi / 2)  # how much larger than a mean's its standard error is
# Student's t for 95 %, by degrees of freedom from 1 on.
STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
           2.110, 2.101, 2.093, 2.086)


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)\s*(|B|KiB|MiB)", text).groups()
    return int(number) * {"KiB": 1024, "MiB": 1024 ** 2}.get(unit, 1)


@dataclasses.dataclass(frozen=True)
class Program:
    """A kernel or a loop, as it is named on the command line."""
    name: str

    @property
    def what(self):
        return self.name.partition(":")[0]

    @property
    def is_loop(self):
        return self.what not in KERNELS

    def size(self):
        text = self.name.partition(":")[2]
        return bytes_of(text) if text else 0

    def fits(self, ground):
        return not self.is_loop or ground.floor(self.what, self.size()) <= 0.5

    def words(self, ground, amount):
        """For so many steps or calls, or as a float for so many seconds of a loop."""
        if not self.is_loop:
            return [self.what, *(["--size", str(self.size())] if self.size() else []), "--steps", str(amount)]
        size = self.size() // (ground.ranks if self.what in grid.OF_BLOCKS else 1)
        return ["loop", self.what, "--bytes", str(max(size, 8)), "--seconds" if isinstance(amount, float) else "--calls",
                str(amount)]


@dataclasses.dataclass(frozen=True)
class Way:
    """How a program is run: without the drop-in, or with it and some options of `quadrille run`."""
    name: str
    dropin: bool = False
    options: tuple = ()
    variables: dict = dataclasses.field(default_factory=dict)
    cache: pathlib.Path | None = None  # None: an empty one


ALONE = Way("alone")
LEARNING = Way("with", dropin=True)
HAN = Way("han", variables={"OMPI_MCA_coll_han_priority": "100"})


@dataclasses.dataclass(frozen=True)
class Run:
    seconds: float  # of the program's loop
    whole: float  # seconds from the launcher's start to its end
    calls: int  # of a loop over a collective


class Place:
    """A ground on which programs are run; its cluster is up as long as it is entered."""

    def __init__(self, name, arguments):
        self.name, self.ground, self.arguments = name, GROUNDS[name], arguments

    def __enter__(self):
        if self.ground.nodes > 1:
            self.cluster("up", "--nodes", self.ground.nodes, "--slots", self.ground.ranks // self.ground.nodes, "--rate",
                         f"{self.ground.megabits}mbit", "--while", os.getpid())
        return self

    def __exit__(self, *_):
        if self.ground.nodes > 1:
            self.cluster("down")

    def cluster(self, command, *words):
        words = ["quadrille", "cluster", command, "--name", grid.CLUSTER, *map(str, words)]
        return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout

    def command(self, program, amount, way, *more):
        kernel, *words = program.words(self.ground, amount)
        start = ["quadrille", "run", *way.options, "--"] if way.dropin else []
        return [*start, *self.ground.launcher(), self.arguments.kernels / self.ground.mpi / kernel, *words, *more]

    def environment(self, way, cache):
        learn = {"QUADRILLE_LEARN": self.arguments.learn} if self.arguments.learn is not None else {}
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return {**root, **os.environ, **learn, "XDG_CACHE_HOME": str(cache), **way.variables}

    def run(self, program, amount, way, *more):
        start = time.monotonic()
        with tempfile.TemporaryDirectory(dir=self.arguments.output) as fresh:
            done = subprocess.run([str(word) for word in self.command(program, amount, way, *more)], text=True,
                                  env=self.environment(way, way.cache or fresh), stdin=subprocess.DEVNULL,
                                  capture_output=True, check=False, timeout=1800)
        seconds = re.search(r"^seconds: (\S+)$", done.stdout, re.MULTILINE)
        if done.returncode != 0 or not seconds:
            sys.exit(f"{' '.join(map(str, done.args))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        calls = re.search(r"^calls: (\d+)$", done.stdout, re.MULTILINE)
        return Run(float(seconds[1]), time.monotonic() - start, int(calls[1]) if calls else 0)

    def amount(self, program, way=ALONE):
        """Calls or steps that take about as long as is wanted."""
        wanted = self.arguments.seconds
        if program.is_loop:
            return max(self.run(program, wanted, way).calls, self.arguments.calls)
        steps = 1
        while True:
            seconds = self.run(program, steps, way).seconds
            if seconds > wanted / 8:
                return max(round(steps * wanted / seconds), 1)
            steps *= 8


def factor_of(ratios):
    """By which the ratio of the medians may be wrong in either direction, by the spread of the ratios of pairs."""
    if len(ratios) < 2:
        return math.inf
    logarithms = [math.log(ratio) for ratio in ratios]
    freedom = min(len(ratios) - 1, len(STUDENT))
    error = MEDIAN * statistics.stdev(logarithms) / math.sqrt(len(ratios))
    return math.exp(STUDENT[freedom - 1] * error)


@dataclasses.dataclass
class Pairs:
    """Runs without and with the drop-in."""
    alone: list = dataclasses.field(default_factory=list)
    learning: list = dataclasses.field(default_factory=list)

    def medians(self, what="seconds"):
        return [statistics.median(getattr(run, what) for run in runs) for runs in (self.alone, self.learning)]

    @property
    def ratio(self):
        alone, learning = self.medians()
        return learning / alone

    @property
    def factor(self):
        return factor_of([b.seconds / a.seconds for a, b in zip(self.alone, self.learning)])

    def verdict(self):
        beyond = 1 + max(TOLERANCE, self.factor - 1)
        if self.ratio > beyond:
            return "slower"
        if self.ratio < 1 / beyond:
            return "faster"
        return "same" if self.factor <= 1 + TOLERANCE else "unclear"

    def is_enough(self, least, precision):
        count = len(self.alone)
        if count < least or (self.verdict() == "slower" and count < 2 * least):
            return False
        return self.factor <= 1 + precision or self.verdict() in ("slower", "faster")

    def to_json(self):
        times = {f"{kind}_{what}": [getattr(run, what) for run in runs] for what in ("seconds", "whole")
                 for kind, runs in (("alone", self.alone), ("with", self.learning))}
        return {**times, "ratio": self.ratio, "low": self.ratio / self.factor, "high": self.ratio * self.factor,
                "verdict": self.verdict()}


def measure_pairs(place, program, arguments):
    amount = place.amount(program)
    pairs = Pairs()
    start = time.monotonic()
    while not pairs.is_enough(arguments.runs, arguments.precision):
        if len(pairs.alone) >= 2 and time.monotonic() - start > arguments.limit:
            break
        order = [(ALONE, pairs.alone), (LEARNING, pairs.learning)]
        for way, runs in reversed(order) if len(pairs.alone) % 2 else order:
            runs.append(place.run(program, amount, way))
    return amount, pairs


def write(arguments, name, rows):
    path = arguments.output / f"{name}.json"
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def programs_of(arguments, default, ground):
    names = arguments.programs.split(",") if arguments.programs else default
    return [program for program in map(Program, names) if program.fits(ground)]


def describe_first(program, amount, pairs):
    alone, learning = pairs.medians()
    outside = [whole - loop for whole, loop in zip(pairs.medians("whole"), (alone, learning))]
    return (f"  {program.name:<27}{amount:>9}{alone:>9.3f} s{learning:>9.3f} s  {pairs.ratio:5.3f}, "
            f"{pairs.ratio / pairs.factor:5.3f} to {pairs.ratio * pairs.factor:5.3f}{len(pairs.alone):>6}  "
            f"{pairs.verdict():<9}{1e3 * (outside[1] - outside[0]):+5.0f} ms")


def first(arguments):
    """Whether any program is slower."""
    verdicts = []
    for name in arguments.grounds:
        rows = []
        print(f"{name}\n  {'program':<27}{'amount':>9}{'alone':>11}{'with':>11}  ratio, interval        runs  "
              f"{'verdict':<9}outside the loop", flush=True)
        with Place(name, arguments) as place:
            for program in programs_of(arguments, FIRST, place.ground):
                amount, pairs = measure_pairs(place, program, arguments)
                rows.append({"program": program.name, "amount": amount, **pairs.to_json()})
                print(describe_first(program, amount, pairs), flush=True)
                write(arguments, f"first-{name}", rows)
        found = [row["verdict"] for row in rows]
        counts = ", ".join(f"{found.count(one)} {one}" for one in ("faster", "same", "unclear", "slower"))
        print(f"{name}: {counts}; geometric mean of ratios {grid.geometric_mean([row['ratio'] for row in rows]):.3f}")
        verdicts += found
    return "slower" in verdicts


def replaced_share(place, program, amount, way):
    """Of the calls of the loop's collective, from a run with a report."""
    with tempfile.TemporaryDirectory(dir=place.arguments.output) as folder:
        path = pathlib.Path(folder, "report.json")
        place.run(program, amount, dataclasses.replace(way, options=(*way.options, f"--report={path}")))
        report = json.loads(path.read_text(encoding="utf-8"))
    rows = [row for row in report["calls"] if row["collective"] == program.what]
    # The loop's own few calls to agree on its end are of other sizes.
    row = max(rows, key=lambda one: (one["calls"], one["bytes"]))
    return row["replaced"] / row["calls"]


def measure_ways(place, program, arguments, cache):
    """A row: medians by way, of a call, and what follows from them."""
    learned = Way("learned", dropin=True, cache=cache)
    ways = [Way("default"), *([HAN] if place.ground.mpi == "openmpi" else []), learned]
    if arguments.table:
        ways.append(Way("table", True, ("--table", str(arguments.table)), {"QUADRILLE_LEARN": "0"}))
    calls = {way.name: place.amount(program, way) for way in ways}  # by which the cache is filled, too
    times = {way.name: [] for way in ways}
    for number in range(arguments.runs):
        for way in reversed(ways) if number % 2 else ways:
            times[way.name].append(place.run(program, calls[way.name], way).seconds / calls[way.name])
    middles = {name: statistics.median(some) for name, some in times.items()}
    native = min((name for name in ("default", "han") if name in middles), key=middles.get)
    row = {"program": program.name, "calls": calls, "seconds": times, "native": native,
           "native_to_learned": middles[native] / middles["learned"],
           "factor": factor_of([a / b for a, b in zip(times[native], times["learned"])]),
           "replaced": replaced_share(place, program, calls["learned"], learned)}
    if arguments.table:
        row["table_to_learned"] = middles["table"] / middles["learned"]
    return row


def describe_second(row):
    native, learned = (1e6 * statistics.median(row["seconds"][way]) for way in (row["native"], "learned"))
    table = f"; table / learned {row['table_to_learned']:.2f}" if "table_to_learned" in row else ""
    return (f"  {row['program']:<20}{row['native']:<7}{native:>11.1f} µs, learned{learned:>11.1f} µs: "
            f"{row['native_to_learned']:.2f} times as fast, up to a factor of {row['factor']:.2f}; "
            f"{100 * row['replaced']:.0f} % replaced{table}")


def second(arguments):
    for name in arguments.grounds:
        rows = []
        print(name, flush=True)
        cache = arguments.output / f"cache-{name}"
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir()
        with Place(name, arguments) as place:
            for program in programs_of(arguments, SECOND, place.ground):
                rows.append(measure_ways(place, program, arguments, cache))
                print(describe_second(rows[-1]), flush=True)
                write(arguments, f"second-{name}", rows)
        for collective in (*dict.fromkeys(row["program"].partition(":")[0] for row in rows), ""):
            some = [row for row in rows if row["program"].startswith(f"{collective}:" if collective else "")]
            table = [row["table_to_learned"] for row in some if "table_to_learned" in row]
            print(f"{name}: {collective or 'all':<12}native / learned "
                  f"{grid.geometric_mean([row['native_to_learned'] for row in some]):.2f}"
                  + (f", table / learned {grid.geometric_mean(table):.2f}" if table else "")
                  + f", {100 * statistics.fmean(row['replaced'] for row in some):.0f} % replaced")
    return False


def set_rate(place, bits):
    """Of all links of a running cluster, in both directions: a link's other end is in the keeper's namespace."""
    shape = f"root tbf rate {bits}bit burst 6144 latency 200ms".split()
    keeper = json.loads(place.cluster("status", "--json"))["keeper"]
    user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    for node in range(place.ground.nodes):
        place.cluster("exec", f"node{node}", "--", "tc", "qdisc", "change", "dev", "eth0", *shape)
        subprocess.run(["nsenter", "--target", str(keeper), *user, "--net", "tc", "qdisc", "change", "dev", f"n{node}",
                        *shape], check=True)


@dataclasses.dataclass
class Trace:
    """Calls of a loop: when each started, in seconds from the first, and how long it took."""
    epoch: float
    starts: list
    seconds: list

    @staticmethod
    def read(path):
        head, *lines = path.read_text(encoding="utf-8").splitlines()
        pairs = [tuple(map(float, line.split())) for line in lines]
        return Trace(float(re.search(r"at (\S+),", head)[1]), [one for one, _ in pairs], [one for _, one in pairs])

    def index(self, when):
        """Of the first call that started after this time, since 1970."""
        return next((i for i, start in enumerate(self.starts) if self.epoch + start >= when), len(self.starts))

    def settled(self, since):
        """The first call from which on, in nine at a time, calls take at most 1.1 times what they take in the end."""
        last = statistics.median(self.seconds[since + (len(self.seconds) - since) // 2:])
        middles = [statistics.median(self.seconds[i:i + 9]) for i in range(since, len(self.seconds) - 8)]
        late = [i for i, middle in enumerate(middles) if middle > 1.1 * last]
        return since + (late[-1] + 1 if late else 0)


def traced_run(place, program, way, arguments, slow_after):
    """The trace, when the links were slowed; None: not in this run; and the call numbers of new verdicts."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=arguments.output))
    trace, report = folder / "trace", folder / "report.json"
    if way.dropin:
        way = dataclasses.replace(way, options=(*way.options, f"--report={report}"))
    words = place.command(program, arguments.time, way, "--trace", trace)
    with subprocess.Popen([str(word) for word in words], env=place.environment(way, folder), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        slowed = None
        if slow_after is not None:
            time.sleep(slow_after)
            set_rate(place, arguments.slow_bits)
            slowed = time.time()
        output, _ = process.communicate(timeout=1800)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit status {process.returncode}\n{output}")
    found = Trace.read(trace)
    learned = json.loads(report.read_text(encoding="utf-8"))["learned"] if report.exists() else []
    for one in learned:
        print(f"    {one['collective']}, {one['calls']} calls, {one['replaced']} replaced: " + ", ".join(
            f"{change['verdict']} from call {change['calls']}" for change in one["changes"]), flush=True)
    shutil.rmtree(folder)
    return found, slowed, [change["calls"] for one in learned if one["collective"] == program.what
                           for change in one["changes"]]


def judged_change(way, trace, slowed, verdicts):
    since = trace.index(slowed)
    after = len(trace.seconds) - since
    if since < 9 or after < 18:
        sys.exit(f"{way.name}: {since} calls before the change and {after} after it: too few; set --time")
    settled = trace.settled(since)
    row = {"calls": len(trace.seconds), "changed_at": since,
           "before": statistics.median(trace.seconds[since // 2:since]),
           "at_once": statistics.median(trace.seconds[since + 1:since + 10]),
           "in_the_end": statistics.median(trace.seconds[since + after // 2:]),
           "verdict_calls": next((calls - since for calls in verdicts if calls > since), None),
           "settled_calls": settled - since,
           "settled_seconds": max(trace.epoch + trace.starts[settled] - slowed, 0)}
    print(f"  {way.name:<7}a call takes {1e3 * row['before']:.2f} ms, at once after the change "
          f"{1e3 * row['at_once']:.2f}, in the end {1e3 * row['in_the_end']:.2f}; settled after {row['settled_calls']} "
          f"calls, {row['settled_seconds']:.1f} s"
          + (f"; another verdict after {row['verdict_calls']} calls" if row["verdict_calls"] else ""), flush=True)
    return row


def change(arguments):
    program = Program(arguments.program)
    rows = {}
    print(f"{arguments.ground}, {program.name}", flush=True)
    with Place(arguments.ground, arguments) as place:
        full = place.ground.megabits * 1_000_000
        arguments.slow_bits = full // arguments.slower
        run = place.run(program, 2, ALONE)
        starting = run.whole - run.seconds  # of many ranks, seconds
        for way in (ALONE, LEARNING):
            set_rate(place, full)
            traced = traced_run(place, program, way, arguments, starting + arguments.time / 3)
            rows[way.name] = judged_change(way, *traced)
        trace, _, _ = traced_run(place, program, LEARNING, arguments, None)  # the links are slow from the start
        rows["reachable"] = statistics.median(trace.seconds[len(trace.seconds) // 2:])
        rows["ratio"] = rows["with"]["in_the_end"] / rows["reachable"]
        print(f"  slow from the start: {1e3 * rows['reachable']:.2f} ms; after the change {rows['ratio']:.2f} times that")
    write(arguments, "change", rows)
    return False


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function in (("first", first), ("second", second), ("change", change)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        command.add_argument("--quadrille", type=pathlib.Path, default=ROOT / "build/release/src/quadrille")
        command.add_argument("--kernels", type=pathlib.Path, default=ROOT / "build/release/tests/kernels")
        command.add_argument("--output", type=pathlib.Path, default=ROOT / "build/learning", help="folder of JSON files")
        command.add_argument("--learn", metavar="PERCENT", help="QUADRILLE_LEARN with the drop-in; default: unset")
        if name == "change":
            command.add_argument("--program", default="allreduce:64KiB", help="a loop")
            command.add_argument("--ground", choices=[name for name, one in GROUNDS.items() if one.nodes > 1],
                                 default="16x4-50")
            command.add_argument("--time", type=float, default=120.0, help="seconds of a loop, about")
            command.add_argument("--slower", type=int, default=4, help="by what the rate is divided")
            continue
        command.add_argument("grounds", nargs="+", choices=GROUNDS, metavar="GROUND", help=", ".join(GROUNDS))
        command.add_argument("--programs", help="as heat,sgd:16384,allreduce:64KiB,barrier")
        command.add_argument("--seconds", type=float, default=2.0, help="that a run is to take")
        command.add_argument("--calls", type=int, default=30, help="of a loop, at least")
        command.add_argument("--runs", type=int, default=5, help="of each kind, at least")
        if name == "first":
            command.add_argument("--precision", type=float, default=0.02, help="runs are repeated until it is reached")
            command.add_argument("--limit", type=float, default=180.0, help="or for so many seconds a program")
        else:
            command.add_argument("--table", type=lambda text: pathlib.Path(text).resolve(), help="tuning table")
    return parser.parse_args()


def main():
    arguments = parse()
    for path in (arguments.quadrille, arguments.kernels):
        if not path.exists():
            sys.exit(f"{path} does not exist: build it, or set --quadrille and --kernels")
    arguments.kernels, arguments.output = arguments.kernels.resolve(), arguments.output.resolve()
    arguments.output.mkdir(parents=True, exist_ok=True)
    if (load := os.getloadavg()[0]) > 0.25 * os.cpu_count():
        print(f"warning: the machine is busy, its load is {load:.2f}: all intervals will be wide", file=sys.stderr)
    os.environ["PATH"] = f"{arguments.quadrille.resolve().parent}{os.pathsep}{os.environ['PATH']}"
    return int(arguments.function(arguments))


if __name__ == "__main__":
    sys.exit(main())
