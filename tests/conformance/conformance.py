#!/usr/bin/env python3
"""Runs the tests of MPICH's test suite that use collectives against an installed MPI, without and with a preloaded library."""

import argparse
import collections
import concurrent.futures
import dataclasses
import pathlib
import re
import signal
import sys
import time

import launch
import mpis
import sources
import suite

RETRIES = 2
MOST_RETRIED = 4  # tests: launchers fail now and then
VERDICTS = ("slow", "flaky", "fails", "not built")  # of tests that are not on the list
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
    suite.build(arguments.mpi, arguments.work, arguments.source, arguments.folders, arguments.jobs)


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
    built = arguments.work / arguments.mpi
    verdicts = collections.defaultdict(list)
    runnable = []
    for entry in (entry for folder in arguments.folders for entry in suite.tests_of(built, folder)):
        if entry.expected_to_fail:
            continue
        if (built / entry.folder / entry.program).is_file():
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
    write_list(arguments.mpi, arguments.folders, verdicts)
    print(", ".join(f"{len(lines)} {verdict}" for verdict, lines in verdicts.items()))


def lines_of_others(mpi_name, folders):
    """Gives the lines of the list that tell of tests in other folders than these."""
    path = suite.passing_list(mpi_name)
    lines = path.read_text().splitlines() if path.is_file() else []
    tests = {line: re.sub(rf"^# ({'|'.join(VERDICTS)}): ", "", line) for line in lines}
    return [line for line, test in tests.items()
            if not test.startswith("#") and suite.parse_entry(test).folder not in folders]


def write_list(mpi_name, folders, verdicts):
    package = mpis.package_of(mpi_name)
    lines = [f"# {verdict}: {line}" for verdict in VERDICTS for line in verdicts[verdict]]
    lines += verdicts["passes"] + lines_of_others(mpi_name, folders)
    comments = sorted(line for line in lines if line.startswith("#"))
    head = [f"# The tests of MPICH {suite.UPSTREAM}'s test suite that pass with Debian's {package} "
            f"{mpis.package_version(package)}, two runs of two.",
            f"# After conformance.py build, refresh with: conformance.py baseline --mpi {mpi_name} --work DIR"]
    suite.passing_list(mpi_name).write_text("\n".join([*head, *comments, *sorted(set(lines) - set(comments))]) + "\n")


# Subcommand run.

def attempt(arguments, entry):
    """Gives the outcomes of a test's runs; the last one counts."""
    outcomes = []
    while len(outcomes) <= RETRIES and not (outcomes and outcomes[-1].passed):
        outcomes.append(launch.run_test(arguments.mpi, arguments.work, entry, [arguments.preload.resolve()],
                                        arguments.env, cluster=arguments.cluster))
    return outcomes


def sums_of(outcomes):
    """Gives the calls per collective, of all ranks of all tests: those replaced and those passed through."""
    replaced, passed_through = collections.Counter(), collections.Counter()
    for report in (outcome.report for outcome in outcomes):
        for row in report.get("calls", ()):
            replaced[row["collective"]] += row["replaced"]
        for name, reasons in report.get("passed_through", {}).items():
            passed_through[name] += sum(reasons.values())
    return replaced, passed_through


def print_sums(outcomes, replaced, passed_through):
    print(f"\nreports from {sum(bool(outcome.report) for outcome in outcomes)} of {len(outcomes)} tests:")
    print(f"{'':<24}{'replaced':>12}{'passed through':>16}")
    for name in sorted({**replaced, **passed_through}):
        print(f"{name:<24}{replaced[name]:>12}{passed_through[name]:>16}")


