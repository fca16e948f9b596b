#!/usr/bin/env python3
"""How good the default is.

    grid.py measure FOLDER [GROUND...]   measures all grounds, or those named, into FOLDER; needs quadrille in the PATH
    grid.py judge FOLDER [GROUND...]     says what came of it; also done at the end of measure
    grid.py page FOLDER                  writes docs/benchmarks/default.md and its plot

A ground is a number of ranks in some place, under some MPI. There the machine is probed, and then every collective is
measured with several sizes by all algorithms, by the default and by the MPI's own function: under Open MPI by the better
of its default and han. A size is the data of one rank in all; what the links alone need more than half a second for is
left out. Of each cell, a collective with a size, the best of our variants is picked on the odd rounds and judged on the
even ones, so that luck is not taken for speed: how many times as long the default takes. Native's time is relative to
the default's; prices are held against medians.
"""

import argparse
import dataclasses
import datetime
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

SIZES = (8, 2048, 16384, 131072, 1048576)
WHOLE = ("barrier", "bcast", "reduce", "allreduce", "reduce_scatter_block", "alltoall")
OF_BLOCKS = ("allgather", "gather", "scatter")  # whose size is that of one rank's block
BYTE = 1.045 * 8  # bits on an Ethernet, as cost::byte_on_ethernet
CLUSTER = "grid"
LEAST_ROUNDS = 6


@dataclasses.dataclass(frozen=True)
class Ground:
    mpi: str
    ranks: int
    nodes: int = 1
    megabits: int = 0
    racks: int = 0
    uplink: int = 0  # megabits, of a rack; 0: as a node's
    slots: int = 4
    seconds: float = 1.5  # a point

    def floor(self, collective, size):
        """Seconds that a node's link, or a rack's, needs at least."""
        if self.nodes == 1:
            return 0
        crossing = {"alltoall": self.ranks / self.nodes, "allreduce": 2}.get(collective, 1) * size
        of_rack = crossing * (self.nodes / self.racks if collective == "alltoall" else 1) if self.racks else 0
        return max(crossing / self.megabits, of_rack / (self.uplink or self.megabits)) * BYTE / 1e6

    def sizes(self, collective, least):
        return [size for size in SIZES if size >= least and self.floor(collective, size) <= 0.5]

    def launcher(self):
        if self.nodes > 1:
            words = ["quadrille", "cluster", "run", "--name", CLUSTER, "--mpi", self.mpi]
            return words + (["--map", "ppr:1"] if self.ranks == self.nodes else []) + ["-n", str(self.ranks), "--"]
        options = ["--oversubscribe", "--bind-to", "none"] if self.mpi == "openmpi" else []
        return [f"mpirun.{self.mpi}", *options, "-n", str(self.ranks)]


GROUNDS = {
    "16x4-50": Ground("openmpi", 64, 16, 50),
    "2-openmpi": Ground("openmpi", 2, seconds=0.15),
    "2-mpich": Ground("mpich", 2, seconds=0.15),
    "16x1-50": Ground("openmpi", 16, 16, 50),
    "racks": Ground("openmpi", 64, 16, 50, racks=4),
    "sites": Ground("openmpi", 15, 15, 50, racks=3, uplink=10, slots=1),
    "16x4-200": Ground("openmpi", 64, 16, 200),
    "8-openmpi": Ground("openmpi", 8, seconds=0.3),
    "8-mpich": Ground("mpich", 8, seconds=0.3),
}


def run(words, log, **variables):
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **os.environ, **variables}
    with open(log, "a", encoding="utf-8") as file:
        print("$", *words, file=file, flush=True)
        done = subprocess.run(words, stdout=file, stderr=file, stdin=subprocess.DEVNULL, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}; see {log}")


