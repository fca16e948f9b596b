"""Checks the tree against the rules of CONTRIBUTING.md: check.py CHECK [options], or check.py --self-test.

A check prints what is wrong, a line each, and returns 1; 77 says that it could not look, and why.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

import documents

SKIPPED = 77
CPP_SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".def"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
MPI_HEADER = re.compile(r"(^|/)(mpi|mpicxx|mpi-ext|mpi_ext|mpio|pmpi)\.h$")
# Open MPI's handles and MPICH's internals count as well: a constant alone already links the library.
MPI_SYMBOL = re.compile(r"^(P?MPIX?_|ompi_|MPIR_)")
MPI_LIBRARY = re.compile(r"^\s*(libp?mpi\w*|libopen-(rte|pal)|libmpich\w*)\.so", re.MULTILINE)


# The only wing with layers that include or link MPI.
MPI_WING = "mpi"


class Skip(Exception):
    pass


def read_rules(path):
    """The lines "wing/layer: layer..." as two dictionaries by layer, in the order of declaration: uses, and wings."""
    rules, wings = {}, {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, _, uses = line.partition(":")
        wing, _, layer = name.strip().partition("/")
        if layer in rules:
            raise SystemExit(f"{path}: two layers are called {layer}")
        rules[layer] = uses.split()
        wings[layer] = wing
    if not rules:
        raise SystemExit(f"{path}: no layer is declared")
    return rules, wings


def read_list(path):
    return [line for line in pathlib.Path(path).read_text().splitlines() if line]


def sources(folder):
    return sorted(path for path in pathlib.Path(folder).rglob("*") if path.suffix in CPP_SUFFIXES and path.is_file())


def includes(path):
    """(line number, quoted path or None, bracketed path or None) of each #include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1], match[2]


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return done.stdout


def check_includes(options):
    """A layer includes only itself and the layers it says it uses."""
    rules, wings = read_rules(options.rules)
    src = options.root / "src"
    for path in sources(src):
        wing, layer, *below = (*path.relative_to(src).parts, "")
        if not below or wings.get(layer) != wing:
            yield f"{path}: in no declared layer"
            continue
        for number, quoted, bracketed in includes(path):
            named = (quoted or bracketed).split("/")[0]
            if named not in rules:
                # A quoted path starts with its layer, so that a reader and this check see where it goes.
                if quoted:
                    yield f'{path}:{number}: "{quoted}" does not start with a layer'
            elif named != layer and named not in rules[layer]:
                yield f"{path}:{number}: layer {layer} does not declare that it uses {named}"


def check_order(options):
    """Each layer uses only layers declared before it, and one without MPI uses only such. A wing's are declared in a row."""
    rules, wings = read_rules(options.rules)
    with_mpi = set(options.with_mpi)
    earlier = set()
    entered = []
    for layer, uses in rules.items():
        if wings[layer] not in entered[-1:]:
            if wings[layer] in entered:
                yield f"layer {layer} of wing {wings[layer]} is declared among those of others"
            entered.append(wings[layer])
        if layer in with_mpi and wings[layer] != MPI_WING:
            yield f"layer {layer} uses MPI and is not in the wing {MPI_WING}"
        for used in uses:
            if used not in rules:
                yield f"layer {layer} uses {used}, which is not declared"
            elif used not in earlier:
                yield f"layer {layer} uses {used}, which is declared later"
            elif used in with_mpi and layer not in with_mpi:
                yield f"layer {layer} is to be free of MPI and uses {used}, which is not"
        earlier.add(layer)


def check_mpi_includes(options):
    """A layer without MPI does not include its headers."""
    src = options.root / "src"
    for path in sources(src):
        if path.relative_to(src).parts[1] in options.with_mpi:
            continue
        for number, quoted, bracketed in includes(path):
            if MPI_HEADER.search(quoted or bracketed):
                yield f"{path}:{number}: includes {quoted or bracketed}"


def check_mpi_links(options):
    """The libraries and programs in the list need no symbol and no library of MPI."""
    for binary in read_list(options.binaries):
        archive = binary.endswith(".a")
        listing = output_of("nm", "-u", binary) if archive else output_of("nm", "-D", "-u", binary)
        undefined = {line.split()[-1] for line in listing.splitlines() if line.startswith(" ")}
        for symbol in sorted(filter(MPI_SYMBOL.match, undefined)):
            yield f"{binary}: needs the symbol {symbol}"
        for library in [] if archive else MPI_LIBRARY.finditer(output_of("ldd", binary)):
            yield f"{binary}: needs the library {library[1]}"