def run(arguments):
    if not arguments.preload.is_file():
        sources.die(f"{arguments.preload} is missing")
    entries = [entry for entry in suite.read_list(suite.passing_list(arguments.mpi))
               if entry.folder in arguments.folders and arguments.only in entry.line]
    start, last, retried = time.monotonic(), [], 0
    for outcomes in for_each(entries, arguments.jobs, lambda entry: attempt(arguments, entry)):
        last.append(outcomes[-1])
        retried += len(outcomes) > 1
        for outcome in outcomes:
            print_outcome("ok" if outcome.passed else "FAILED" if outcome is outcomes[-1] else "retry", outcome)
            if not outcome.passed:
                print_tail(outcome)
    print_slowest(last, time.monotonic() - start)
    replaced, passed_through = sums_of(last)
    print_sums(last, replaced, passed_through)
    failed = [outcome.entry.line for outcome in last if not outcome.passed]
    print(f"{retried} tests were run again, at most {MOST_RETRIED} may be")
    print(f"\n{replaced.total()} calls replaced, at least {arguments.least_served} required")
    for line in failed:
        print(f"failed: {line}")
    print(f"{len(last) - len(failed)} passed, {len(failed)} failed")
    return bool(failed) or retried > MOST_RETRIED or not last or replaced.total() < arguments.least_served


# Subcommand pace.

def pace(arguments):
    """Times some of the tests without and with the library, each as it is installed."""
    entries = [dataclasses.replace(entry, ranks=arguments.ranks) for entry in
               suite.read_list(suite.passing_list(arguments.mpi)) if entry.folder in arguments.folders]
    totals = [0.0, 0.0]
    for entry in entries[::arguments.every]:
        alone, with_library = (launch.run_test(arguments.mpi, arguments.work, entry, libraries, as_installed=True)
                         for libraries in ((), (arguments.preload.resolve(),)))
        counts = alone.passed and with_library.passed or alone.timed_out and with_library.passed
        print(f"{alone.seconds:8.2f} s alone{'+' if alone.timed_out else ' '} {with_library.seconds:8.2f} s with the library  "
              f"{entry.line}{'' if counts else ', left out: it fails on so many ranks'}", flush=True)
        if counts:
            totals = [totals[0] + alone.seconds, totals[1] + with_library.seconds]
    print(f"{totals[0]:.1f} s alone, {totals[1]:.1f} s with the library: {totals[0] / totals[1]:.1f} times faster")


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
        command.add_argument("--mpi", choices=sorted(mpis.MPIS), required=True, help="the MPI to test")
        command.add_argument("--work", type=lambda text: pathlib.Path(text).resolve(), required=True, metavar="DIR",
                             help="folder for the source and what is built of it")
        command.add_argument("--folders", type=lambda text: text.split(","), default=["coll"], metavar="LIST",
                             help=f"folders of tests (default: coll; others: {', '.join(suite.FOLDERS[1:])})")
        command.add_argument("--jobs", type=int, default=1, metavar="N", help="so many at a time (default: 1)")
        return command

    command = add(build, "fetch the test suite and build it")
    command.add_argument("--source", type=pathlib.Path, metavar="FOLDER",
                         help="an unpacked source of MPICH to take rather than fetch one")
    add(baseline, "run all tests without a preloaded library and write the list of those that pass")
    command = add(pace, "time some tests on so many ranks, by the MPI alone and with a preloaded library")
    command.add_argument("--preload", type=pathlib.Path, required=True, metavar="LIB.so", help="the library")
    command.add_argument("--ranks", type=int, default=8, metavar="N", help="ranks of each (default: 8)")
    command.add_argument("--every", type=int, default=8, metavar="N", help="every so many of the list (default: 8)")
    command = add(run, "run the tests on the list of those that pass with a preloaded library")
    command.add_argument("--preload", type=pathlib.Path, required=True, metavar="LIB.so", help="the library")
    command.add_argument("--env", type=pair, action="append", default=[], metavar="KEY=VALUE",
                         help="a variable for the environment of the ranks; any number of times")
    command.add_argument("--cluster", type=lambda text: pathlib.Path(text).resolve(), metavar="QUADRILLE",
                         help="on the nodes of the cluster that this command has brought up")
    command.add_argument("--only", default="", metavar="TEXT", help="only the tests whose line contains this")
    command.add_argument("--least-served", type=int, default=0, metavar="N",
                         help="fail if the library replaced fewer calls (default: 0)")
    return parser.parse_args()


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, launch.stop_all)
    arguments = parse_arguments()
    return arguments.function(arguments)


if __name__ == "__main__":
    sys.exit(main())