def bench(ground, name, folder, least, algorithms, **variables):
    """A job for each collective: ranks that have talked to all others have more connections to look at, and are slower
    from then on. Returns a report of all points."""
    points = []
    for collective in (*WHOLE, *OF_BLOCKS):
        sizes = [size // (ground.ranks if collective in OF_BLOCKS else 1) for size in
                 ground.sizes(collective, least)]
        part = folder / f"{name}.part"
        run([*ground.launcher(), "quadrille", "bench", collective, "--sizes", ",".join(str(size) for size in sizes if size),
             "--algorithms", algorithms, "--within", "3", "--time", str(ground.seconds), "--least", "7", "--json",
             str(part)], folder / f"{name}.log", **variables)
        report = json.loads(part.read_text(encoding="utf-8"))
        part.unlink()
        points += report["points"]
        report["points"] = points
    return report


def measure(folder, names, least):
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(folder.absolute() / "cache")
    for name in names:
        ground = GROUNDS[name]
        start = time.monotonic()
        log = folder / f"{name}.log"
        log.unlink(missing_ok=True)
        if ground.nodes > 1:
            racks = ["--racks", str(ground.racks)] if ground.racks else []
            racks += ["--uplink", f"{ground.uplink}mbit"] if ground.uplink else []
            run(["quadrille", "cluster", "up", "--name", CLUSTER, "--nodes", str(ground.nodes), "--slots", str(ground.slots), "--rate",
                 f"{ground.megabits}mbit", *racks, "--while", str(os.getpid())], log)
        try:
            run([*ground.launcher(), "quadrille", "probe"], log)
            report = bench(ground, name, folder, least, "default,all")
            (folder / f"{name}.json").write_text(json.dumps(report), encoding="utf-8")
            if ground.mpi == "openmpi":
                han = bench(ground, name, folder, least, "none", OMPI_MCA_coll_han_priority="100")
                (folder / f"{name}-han.json").write_text(json.dumps(han), encoding="utf-8")
        finally:
            if ground.nodes > 1:
                run(["quadrille", "cluster", "down", "--name", CLUSTER], log)
        print(f"{name}: {(time.monotonic() - start) / 60:.1f} min", flush=True)


def cells(report):
    """By collective and size: variant -> point."""
    found = {}
    for point in report["points"]:
        found.setdefault((point["collective"], point["bytes"]), {})[point["variant"]] = point
    return found


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else float("nan")


def judge(cell):
    """How many times as long the default takes as the best, and native as the default; the best's name."""
    ours = {name: point["seconds"] for name, point in cell.items() if name not in ("native", "control", "delayed")}
    default = ours["default"]
    best = min(ours, key=lambda name: statistics.median(ours[name][1::2]))
    if cell[best].get("same_as") == "default" or cell["default"].get("same_as") == best:
        loss = 1.0  # the same schedule
    else:
        loss = statistics.median(default[::2]) / statistics.median(ours[best][::2])
    gain = statistics.median(cell["native"]["seconds"]) / statistics.median(default)
    return loss, gain, best


@dataclasses.dataclass
class Verdict:
    """Of one ground, from some size on."""
    losses: list = dataclasses.field(default_factory=list)
    gains: dict = dataclasses.field(default_factory=dict)  # by collective
    prices: list = dataclasses.field(default_factory=list)  # (price, measured)
    cells: list = dataclasses.field(default_factory=list)  # (loss, line of text)
    too_few: int = 0  # cells with too few rounds to be judged on half of them

    def within(self):
        return 100 * sum(loss <= 1.15 for loss in self.losses) / len(self.losses)

    def beyond(self):
        return sum(loss > 1.5 for loss in self.losses)

    def gain(self, collectives):
        return geometric_mean([value for one in collectives for value in self.gains.get(one, [])])

    def error(self):
        return 100 * statistics.median(abs(price / measured - 1) for price, measured in self.prices)


