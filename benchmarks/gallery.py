#!/usr/bin/env python3
"""Measures the benchmarks of docs/benchmarks.md, and generates the page and its plots from the reports.

    benchmarks/gallery.py measure [NAME...]   runs the commands below, writes docs/benchmarks/NAME.json
    benchmarks/gallery.py render              writes the tables of docs/benchmarks.md and docs/benchmarks/README.md,
                                              docs/benchmarks/NAME.md, with all that was measured, and NAME.svg

--quadrille is the path of the command (default: build/release/src/quadrille).
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

import verdicts

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "benchmarks"
CORES = 2  # of the machine that the pages are of
INSIDE = "barrier bcast reduce allreduce allgather --sizes 8,64KiB-8MiB*4 --algorithms hierarchical --time 1"
LEVELS_ALONE = "barrier bcast reduce allreduce allgather --sizes 8,4KiB-1MiB*4"
LEVELS = f"{LEVELS_ALONE} --algorithms hierarchical"
SCALING = "barrier bcast allreduce --sizes 8,64KiB,1MiB --algorithms hierarchical --time 2"
BASICS = "barrier bcast allreduce alltoallv --sizes 8,64KiB,1MiB"


@dataclasses.dataclass(frozen=True)
class Run:
    name: str
    text: str  # heading, and an explanation
    mpi: str
    ranks: int
    bench: str  # arguments of quadrille bench
    cluster: str = ""  # arguments of quadrille cluster up; empty: no cluster
    environment: str = ""
    beside: tuple = ()  # runs in the same plot
    against: str = "sizes"  # the x axis of its plot
    rates: bool = False  # plot rates, too
    title: str = ""  # where the text says "the same"

    def launch(self):
        words = f"quadrille bench {self.bench}"
        if self.cluster:
            return f"{self.environment} quadrille cluster run -n {self.ranks} --mpi {self.mpi} -- {words}".strip()
        # Open MPI yields only where it must: with a core for each rank that would slow its own calls down.
        crowded = self.mpi == "openmpi" and self.ranks > CORES
        options = " --oversubscribe --bind-to none --mca mpi_yield_when_idle 1" if crowded else ""
        return f"{self.environment} mpirun.{self.mpi}{options} -n {self.ranks} {words}".strip()


CLUSTER = "--nodes 16 --slots 4 --rate 200mbit"
RUNS = [
    Run("cluster-openmpi", "16 nodes with 4 ranks each, 200 Mbit/s a node, Open MPI.", "openmpi", 64,
        f"{BASICS} --time 4 --label default", CLUSTER, beside=("cluster-openmpi-han",)),
    Run("cluster-openmpi-han", "", "openmpi", 64, f"{BASICS} --algorithms none --time 4 --label han", CLUSTER,
        "OMPI_MCA_coll_han_priority=100"),
    Run("cluster-mpich", "The same cluster, MPICH. Its blocking calls spin, and there are 32 ranks per core: native measures "
        "the scheduler as much as the network.", "mpich", 64,
        f"{BASICS} --time 4 --least 6 --label default", CLUSTER, title="16 nodes with 4 ranks each, 200 Mbit/s a node, MPICH"),
    Run("levels-openmpi", "Hierarchical algorithms, 16 nodes with 4 ranks each, Open MPI.", "openmpi", 64,
        f"{LEVELS} --time 3 --label default", CLUSTER, beside=("levels-openmpi-han",)),
    Run("levels-openmpi-han", "", "openmpi", 64, f"{LEVELS_ALONE} --algorithms none --time 3 --label han", CLUSTER,
        "OMPI_MCA_coll_han_priority=100"),
    Run("levels-mpich", "Hierarchical algorithms, the same cluster, MPICH. Its blocking calls spin.", "mpich", 64,
        "bcast reduce allreduce allgather --sizes 8,4KiB,64KiB --algorithms hierarchical --time 3 --least 6", CLUSTER,
        title="Hierarchical algorithms, 16 nodes with 4 ranks each, MPICH"),
    Run("levels-64", "Hierarchical algorithms by ranks, 4 on a node, Open MPI.", "openmpi", 64, SCALING, CLUSTER,
        beside=("levels-4", "levels-8", "levels-16", "levels-32"), against="ranks"),
    *(Run(f"levels-{ranks}", "", "openmpi", ranks, SCALING, CLUSTER) for ranks in (4, 8, 16, 32)),
    Run("levels-node-openmpi", "Hierarchical algorithms through shared memory, 2 ranks on 2 cores, Open MPI.",
        "openmpi", 2, INSIDE, rates=True),
    Run("levels-node-mpich", "Hierarchical algorithms through shared memory, 2 ranks on 2 cores, MPICH.", "mpich", 2, INSIDE),
    Run("node-openmpi", "One node, 2 ranks on 2 cores, Open MPI.", "openmpi", 2,
        "barrier bcast reduce allreduce allgather alltoall --sizes 8-1MiB*8 --algorithms default --control --time 1"),
    Run("node-mpich", "One node, 2 ranks on 2 cores, MPICH.", "mpich", 2,
        "barrier bcast reduce allreduce allgather alltoall --sizes 8-1MiB*8 --algorithms default --control --time 1"),
    Run("crowded-openmpi", "One node, 8 ranks on 2 cores, Open MPI, which yields.", "openmpi", 8,
        "barrier bcast allreduce --sizes 8,64KiB,1MiB --algorithms default --control --time 2"),
    Run("crowded-mpich", "One node, 8 ranks on 2 cores, MPICH, which spins.", "mpich", 8,
        "barrier bcast allreduce --sizes 8,64KiB,1MiB --algorithms default --control --time 2"),
]


def measure(quadrille, names):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment["PATH"] = f"{quadrille.parent}:{environment['PATH']}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    known = [run.name for run in (*RUNS, *IN_PLACE)]
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    up = ""
    for run in RUNS:
        if names and run.name not in names:
            continue
        if run.cluster != up:
            if up:
                subprocess.run(["quadrille", "cluster", "down"], env=environment, check=True)
            if run.cluster:
                subprocess.run(["quadrille", "cluster", "up", *run.cluster.split()], env=environment, check=True)
            up = run.cluster
        result = FOLDER / f"{run.name}.json"
        result.unlink(missing_ok=True)
        command = f"{run.launch()} --json {result.relative_to(ROOT)}"
        print(f"\n{command}", flush=True)
        ended = subprocess.run(command, shell=True, env=environment, cwd=ROOT, check=False)
        if ended.returncode != 0 and result.exists():
            # MPICH's launcher may fail on many nodes after all ranks have exited; the report is complete or missing.
            print(f"the report is complete, but the launcher exited with {ended.returncode}", file=sys.stderr)
        elif ended.returncode != 0:
            if up:
                subprocess.run(["quadrille", "cluster", "down"], env=environment, check=False)
            sys.exit(f"{run.name} was not measured: exit status {ended.returncode}")
    if up:
        subprocess.run(["quadrille", "cluster", "down"], env=environment, check=True)


def of_seconds(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def of_ratio(point):
    """Too few repeats give no interval; native has no ratio."""
    ratio = point.get("ratio")
    if not ratio:
        return ""
    digits = verdicts.digits
    interval = f" ({digits(ratio['low'])} to {digits(ratio['high'])})" if "low" in ratio else ""
    return f"{digits(ratio['median'])}{interval}"


def table(run, reports):
    """A row for each variant of each cell: native, the runs in the same plot, and ours."""
    mine = verdicts.by_cell(reports[run.name])
    lines = ["| collective | size | variant | time | time / native | repeats |", "|---|---|---|---|---|---|"]
    beside = [reports[name] for name in run.beside if name in reports]
    others = [(report["provenance"]["label"], verdicts.by_cell(report)) for report in beside]
    for (collective, size), variants in mine.items():
        rows = list(variants.items())
        for label, cells in others:
            other = cells.get((collective, size), {}).get("native")
            if other:
                rows.insert(1, (f"native, {label}", other))
        for name, point in rows:
            words = [collective, verdicts.of_bytes(size) if size else "", name, of_seconds(point["time"]["median"])]
            words += [of_ratio(point), str(len(point["seconds"]))]
            lines.append(f"| {' | '.join(words)} |")
    return lines


def named(run, reports):
    return [name for name in (run.name, *run.beside) if name in reports]


def plots(run):
    """Options of `quadrille bench plot`, by the name of the file."""
    both = {run.name: ["--against", run.against]}
    return {**both, f"{run.name}-rates": ["--rates"]} if run.rates else both


def heading(run):
    return run.title or run.text.split(".")[0]


def page_of(run, reports):
    """All that was measured in a run."""
    provenance = reports[run.name]["provenance"]
    names = named(run, reports)
    page = [f"# {heading(run)}", ""]
    if "." in run.text.rstrip("."):
        page += [run.text.split(". ", 1)[1], ""]
    page += [f"{provenance['mpi']}, {provenance['date'][:10]}. [What the figures mean](README.md).", "", "```"]
    page += [f"quadrille cluster up {run.cluster}"] if run.cluster else []
    page += [one.launch() for one in RUNS if one.name in names]
    page += ["```"]
    for name in plots(run):
        page += ["", f"![{'Rates' if name.endswith('-rates') else 'Times'} of this run]({name}.svg)"]
    return page + (["", *table(run, reports)] if run.against == "sizes" else [])


def index(reports):
    lines = ["| run | MPI | date |", "|---|---|---|"]
    for run in RUNS:
        if run.name in reports and run.text:
            provenance = reports[run.name]["provenance"]
            lines.append(f"| [{heading(run)}]({run.name}.md) | {provenance['mpi']} | {provenance['date'][:10]} |")
    return lines + [f"| [{run.text}](in-place/{run.name}.md) | | {report[0]['date']} |" for run, report in in_place_reports()]


def tables(reports):
    """What stands behind the marks of docs/benchmarks.md and docs/benchmarks/README.md."""
    found = {"runs": index(reports), "in-place": verdicts.in_place((run.ground, report) for run, report in in_place_reports())}
    for name, other in {"levels-openmpi": "levels-openmpi-han", "levels-mpich": None, "levels-node-openmpi": None,
                        "levels-node-mpich": None}.items():
        found[name] = verdicts.table(reports[name], "hierarchical", reports.get(other))
    return found


def with_tables(path, found):
    """The page with its tables written anew, each behind a mark <!-- NAME -->; the text around them is not generated."""
    text = path.read_text()
    marks = re.findall(r"^<!-- (\S+) -->$", text, re.MULTILINE)
    for name in marks:
        if name not in found:
            sys.exit(f"{path}: there is no table {name}")
        made = "".join(f"{line}\n" for line in found[name])
        text = re.sub(rf"(<!-- {name} -->\n)(?:\|.*\n)*", lambda mark, made=made: mark[1] + made, text)
    if not marks:
        sys.exit(f"{path}: no mark <!-- NAME --> is left")
    return text


def pages():
    """The text of every generated page."""
    reports = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
    found = tables(reports)
    written = {path: with_tables(path, found) for path in (FOLDER.parent / "benchmarks.md", FOLDER / "README.md")}
    for run in RUNS:
        if run.name in reports and run.text:
            written[FOLDER / f"{run.name}.md"] = "\n".join(page_of(run, reports)) + "\n"
    for run, report in in_place_reports():
        written[FOLDER / "in-place" / f"{run.name}.md"] = "\n".join(in_place_page(run, report)) + "\n"
    return written


def render(quadrille):
    reports = [path.stem for path in FOLDER.glob("*.json")]
    for run in RUNS:
        if run.name not in reports or not run.text:
            continue
        files = [f"{FOLDER / of}.json" for of in named(run, reports)]
        for name, options in plots(run).items():
            output = f"{FOLDER / name}.svg"
            subprocess.run([quadrille, "bench", "plot", *files, *options, "--output", output], check=True)
    for path, text in pages().items():
        path.write_text(text)


@dataclasses.dataclass(frozen=True)
class InPlace:
    """A run of benchmarks/in_place.cpp, which writes its own plot."""
    name: str
    text: str
    mpi: str
    ranks: int
    words: str
    cluster: str = ""
    place: str = ""  # options of quadrille cluster run

    @property
    def ground(self):
        return self.text.removeprefix("In-place all-to-all, ")

    def launch(self, program):
        if self.cluster:
            return f"quadrille cluster run -n {self.ranks} --mpi {self.mpi}{self.place} -- {program} {self.words}"
        options = " --bind-to core" if self.mpi == "openmpi" else ""
        return f"mpirun.{self.mpi}{options} -n {self.ranks} {program} {self.words}"


IN_PLACE = [
    InPlace("in-place-16x1", "In-place all-to-all, 16 nodes with 1 rank each, 200 Mbit/s a node, Open MPI", "openmpi", 16,
            "--rate 200 --rounds 9 --memory 1,2,5,10,12,25,100 "
            "--orders tournament,hierarchical_sets,linear_shift,by_rank,by_rank:1", CLUSTER, " --map ppr:1"),
    InPlace("in-place-16x4", "In-place all-to-all, 16 nodes with 4 ranks each, 200 Mbit/s a node, Open MPI", "openmpi", 64,
            "--bytes 2097152 --rounds 5 --memory 1,2,5,10,12,100 --orders tournament,hierarchical_factor,by_rank:1",
            CLUSTER),
    InPlace("in-place-16x1-mpich", "In-place all-to-all, 16 nodes with 1 rank each, 200 Mbit/s a node, MPICH", "mpich", 16,
            "--rate 200 --rounds 5 --memory 1,12,100 --orders tournament,by_rank:1", CLUSTER, " --map ppr:1"),
    InPlace("in-place-2-openmpi", "In-place all-to-all, one node, 2 ranks on 2 cores, Open MPI", "openmpi", 2,
            "--bytes 16777216 --rounds 25 --memory 1,2,5,12,100 --orders tournament"),
    InPlace("in-place-2-mpich", "In-place all-to-all, one node, 2 ranks on 2 cores, MPICH", "mpich", 2,
            "--bytes 16777216 --rounds 25 --memory 1,2,5,12,100 --orders tournament"),
]


def measure_in_place(quadrille, names):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    tests = quadrille.parent.parent / "tests"
    (FOLDER / "in-place").mkdir(parents=True, exist_ok=True)
    for run in IN_PLACE:
        if names and run.name not in names:
            continue
        output = f"--json {FOLDER / 'in-place' / run.name}.json --svg {FOLDER / run.name}.svg"
        words = run.launch(f"{tests / 'in_place'}_{run.mpi}").split() + output.split()
        words = [str(quadrille) if word == "quadrille" else word for word in words]
        if run.cluster:
            subprocess.run([quadrille, "cluster", "up", *run.cluster.split()], check=True)
        try:
            subprocess.run(words, env=environment, check=True)
        finally:
            if run.cluster:
                subprocess.run([quadrille, "cluster", "down"], check=True)
        report = FOLDER / "in-place" / f"{run.name}.json"
        report.write_text(report.read_text().replace('{"kind":', f'{{"date":"{datetime.date.today()}","kind":'))


def in_place_reports():
    files = [(run, FOLDER / "in-place" / f"{run.name}.json") for run in IN_PLACE]
    return [(run, json.loads(path.read_text())) for run, path in files if path.exists()]


def in_place_page(run, report):
    page = [f"# {run.text}", "",
            "Messages of random sizes; medians of interleaved rounds. `by_rank:1` is MPICH's algorithm, one partner at a time; "
            "`alltoallv_in_place` accepts any counts. [Other runs](../README.md).", "", "```"]
    page += [f"quadrille cluster up {run.cluster}"] if run.cluster else []
    page += [run.launch(f"in_place_{run.mpi}"), "```", "", f"![Times against memory](../{run.name}.svg)", "",
             f"<!-- measured {report[0]['date']}: src/core/redistribute src/core/algorithms src/mpi/engine -->",
             "| sizes | | memory | median | ratio to two buffers |", "|---|---|---|---|---|"]
    for kind in report:
        first = kind["variants"][0]["median"]
        for one in kind["variants"]:
            memory = f"{one['percent']:g} %" if one["percent"] >= 0 else "?"
            page.append(f"| {kind['kind']} | {one['name']} | {memory} | {1e3 * one['median']:.4g} ms | "
                        f"{one['median'] / first:.2f} |")
        if kind["wire"] > 0:
            page.append(f"| {kind['kind']} | lower bound by the busiest link | | {1e3 * kind['wire']:.4g} ms | "
                        f"{kind['wire'] / first:.2f} |")
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "render"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quadrille", type=pathlib.Path, default=ROOT / "build" / "release" / "src" / "quadrille")
    words = parser.parse_args()
    quadrille = words.quadrille.resolve()
    if not quadrille.exists():
        sys.exit(f"{quadrille} does not exist: build it, or set --quadrille")
    if words.what == "measure":
        measure(quadrille, words.names)
        measure_in_place(quadrille, words.names)
    else:
        render(quadrille)


if __name__ == "__main__":
    main()