def comes_first(header, name):
    """Whether the header guards itself, and the source beside it includes it first."""
    source = header.with_suffix(".cpp")
    lines = source.read_text().splitlines() if source.is_file() else []
    first = next((line for line in lines if line.startswith("#include")), "")
    return first == f'#include "{name}"' and "#pragma once" in header.read_text().splitlines()


def check_headers(options):
    """For each header the build has made an object of nothing else, or its own source includes it first."""
    src = options.root / "src"
    lines = read_list(options.objects)
    objects = [path for path in lines if pathlib.Path(path).is_file()]
    for header in sorted(path for path in src.rglob("*") if path.suffix in {".h", ".hpp"}):
        name = pathlib.Path(*header.relative_to(src).parts[1:])
        left_to_source = f"{name} by {name.with_suffix('.cpp')}" in lines and comes_first(header, name)
        if not left_to_source and not any(f"/{name}.cpp." in path for path in objects):
            yield f"{header}: did not compile alone, or was not asked to"


def tree_files(root):
    """What git tracks or would track; all files outside build folders where there is no git."""
    command = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"]
    if shutil.which("git") and (root / ".git").exists():
        names = output_of(*command).split("\0")
        return sorted(root / name for name in names if name and (root / name).is_file())
    return sorted(
        path
        for path in root.rglob("*")
        if path.is_file() and not path.relative_to(root).parts[0].startswith((".git", "build"))
    )


def check_whitespace(options):
    """No line of a text file ends in white space, and no C++ source has a tab."""
    for path in tree_files(options.root):
        content = path.read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.split(b"\n"), 1):
            if line != line.rstrip():
                yield f"{path}:{number}: white space at the end of the line"
            if b"\t" in line and path.suffix in CPP_SUFFIXES:
                yield f"{path}:{number}: tab"


def check_format(options):
    """clang-format would change nothing."""
    if not shutil.which("clang-format"):
        raise Skip("clang-format is not installed")
    files = [path for folder in ("include", "src", "tests", "examples") for path in sources(options.root / folder) if path.suffix != ".def"]
    command = ["clang-format", "--dry-run", "-Werror", "--style=file", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False) if files else None
    if done and done.returncode != 0:
        yield done.stderr.rstrip() or f"clang-format returned {done.returncode}"


def check_declarations(options):
    """The C header declares what the list of collectives has."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake"))
    import c_declarations

    listing = options.root / "src/mpi/api/collectives.def"
    header = options.root / "include/quadrille/quadrille.h"
    for fault in c_declarations.faults(listing.read_text(), header.read_text()):
        yield f"{header}: {fault}; cmake/c_declarations.py writes it"


def documents_of(options):
    return documents.markdown(tree_files(options.root))


def check_links(options):
    """Relative links of Markdown files lead somewhere."""
    return documents.check_links(documents_of(options))


def check_reachable(options):
    """Every document is reached from docs/README.md."""
    return documents.check_reachable(documents_of(options), options.root / "docs" / "README.md")


def check_commands(options):
    """The documents' commands are there, and take the options that they are given."""
    return documents.check_commands(documents_of(options), options.quadrille)


CHECKS = {
    "includes": check_includes,
    "order": check_order,
    "mpi-includes": check_mpi_includes,
    "mpi-links": check_mpi_links,
    "headers": check_headers,
    "whitespace": check_whitespace,
    "format": check_format,
    "declarations": check_declarations,
    "links": check_links,
    "reachable": check_reachable,
    "commands": check_commands,
}


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", nargs="?", choices=CHECKS)
    parser.add_argument("--self-test", action="store_true", help="show that each check can fail")
    parser.add_argument("--root", type=pathlib.Path, help="the source tree")
    parser.add_argument("--rules", help="file with a line 'wing/layer: layer...' for each layer")
    parser.add_argument("--with-mpi", nargs="*", default=[], help="layers that may use MPI")
    parser.add_argument("--binaries", help="file with a path a line: what must not need MPI")
    parser.add_argument("--objects", help="file with a path a line: what the build made of lone headers")
    parser.add_argument("--quadrille", help="the command, asked for its options")
    parser.add_argument("--cmake", help="for the self-test, as the two below")
    parser.add_argument("--generator")
    parser.add_argument("--compiler")
    options = parser.parse_args(words)
    if options.self_test == bool(options.check):
        parser.error("give one check or --self-test")
    return options


def main(words):
    options = arguments(words)
    if options.self_test:
        import self_test

        return self_test.run(options)
    try:
        faults = list(CHECKS[options.check](options))
    except Skip as reason:
        print(f"SKIP: {reason}")
        return SKIPPED
    print("\n".join(faults) if faults else "no errors")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