def verdict_of(name, report, least):
    verdict = Verdict()
    ground = GROUNDS[name]
    for (collective, size), cell in cells(report).items():
        size *= ground.ranks if collective in OF_BLOCKS else 1
        if "default" not in cell or size < least:
            continue
        if len(cell["default"]["seconds"]) < LEAST_ROUNDS:
            verdict.too_few += 1
            continue
        loss, gain, best = judge(cell)
        verdict.losses.append(loss)
        verdict.gains.setdefault(collective, []).append(gain)
        middles = {variant: statistics.median(point["seconds"]) for variant, point in cell.items()}
        verdict.prices += [(point["price"], middles[variant]) for variant, point in cell.items()
                           if "price" in point and variant not in ("native", "control", "default")]
        chosen = cell["default"].get("same_as", "default")
        prices = ", ".join(f"price of {one} {cell[one].get('price', 0) / middles[one]:.2f} times its time"
                           for one in {chosen: 0, best: 0} if one in cell)
        verdict.cells.append((loss, f"  {collective:21} {size:8}  {chosen:18} takes {loss:.2f} times {best:18} "
                                    f"native {gain:.2f}; {prices}"))
    return verdict


SHORT = ("barrier", "bcast", "allreduce")
LONG = ("bcast", "reduce", "allreduce", "allgather")


def describe(name, verdict, listing):
    for loss, line in verdict.cells:
        if listing == "all" or (listing == "losses" and loss > 1.15):
            print(line)
    print(f"{name}: {len(verdict.losses)} cells; within 1.15 of the best {verdict.within():.0f} %, "
          f"beyond 1.5: {verdict.beyond()}; worst {max(verdict.losses):.2f}; not judged, with too few rounds: "
          f"{verdict.too_few}")
    if verdict.prices:
        print(f"  price against measurement: median error {verdict.error():.0f} %, of {len(verdict.prices)}")
    for collective, some in verdict.gains.items():
        print(f"  {collective:21} native / default {geometric_mean(some):.2f} ({min(some):.2f} to {max(some):.2f})")
    for some in (SHORT, LONG):
        print(f"  {', '.join(some)}: {verdict.gain(some):.2f}")


def plot(verdicts):
    """Prices against measured times, as SVG."""
    side, edge, least, most = 520, 60, -6.5, 1
    colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#222222", "#999999")

    def at(seconds):
        return edge + (math.log10(seconds) - least) / (most - least) * side

    size = side + 2 * edge
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size + 110} {size}" font-family="sans-serif" '
             f'font-size="12"><rect width="{size + 110}" height="{size}" fill="white"/>']
    for power in range(-6, 2):
        x = at(10.0 ** power)
        name = {-6: "1 µs", -3: "1 ms", 0: "1 s"}.get(power, "")
        parts.append(f'<path d="M{x:.1f} {edge}V{edge + side}M{edge} {size - x:.1f}H{edge + side}" stroke="#ddd"/>'
                     f'<text x="{x:.1f}" y="{edge + side + 18}" text-anchor="middle">{name}</text>'
                     f'<text x="{edge - 6}" y="{size - x + 4:.1f}" text-anchor="end">{name}</text>')
    for factor in (1, 1.2, 1 / 1.2):
        low, high = 10 ** (least + 0.1), 10 ** (most - 0.1)
        parts.append(f'<path d="M{at(low):.1f} {size - at(low * factor):.1f}L{at(high):.1f} '
                     f'{size - at(high * factor):.1f}" stroke="#888" fill="none"'
                     f'{"" if factor == 1 else " stroke-dasharray=" + chr(34) + "3 3" + chr(34)}/>')
    for number, (name, verdict) in enumerate(verdicts.items()):
        colour = colours[number % len(colours)]
        parts += [f'<circle cx="{at(measured):.1f}" cy="{size - at(price):.1f}" r="2" fill="{colour}" opacity="0.6"/>'
                  for price, measured in verdict.prices if price > 0]
        parts.append(f'<circle cx="{size - 30}" cy="{edge + 20 * number}" r="4" fill="{colour}"/>'
                     f'<text x="{size - 20}" y="{edge + 4 + 20 * number}">{name}</text>')
    parts.append(f'<text x="{edge + side / 2}" y="{size - 12}" text-anchor="middle">measured</text>'
                 f'<text x="16" y="{edge + side / 2}" text-anchor="middle" '
                 f'transform="rotate(-90 16 {edge + side / 2})">price</text></svg>\n')
    return "".join(parts)


