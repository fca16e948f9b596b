"""Copies a compilation database with one command for each file: of sources built for several MPIs, the first."""

import json
import sys


def main(source, target):
    with open(source, encoding="utf-8") as file:
        commands = json.load(file)
    first = {}
    for command in commands:
        first.setdefault(command["file"], command)
    with open(target, "w", encoding="utf-8") as file:
        json.dump(list(first.values()), file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
