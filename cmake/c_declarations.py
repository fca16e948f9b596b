"""Writes the declarations of the C header from the list of collectives:

    python3 cmake/c_declarations.py src/mpi/api/collectives.def include/quadrille/quadrille.h

A group of the header, from /**@{*/ to /**@}*/, has the three forms of a collective, the one that it names first; the
comment before it is written by hand. Those through windows have names that begin with window_. A test of the structure finds a header that is not up to date.
"""

import argparse
import pathlib
import re
import subprocess
import sys

# A parameter of each type of api::ParameterTypes, in C.
TYPES = {
    "Input": "const void* {}",
    "Output": "void* {}",
    "Count": "MPI_Count {}",
    "Counts": "const MPI_Count {}[]",
    "Displacements": "const MPI_Aint {}[]",
    "ByteDisplacements": "const MPI_Aint {}[]",
    "Type": "MPI_Datatype {}",
    "Types": "const MPI_Datatype {}[]",
    "Op": "MPI_Op {}",
    "Root": "int {}",
    "Offset": "MPI_Aint {}",
}
# A macro, a name of ours and a list of pairs in parentheses.
ENTRY = re.compile(
    r"^QUADRILLE_(?:(WINDOW)\(|EXTENSION\(|\w+\(\w+, )(\w+),\s*\(((?:\(\w+, \w+\),?\s*)*)\)", re.MULTILINE
)
GROUP = re.compile(r"(?<=/\*\*@\{\*/\n).*?(?=/\*\*@\}\*/\n)", re.DOTALL)


def listed(text):
    """The parameters of each collective of the list, as C declares them."""
    return {
        ("window_" if window else "") + name: [
            TYPES[kind].format(parameter) for kind, parameter in re.findall(r"\((\w+), (\w+)\)", parameters)
        ]
        for window, name, parameters in ENTRY.findall(text)
    }


def declarations(name, parameters):
    _, window, plain = name.rpartition("window_")
    on = "quadrille_window window" if window else "quadrille_comm comm"
    common = [*parameters, on, "const quadrille_options* options"]
    requested = [*common, "quadrille_request* request"]
    forms = {name: common, f"{window}i{plain}": requested, f"{name}_init": requested}
    return "".join(f"QUADRILLE_EXPORT int quadrille_{form}({', '.join(all)});\n" for form, all in forms.items())


def written(header, collectives):
    """The header with the declarations of these collectives. ValueError unless it has one group for each."""
    left = dict(collectives)

    def group(match):
        name = re.search(r"\bquadrille_(\w+)\(", match[0])[1]
        if name not in left:
            raise ValueError(f"{name}: the header has two groups of it, or it is not in the list")
        return declarations(name, left.pop(name))

    text = GROUP.sub(group, header)
    if left:
        raise ValueError(f"{', '.join(left)}: the header has no group of it")
    return text


def faults(listing, header):
    """What the header declares and should not, and the other way round, however lines are broken."""
    try:
        new = written(header, listed(listing))
    except ValueError as error:
        return [str(error)]
    was, is_to_be = ([" ".join(one.split()) for one in text.split(";")] for text in (header, new))
    return [f"not in the list: {one}" for one in was if one not in is_to_be] + [
        f"not in the header: {one}" for one in is_to_be if one not in was
    ]


def main(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("header", type=pathlib.Path)
    options = parser.parse_args(words)
    options.header.write_text(written(options.header.read_text(), listed(options.list.read_text())))
    subprocess.run(["clang-format", "-i", options.header], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
