#!/usr/bin/env python3
"""Runs the collective tests of MPICH's test suite against an installed MPI, without and with a preloaded library."""

import argparse
import collections
import concurrent.futures
import pathlib
import signal
import sys
import time

import launch
import suite

RETRIES = 2
SLOW = 60  # seconds: a slower test stays off the list, for the time all take and for its distance to the limit


def for_each(entries, jobs, function):
    """Calls the function for each entry, some at a time; yields the results as they come."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(function, entry) for entry in entries]):
            yield future.result()


def print_slowest(outcomes, seconds):
    print(f"\n{seconds:.0f} s; the slowest:")
    for outcome in sorted(outcomes, key=lambda outcome: -outcome.seconds)[:10]:
        print(f"{outcome.seconds:7.1f} s  {outcome.entry.line}")


def print_outcome(verdict, outcome):
    print(f"{verdict:<8}{outcome.seconds:6.1f} s  {outcome.entry.line}", flush=True)


def print_tail(outcome):
    for line in outcome.output.splitlines()[-25:]:
        print(f"    {line}")


# Subcommand build.

def build(arguments):
    suite.build(arguments.mpi, arguments.work, arguments.source, arguments.jobs)


# Subcommand baseline.

def judge(mpi_name, work, entry):
    """Gives a verdict, "passes" if a test does so twice in a row and is not slow, and the outcome to show for it."""
    outcomes = [launch.run_test(mpi_name, work, entry)]
    if not outcomes[0].timed_out:
        outcomes.append(launch.run_test(mpi_name, work, entry))
    passes = sum(outcome.passed for outcome in outcomes)
    verdict = "passes" if passes == 2 else "flaky" if passes else "fails"
    if verdict == "passes" and min(outcome.seconds for outcome in outcomes) > SLOW:
        verdict = "slow"
    return verdict, max(outcomes, key=lambda outcome: (not outcome.passed, outcome.seconds))


def baseline(arguments):
    folder = arguments.work / arguments.mpi / "coll"
    verdicts = collections.defaultdict(list)
    runnable = []
    for entry in suite.read_list(folder / "testlist"):
        if entry.expected_to_fail:
            continue
        if (folder / entry.program).is_file():
            runnable.append(entry)
        else:
            verdicts["not built"].append(entry.line)
    start, outcomes = time.monotonic(), []
    for verdict, outcome in for_each(runnable, arguments.jobs, lambda e: judge(arguments.mpi, arguments.work, e)):
        verdicts[verdict].append(outcome.entry.line)
        outcomes.append(outcome)
        print_outcome(verdict, outcome)
        if not outcome.passed:
            print_tail(outcome)
    print_slowest(outcomes, time.monotonic() - start)
    write_list(arguments.mpi, verdicts)
    print(", ".join(f"{len(lines)} {verdict}" for verdict, lines in verdicts.items()))


def write_list(mpi_name, verdicts):
    package = suite.MPIS[mpi_name].package
    lines = [f"# The collective tests of MPICH {suite.UPSTREAM}'s test suite that pass with Debian's {package} "
             f"{suite.package_version(package)}, two runs of two.",
             f"# After conformance.py build, refresh with: conformance.py baseline --mpi {mpi_name} --work DIR"]
    for verdict in ("slow", "flaky", "fails", "not built"):
        lines += [f"# {verdict}: {line}" for line in sorted(verdicts[verdict])]
    suite.passing_list(mpi_name).write_text("\n".join(lines + sorted(verdicts["passes"])) + "\n")


# Subcommand run.

def attempt(arguments, entry):
    """Gives the outcomes of a test's runs; the last one counts."""
    outcomes = []
    while len(outcomes) <= RETRIES and not (outcomes and outcomes[-1].passed):
        outcomes.append(launch.run_test(arguments.mpi, arguments.work, entry, [arguments.preload.resolve()],
                                        arguments.env, arguments.statistics_variable))
    return outcomes


def sum_statistics(outcomes):
    """Gives the sums a collective, of the calls served and those handed down."""
    sums = {"served": collections.Counter(), "handed_down": collections.Counter()}
    for record in (record for outcome in outcomes for record in outcome.statistics):
        sums["served"].update(record.get("served", {}))
        reasons = record.get("handed_down", {})
        sums["handed_down"].update({name: sum(why.values()) for name, why in reasons.items()})
    return sums


def print_statistics(outcomes, sums):
    told = sum(bool(outcome.statistics) for outcome in outcomes)
    print(f"\nstatistics from {told} of {len(outcomes)} tests, calls of rank 0:")
    print(f"{'':<24}{'served':>12}{'handed down':>14}")
    for name in sorted({**sums["served"], **sums["handed_down"]}):
        print(f"{name:<24}{sums['served'][name]:>12}{sums['handed_down'][name]:>14}")


def run(arguments):
    if not arguments.preload.is_file():
        suite.die(f"{arguments.preload} is missing")
    entries = [entry for entry in suite.read_list(suite.passing_list(arguments.mpi)) if arguments.only in entry.line]
    start, last = time.monotonic(), []
    for outcomes in for_each(entries, arguments.jobs, lambda entry: attempt(arguments, entry)):
        last.append(outcomes[-1])
        for outcome in outcomes:
            print_outcome("ok" if outcome.passed else "FAILED" if outcome is outcomes[-1] else "retry", outcome)
            if not outcome.passed:
                print_tail(outcome)
    print_slowest(last, time.monotonic() - start)
    sums = sum_statistics(last)
    print_statistics(last, sums)
    served = sum(sums["served"].values())
    failed = [outcome.entry.line for outcome in last if not outcome.passed]
    print(f"\n{served} calls served, at least {arguments.least_served} required")
    for line in failed:
        print(f"failed: {line}")
    print(f"{len(last) - len(failed)} passed, {len(failed)} failed")
    return bool(failed) or not last or served < arguments.least_served


# The command line.

def pair(text):
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text} is not KEY=VALUE")
    return name, value


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(function, help_):
        command = commands.add_parser(function.__name__, help=help_, description=help_)
        command.set_defaults(function=function)
        command.add_argument("--mpi", choices=sorted(suite.MPIS), required=True, help="the MPI to test")
        command.add_argument("--work", type=lambda text: pathlib.Path(text).resolve(), required=True, metavar="DIR",
                             help="folder for the source and what is built of it")
        command.add_argument("--jobs", type=int, default=1, metavar="N", help="so many at a time (default: 1)")
        return command

    command = add(build, "fetch the test suite and build it")
    command.add_argument("--source", type=pathlib.Path, metavar="FOLDER",
                         help="an unpacked source of MPICH to take rather than fetch one")
    add(baseline, "run all tests without a preloaded library and write the list of those that pass")
    command = add(run, "run the tests on the list of those that pass with a preloaded library")
    command.add_argument("--preload", type=pathlib.Path, required=True, metavar="LIB.so", help="the library")
    command.add_argument("--env", type=pair, action="append", default=[], metavar="KEY=VALUE",
                         help="a variable for the environment of the ranks; any number of times")
    command.add_argument("--only", default="", metavar="TEXT", help="only the tests whose line contains this")
    command.add_argument("--least-served", type=int, default=0, metavar="N",
                         help="fail if the library served fewer calls (default: 0)")
    command.add_argument("--statistics-variable", default="QUADRILLE_STATISTICS", metavar="NAME",
                         help="the variable that names the file for the library's statistics (default: %(default)s)")
    return parser.parse_args()


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, launch.stop_all)
    arguments = parse_arguments()
    return arguments.function(arguments)


if __name__ == "__main__":
    sys.exit(main())
