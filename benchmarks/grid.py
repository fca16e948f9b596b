#!/usr/bin/env python3
"""How good the default is: grid.py REPORT.json... [--from BYTES] [--list]

Reports of `quadrille bench COLLECTIVES --sizes ... --algorithms default,all --json REPORT.json`. Of each cell, a
collective with a size, the best of our variants is picked on the odd rounds and judged on the even ones, so that luck is
not taken for speed: how many times as long the default takes. Native's time is relative to the default's, on the same
rounds; prices are held against medians of all. With --native-too OTHER.json native is the better of two reports, as of
Open MPI's default and of han."""

import argparse
import json
import math
import statistics


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
    best = min(ours, key=lambda name: statistics.median(ours[name][1::2] or ours[name]))
    if cell[best].get("same_as") == "default" or cell["default"].get("same_as") == best:
        loss = 1.0  # the same schedule
    else:
        loss = statistics.median(default[::2]) / statistics.median(ours[best][::2])
    gain = statistics.median(cell["native"]["seconds"]) / statistics.median(default)
    return loss, gain, best


def describe(path, report, least, listing):
    losses, gains, errors = [], {}, []
    for (collective, size), cell in cells(report).items():
        if "default" not in cell or (size < least and collective != "barrier"):
            continue
        loss, gain, best = judge(cell)
        losses.append(loss)
        gains.setdefault(collective, []).append(gain)
        for name, point in cell.items():
            if "price" in point and name not in ("native", "control", "default"):
                errors.append(abs(point["price"] / statistics.median(point["seconds"]) - 1))
        if listing == "all" or (listing == "losses" and loss > 1.15):
            chosen = cell["default"].get("same_as", "?")
            prices = {name: cell[name].get("price", 0) / statistics.median(cell[name]["seconds"]) for name in (chosen, best) if name in cell}
            print(f"  {collective:21} {size:8}  {chosen:18} takes {loss:.2f} times {best:18} native {gain:.2f};"
                  + ", ".join(f" price of {name} {ratio:.2f} times its time" for name, ratio in prices.items()))
    within = sum(loss <= 1.15 for loss in losses)
    print(f"{path}: {len(losses)} points; within 1.15 of the best {100 * within / len(losses):.0f} %, "
          f"beyond 1.5: {sum(loss > 1.5 for loss in losses)}; worst {max(losses):.2f}")
    if errors:
        print(f"  price against measurement: median error {100 * statistics.median(errors):.0f} %, of {len(errors)}")
    for collective, some in gains.items():
        print(f"  {collective:21} native / default {geometric_mean(some):.2f} ({min(some):.2f} to {max(some):.2f})")
    return gains


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+")
    parser.add_argument("--from", dest="least", type=int, default=0, help="only sizes from so many bytes on")
    parser.add_argument("--native-too", help="a report whose native may be the better one")
    parser.add_argument("--list", choices=("all", "losses"), help="each point")
    arguments = parser.parse_args()
    other = {}
    if arguments.native_too:
        with open(arguments.native_too, encoding="utf-8") as file:
            other = cells(json.load(file))
    for path in arguments.reports:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        for key, cell in cells(report).items():
            rival = other.get(key, {}).get("native")
            if rival and statistics.median(rival["seconds"]) < statistics.median(cell["native"]["seconds"]):
                cell["native"]["seconds"] = rival["seconds"]
        gains = describe(path, report, arguments.least, arguments.list)
        for some in (("barrier", "bcast", "allreduce"), ("bcast", "reduce", "allreduce", "allgather")):
            values = [value for name in some for value in gains.get(name, [])]
            print(f"  {', '.join(some)}: {geometric_mean(values):.2f}")


if __name__ == "__main__":
    main()