def page(folder, names):
    """From 16 KiB on, on one node from 8 bytes; and of all sizes."""
    lines = ["# What the default reaches", "",
             "Made by `benchmarks/grid.py measure FOLDER` and `benchmarks/grid.py page FOLDER`, which say what is measured "
             "and how. A ground is named by nodes, ranks a node and Mbit/s of a node's link, or by ranks and MPI; racks are "
             "4 of 4 nodes with 4 ranks, with 50 Mbit/s for each node and each rack. The machine has 2 cores, so that on "
             "nodes with 4 ranks, and with 8 ranks, short calls measure the scheduler; MPICH's own calls spin while they wait, and take about a "
             "hundred times as long there. Every ground was probed first.", "",
             f"<!-- measured {datetime.date.today()}: src/core/algorithms src/core/cost src/core/select src/mpi/engine -->",
             "| ground | sizes | cells (not judged) | default within 1.15 of the best algorithm | beyond 1.5 | worst | MPI's own / "
             "default: barrier, bcast, allreduce | bcast, reduce, allreduce, allgather | price, median error |",
             "|---|---|---|---|---|---|---|---|---|"]
    plotted = {}
    for name in names:
        report = read(folder, name)
        least = 0 if GROUNDS[name].nodes == 1 else 16384
        for start in {least: 0, 0: 0}:
            verdict = verdict_of(name, report, start)
            if start < least and len(verdict.losses) <= 1 + len(plotted[name].losses):
                continue  # only a barrier more
            plotted.setdefault(name, verdict)
            sizes = "all" if start == 0 else f"from {start // 1024} KiB"
            lines.append(f"| {name} | {sizes} | {len(verdict.losses)} ({verdict.too_few}) | {verdict.within():.0f} % | {verdict.beyond()} | "
                         f"{max(verdict.losses):.2f} | {verdict.gain(SHORT):.2f} | {verdict.gain(LONG):.2f} | "
                         f"{verdict.error():.0f} % |")
    lines += ["", "![Prices against measured times](prices.svg)", "",
              "Each dot is an algorithm with one size; the dotted lines are 20 % off.", ""]
    docs = pathlib.Path(__file__).resolve().parent.parent / "docs" / "benchmarks"
    (docs / "default.md").write_text("\n".join(lines), encoding="utf-8")
    (docs / "prices.svg").write_text(plot(plotted), encoding="utf-8")


def read(folder, name):
    """The report, with native as the better of the MPI's default and han."""
    report = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    han = folder / f"{name}-han.json"
    other = cells(json.loads(han.read_text(encoding="utf-8"))) if han.exists() else {}
    for key, cell in cells(report).items():
        rival = other.get(key, {}).get("native")
        if rival and statistics.median(rival["seconds"]) < statistics.median(cell["native"]["seconds"]):
            cell["native"]["seconds"] = rival["seconds"]
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("measure", "judge", "page"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("grounds", nargs="*", choices=(*GROUNDS, []), metavar="GROUND")
    parser.add_argument("--from", dest="least", type=int, default=0, help="only sizes from so many bytes on")
    parser.add_argument("--list", choices=("all", "losses"), help="each cell")
    arguments = parser.parse_intermixed_args()
    names = arguments.grounds or list(GROUNDS)
    if arguments.command == "measure":
        measure(arguments.folder, names, arguments.least)
    names = [name for name in names if (arguments.folder / f"{name}.json").exists()]
    if arguments.command == "page":
        page(arguments.folder, names)
        return
    for name in names:
        describe(name, verdict_of(name, read(arguments.folder, name), arguments.least), arguments.list)


if __name__ == "__main__":
    main()
