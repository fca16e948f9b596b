#!/usr/bin/env python3
"""The protocol of shared memory needs every release and acquire it has: under a thread sanitizer it is clean as it is,
and as soon as any one of them is relaxed the sanitizer finds a race.

    orders_test.py COMPILER SOURCE_FOLDER LIBRARY...
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

COMPILER, SOURCE, *LIBRARIES = sys.argv[1:]
STRONG = re.compile(r"memory_order_(release|acquire)")
FILES = ["src/mpi/shared_memory/lanes.hpp", "src/mpi/shared_memory/lanes.cpp"]
MAIN = """#include <cstdio>
#include "shared_memory/threads.hpp"
int main() {
  const std::string wrong = quadrille::shared::run_threads(3, 20);
  std::puts(wrong.c_str());
  return wrong.empty() ? 0 : 1;
}
"""


def compiled(folder, *words):
    roots = [f"{folder}/src/mpi", f"{SOURCE}/src/mpi", f"{SOURCE}/src/core", f"{SOURCE}/tests/mpi", f"{SOURCE}/include"]
    subprocess.run([COMPILER, "-std=c++20", "-g", "-O1", "-fsanitize=thread", *(f"-I{root}" for root in roots), *words],
                   check=True, cwd=folder)


def compile_the_same(folder):
    """What no change of the protocol touches. Returns the objects."""
    main = os.path.join(folder, "main.cpp")
    with open(main, "w", encoding="utf-8") as file:
        file.write(MAIN)
    names = ("mpi/shared_memory/segment", "core/run/runner", "core/run/message_windows", "core/run/backend",
             "core/run/program", "core/run/text")
    sources = [f"{SOURCE}/src/{name}.cpp" for name in names]
    compiled(folder, "-c", main, *sources)
    return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".o")]


def build_and_run(folder, objects):
    """Compiles what touches shared memory, and runs it. Returns whether it ran clean."""
    program = os.path.join(folder, "program")
    compiled(folder, f"{folder}/src/mpi/shared_memory/lanes.cpp", f"{SOURCE}/tests/mpi/shared_memory/threads.cpp", *objects, *LIBRARIES,
            "-lfmt", "-o", program)
    run = subprocess.run([program], capture_output=True, text=True, check=False, timeout=300,
                         env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1 exitcode=66"})
    if run.returncode not in (0, 66):
        sys.exit(f"exit status {run.returncode}: {run.stdout}{run.stderr}")
    return run.returncode == 0


def try_with(weakened, texts, objects):
    """Returns whether it is clean as it is, or not clean where it is weakened."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/src/mpi/shared_memory")
        for name in FILES:
            shutil.copy(os.path.join(SOURCE, name), os.path.join(folder, name))
        what = "as it is"
        if weakened:
            name, match = weakened
            text = texts[name]
            what = f"{name}:{text.count(chr(10), 0, match.start()) + 1} relaxed"
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text[: match.start()] + "memory_order_relaxed" + text[match.end():])
        clean = build_and_run(folder, objects)
    good = clean == (weakened is None)
    print(f"{'ok' if good else 'FAILED'}: {what}: {'clean' if clean else 'a race'}", flush=True)
    return good


def main():
    texts = {}
    for name in FILES:
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            texts[name] = file.read()
    places = [(name, match) for name, text in texts.items() for match in STRONG.finditer(text)]
    if len(places) < 4:
        sys.exit("there are fewer than 4 releases and acquires: has the protocol moved?")
    failed = 0
    with tempfile.TemporaryDirectory() as same:
        objects = compile_the_same(same)
        for weakened in [None, *places]:
            failed += not try_with(weakened, texts, objects)
    sys.exit(1 if failed else 0)


main()

