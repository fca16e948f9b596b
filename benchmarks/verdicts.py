"""The tables of docs/benchmarks.md, which say where Quadrille wins and loses, from the reports in docs/benchmarks."""

TIE = 0.05  # less is neither won nor lost


def by_cell(report):
    cells = {}
    for point in report["points"]:
        cells.setdefault((point["collective"], point["bytes"]), {})[point["variant"]] = point
    return cells


def of_bytes(number):
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= scale and number % scale == 0:
            return f"{number // scale} {unit}"
    return f"{number} B"


def digits(value):
    return f"{value:.2g}" if value < 0.0995 else f"{value:.2f}"


def word_of(low, middle, high):
    """Bold where it is won, italic where it is lost, plain where neither is certain."""
    if high < 1 and middle < 1 - TIE:
        return f"**{digits(middle)}**"
    if low > 1 and middle > 1 + TIE:
        return f"*{digits(middle)}*"
    return digits(middle)


def cell_of(variants, variant, other):
    """The ratio to the better of the MPI's own two components; other is the second, where there is one."""
    ratio = variants[variant].get("ratio")
    if not ratio:
        return ""
    native = variants["native"]["time"]["median"]
    better = other["native"]["time"]["median"] if other else native
    scale = native / min(native, better)
    low, middle, high = (scale * ratio.get(key, ratio["median"]) for key in ("low", "median", "high"))
    return word_of(low, middle, high)


def table(report, variant, other=None):
    """A row for each collective, a column for each size."""
    cells, others = by_cell(report), by_cell(other) if other else {}
    sizes = sorted({size for _, size in cells if size})
    lines = [f"| | {' | '.join(of_bytes(size) for size in sizes)} |", "|---|" + "---|" * len(sizes)]
    for collective in dict.fromkeys(collective for collective, _ in cells):
        # A barrier has no size, and one figure.
        of = [0] if (collective, 0) in cells else sizes
        found = [(cells.get((collective, size)), others.get((collective, size))) for size in of]
        words = [cell_of(mine, variant, its) if mine else "" for mine, its in found] + [""] * (len(sizes) - len(of))
        lines.append(f"| {collective} | {' | '.join(words)} |")
    return lines


def in_place(rows):
    """A row for each ground: (its name, what benchmarks/in_place.cpp wrote). Medians alone: there is no interval."""
    lines = ["| | the MPI's own, in place | equal counts both ways, in 1 % | any counts, in 1 % |", "|---|---|---|---|"]
    for name, kinds in rows:
        found = {}
        for kind in kinds:
            first = kind["variants"][0]["median"]
            for one in kind["variants"]:
                found[kind["kind"], one["name"], one["percent"]] = one["median"] / first
        keys = [("symmetric", "MPI_Alltoallv, in place", -1), ("symmetric", "tournament", 1),
                ("irregular", "alltoallv_in_place", 1)]
        lines.append(f"| {name} | {' | '.join(word_of(found[key], found[key], found[key]) for key in keys)} |")
    return lines
