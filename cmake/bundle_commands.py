"""Writes a compilation database for bundles of sources: each is compiled as the first source in it that the build
compiles by itself.

bundle_commands.py DATABASE TARGET BUNDLE...: a bundle includes sources, a line each.
"""

import json
import re
import shlex
import sys


def main(database, target, *bundles):
    with open(database, encoding="utf-8") as file:
        commands = json.load(file)
    # Of sources built for several MPIs, the first.
    first = {}
    for command in commands:
        first.setdefault(command["file"], command)
    found = []
    for bundle in bundles:
        with open(bundle, encoding="utf-8") as file:
            source = next(source for source in re.findall(r'#include "(.+)"', file.read()) if source in first)
        words = shlex.split(first[source]["command"])
        words = [bundle if word == source else word for word in words]
        found.append({"directory": first[source]["directory"], "file": bundle, "command": shlex.join(words)})
    with open(target, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
