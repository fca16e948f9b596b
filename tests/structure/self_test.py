"""Shows that each check of check.py passes a small good tree and fails one with a single fault."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import check
import documents

PROJECT = pathlib.Path(__file__).resolve().parents[2]
tools = argparse.Namespace(cmake="cmake", generator="Ninja", compiler="c++")


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="structure-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("src/base/low/low.hpp", "#pragma once\n\nint low();\n")
        self.write("src/base/high/high.cpp", '#include "high/high.hpp"\n\n#include <vector>\n\n#include "low/low.hpp"\n')
        self.write("src/base/high/high.hpp", "#pragma once\n\nint high();\n")
        self.write("src/mpi/parallel/engine.cpp", '#include <mpi.h>\n\n#include "high/high.hpp"\n')
        self.rules("base/low:", "base/high: low", "mpi/parallel: high")
        (self.root / "tests").mkdir()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def rules(self, *lines):
        self.write("layers.txt", "\n".join(lines) + "\n")

    def faults(self, name, **more):
        options = argparse.Namespace(root=self.root, rules=self.root / "layers.txt", with_mpi=["parallel"], **more)
        return list(check.CHECKS[name](options))

    def expect_fault(self, text, name, **more):
        faults = self.faults(name, **more)
        self.assertEqual(len(faults), 1, faults)
        self.assertIn(text, faults[0])

    def compile(self, *words):
        subprocess.run([tools.compiler, *map(str, words)], cwd=self.root, check=True)


class Layers(CheckTest):
    def test_a_good_tree_passes(self):
        self.assertEqual(self.faults("includes"), [])
        self.assertEqual(self.faults("order"), [])
        self.assertEqual(self.faults("mpi-includes"), [])

    def test_an_upward_include_is_found(self):
        self.write("src/base/low/low.cpp", '#include "high/high.hpp"\n')
        self.expect_fault("low.cpp:1: layer low does not declare that it uses high", "includes")

    def test_brackets_do_not_hide_an_include(self):
        self.write("src/base/low/low.cpp", "int x;\n#  include <high/high.hpp>\n")
        self.expect_fault("low.cpp:2: layer low does not declare that it uses high", "includes")

    def test_what_is_used_through_another_layer_must_be_declared_too(self):
        self.write("src/mpi/parallel/engine.cpp", '#include "low/low.hpp"\n')
        self.expect_fault("layer parallel does not declare that it uses low", "includes")

    def test_a_path_without_its_layer_is_found(self):
        self.write("src/base/low/low.cpp", '#include "../high/high.hpp"\n')
        self.expect_fault("does not start with a layer", "includes")

    def test_a_folder_that_is_no_layer_is_found(self):
        self.write("src/base/stray/stray.cpp", "")
        self.expect_fault("stray.cpp: in no declared layer", "includes")

    def test_a_layer_declared_later_is_found(self):
        self.rules("base/high: low", "base/low:")
        self.expect_fault("layer high uses low, which is declared later", "order")

    def test_a_layer_never_declared_is_found(self):
        self.rules("base/low: missing")
        self.expect_fault("layer low uses missing, which is not declared", "order")

    def test_a_layer_in_another_wing_is_found(self):
        self.rules("base/low:", "view/high: low", "mpi/parallel: high")
        faults = self.faults("includes")
        self.assertEqual([fault.split("/")[-1] for fault in faults], ["high.cpp: in no declared layer", "high.hpp: in no declared layer"])

    def test_a_wing_that_is_left_and_entered_again_is_found(self):
        self.rules("base/low:", "core/middle: low", "base/high: low", "mpi/parallel: high")
        self.expect_fault("layer high of wing base is declared among those of others", "order")

    def test_a_layer_with_mpi_outside_its_wing_is_found(self):
        self.rules("base/low:", "base/parallel: low")
        self.expect_fault("layer parallel uses MPI and is not in the wing mpi", "order")

    def test_mpi_does_not_come_in_through_a_layer(self):
        self.rules("base/low:", "mpi/parallel: low", "view/high: parallel")
        self.expect_fault("layer high is to be free of MPI and uses parallel", "order")

    def test_an_include_of_mpi_is_found(self):
        self.write("src/base/low/low.cpp", "// Not MPI_Init, nor this: #include <mpi.h>\n#include <mpi.h>\n")
        self.expect_fault("low.cpp:2: includes mpi.h", "mpi-includes")
        self.write("src/base/low/low.cpp", '#include "openmpi/mpi-ext.h"\n')
        self.expect_fault("low.cpp:1: includes openmpi/mpi-ext.h", "mpi-includes")


class Binaries(CheckTest):
    def setUp(self):
        super().setUp()
        self.write("free.cpp", '#include <cstdio>\nint main() { std::puts("MPI_Init"); }\n')
        self.write("bound.cpp", 'extern "C" int MPI_Init(int*, char***);\nint main() { return MPI_Init(0, 0); }\n')
        self.write("mpi.cpp", 'extern "C" int MPI_Init(int*, char***) { return 0; }\n')

    def archive(self, name):
        self.compile("-c", f"{name}.cpp", "-o", f"{name}.o")
        subprocess.run(["ar", "qc", f"{name}.a", f"{name}.o"], cwd=self.root, check=True)
        return self.listed(f"{name}.a")

    def listed(self, name):
        return self.write("binaries.txt", f"{self.root / name}\n")

    def test_what_is_free_of_mpi_passes(self):
        self.assertEqual(self.faults("mpi-links", binaries=self.archive("free")), [])
        self.compile("free.cpp", "-o", "free")
        self.assertEqual(self.faults("mpi-links", binaries=self.listed("free")), [])

    def test_a_symbol_of_mpi_in_a_library_is_found(self):
        self.expect_fault("needs the symbol MPI_Init", "mpi-links", binaries=self.archive("bound"))

    def test_a_program_linked_with_mpi_is_found(self):
        self.compile("-shared", "-fPIC", "-Wl,-soname,libmpi.so.40", "mpi.cpp", "-o", "libmpi.so.40")
        link = ["-Wl,--no-as-needed", "libmpi.so.40", f"-Wl,-rpath,{self.root}"]
        self.compile("free.cpp", *link, "-o", "idle")
        self.expect_fault("needs the library libmpi", "mpi-links", binaries=self.listed("idle"))
        self.compile("bound.cpp", *link, "-o", "bound")
        faults = self.faults("mpi-links", binaries=self.listed("bound"))
        self.assertEqual(len(faults), 2, faults)


class Headers(CheckTest):
    def build(self):
        self.write(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.25)\n"
            "set(CMAKE_CXX_COMPILER_WORKS TRUE)\n"
            "project(lone LANGUAGES CXX)\n"
            f"include({PROJECT}/cmake/headers_alone.cmake)\n"
            "quadrille_headers_alone(headers_alone FOLDERS ${PROJECT_SOURCE_DIR}/src/base ${PROJECT_SOURCE_DIR}/src/mpi)\n",
        )
        build = self.root / "build"
        compiler = f"-DCMAKE_CXX_COMPILER={tools.compiler}"
        self.cmake("-G", tools.generator, compiler, "-S", self.root, "-B", build, check=True)
        done = self.cmake("--build", build)
        return done, build / "headers_alone.txt"

    def cmake(self, *words, check=False):
        return subprocess.run([tools.cmake, *words], capture_output=True, text=True, check=check)

    def test_headers_that_compile_alone_pass(self):
        done, objects = self.build()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.faults("headers", objects=objects), [])

    def test_a_header_that_its_source_includes_first_is_left_to_it(self):
        self.write("src/base/low/own.hpp", "#pragma once\nint own();\n")
        self.write("src/base/low/own.cpp", '#include "low/own.hpp"\n\nint own() { return 1; }\n')
        _, objects = self.build()
        self.assertIn("low/own.hpp by low/own.cpp", objects.read_text())
        self.assertEqual(self.faults("headers", objects=objects), [])
        # And not if the source was changed since.
        self.write("src/base/low/own.cpp", '#include <string>\n#include "low/own.hpp"\n')
        self.expect_fault("own.hpp: did not compile alone", "headers", objects=objects)

    def test_a_header_that_its_source_includes_later_is_compiled(self):
        self.write("src/base/low/later.hpp", "#pragma once\ninline std::size_t later();\n")
        self.write("src/base/low/later.cpp", '#include <string>\n#include "low/later.hpp"\n')
        done, objects = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.expect_fault("later.hpp: did not compile alone", "headers", objects=objects)

    def test_a_header_that_leans_on_its_users_is_found(self):
        self.write("src/base/low/leaning.hpp", "#pragma once\ninline std::size_t size();\n")
        done, objects = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("leaning.hpp", done.stdout)
        self.expect_fault("leaning.hpp: did not compile alone", "headers", objects=objects)

    def test_a_header_without_a_guard_is_found(self):
        self.write("src/base/low/unguarded.hpp", "struct Twice {};\n")
        done, objects = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.expect_fault("unguarded.hpp: did not compile alone", "headers", objects=objects)

    def test_a_header_that_the_build_missed_is_found(self):
        _, objects = self.build()
        self.write("src/base/low/late.hpp", "#pragma once\n")
        self.expect_fault("late.hpp: did not compile alone", "headers", objects=objects)


class Text(CheckTest):
    def test_clean_text_passes(self):
        self.write("Makefile", "all:\n\ttrue\n")
        self.write("build/out.txt", "not ours \n")
        (self.root / "picture.png").write_bytes(b"\0 \n")
        self.assertEqual(self.faults("whitespace"), [])

    def test_white_space_at_the_end_of_a_line_is_found(self):
        self.write("README.md", "one\ntwo \n")
        self.expect_fault("README.md:2: white space at the end", "whitespace")

    def test_carriage_returns_are_found(self):
        self.write("notes.txt", "one\r\n")
        self.expect_fault("notes.txt:1: white space at the end", "whitespace")

    def test_a_tab_in_a_source_is_found(self):
        self.write("src/base/low/low.cpp", "\tint x;\n")
        self.expect_fault("low.cpp:1: tab", "whitespace")

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_what_git_ignores_is_left_alone_and_what_it_does_not_is_seen(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write(".gitignore", "/out/\n")
        self.write("out/made.txt", "made \n")
        self.assertEqual(self.faults("whitespace"), [])
        self.write("new.txt", "new \n")
        self.expect_fault("new.txt:1", "whitespace")

    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_what_clang_format_would_change_is_found(self):
        self.assertEqual(self.faults("format"), [])
        self.write("tests/low_test.cpp", "int  x ;\n")
        self.expect_fault("low_test.cpp:1", "format")

    def test_a_missing_clang_format_is_a_reported_skip(self):
        found = shutil.which
        shutil.which = lambda _: None
        try:
            with self.assertRaisesRegex(check.Skip, "not installed"):
                self.faults("format")
        finally:
            shutil.which = found


class Documents(CheckTest):
    QUADRILLE = """#!/bin/sh
case "$*" in
  --help) printf 'Subcommands:\\n  list       List.\\n  cluster    Nodes.\\n' ;;
  "list --help") printf 'Options:\\n  -h,--help\\n  --json     JSON\\n' ;;
  "cluster --help") printf 'Subcommands:\\n  up         Start.\\n' ;;
  "cluster up --help") printf 'Options:\\n  --nodes N\\n' ;;
  *) exit 2 ;;
esac
"""

    def setUp(self):
        super().setUp()
        self.write("docs/README.md", "# Index\n\n[one](one.md), [above](../README.md), `[no](link.md)`\n")
        self.write("docs/one.md", "# One\n\n## What `it` is\n\n[here](#what-it-is)\n\n```sh\n[not](a.md) # link\n```\n")
        self.write("README.md", "# Read me\n\n[one](docs/one.md#what-it-is), [away](https://example.org/x.md)\n")
        self.quadrille = self.write("bin/quadrille", self.QUADRILLE)
        self.quadrille.chmod(0o755)

    def console(self, *lines):
        self.write("README.md", "```console\n" + "".join(f"{line}\n" for line in lines) + "```\n")

    def expect_command(self, text, line):
        self.console(line)
        documents.help_of.cache_clear()
        self.expect_fault(text, "commands", quadrille=str(self.quadrille))

    def test_good_documents_pass(self):
        self.console("$ quadrille list --json=x | grep ring", "an answer: paint", "$ mpirun.openmpi -n 2 quadrille list", "$ X=1 ./a",
                     "$ quadrille cluster up \\", "    --nodes 2 -- ./a --any")
        self.assertEqual(self.faults("commands", quadrille=str(self.quadrille)), [])
        self.assertEqual(self.faults("links"), [])
        self.assertEqual(self.faults("reachable"), [])

    def test_a_link_to_no_file_is_found(self):
        self.write("docs/one.md", "[two](two.md)\n## What it is\n")
        self.expect_fault("one.md: two.md leads nowhere", "links")

    def test_an_image_that_is_missing_is_found(self):
        self.write("docs/one.md", "![a \n b](x.svg)\n## What it is\n")
        self.expect_fault("one.md: x.svg leads nowhere", "links")

    def test_a_link_to_no_heading_is_found(self):
        self.write("docs/one.md", "## What it was\n")
        self.expect_fault("README.md: docs/one.md#what-it-is leads to no heading", "links")

    def test_the_second_heading_of_a_name_has_a_number(self):
        self.assertEqual(documents.anchors("# A, b!\n## A b\n"), {"a-b", "a-b-1"})

    def test_a_document_that_only_others_know_is_found(self):
        self.write("docs/two.md", "# Two\n")
        self.write("README.md", "[two](docs/two.md)\n")
        self.expect_fault("two.md: no link leads here", "reachable")

    def test_an_unknown_program_is_found(self):
        self.expect_command("paint is no command", "$ paint it")

    def test_an_unknown_subcommand_is_found(self):
        self.expect_command("quadrille has no command lst", "$ mpirun -n 2 quadrille lst")
        self.expect_command("quadrille cluster has no option --name", "$ quadrille cluster --name x")

    def test_an_unknown_option_is_found(self):
        self.expect_command("quadrille list has no option --colour", "$ true; quadrille list --colour=red".replace("true", "ls"))
        self.expect_command("quadrille cluster up has no option --json", "$ ./a -- quadrille cluster up --json -- ./a --more")


class Declarations(CheckTest):
    FORMS = """/**@{*/
QUADRILLE_EXPORT int quadrille_bcast(void* buffer, MPI_Count count,
                                     quadrille_comm comm, const quadrille_options* options);
QUADRILLE_EXPORT int quadrille_ibcast(void* buffer, MPI_Count count, quadrille_comm comm,
                                      const quadrille_options* options, quadrille_request* request);
QUADRILLE_EXPORT int quadrille_bcast_init(void* buffer, MPI_Count count, quadrille_comm comm,
                                          const quadrille_options* options, quadrille_request* request);
/**@}*/
"""

    def setUp(self):
        super().setUp()
        self.list("QUADRILLE_COLLECTIVE(Bcast, bcast, ((Output, buffer), (Count, count)),\n    a_call(buffer, count))")
        self.write("include/quadrille/quadrille.h", self.FORMS)

    def list(self, text):
        self.write("src/mpi/api/collectives.def", text + "\n")

    def test_a_header_that_has_what_is_listed_passes(self):
        self.assertEqual(self.faults("declarations"), [])

    def test_a_parameter_that_is_not_in_the_list_is_found_in_every_form(self):
        self.list("QUADRILLE_COLLECTIVE(Bcast, bcast, ((Output, buffer)), a_call(buffer))")
        found = self.faults("declarations")
        self.assertEqual(sum("not in the list" in one for one in found), 3, found)
        self.assertEqual(sum("not in the header" in one for one in found), 3, found)

    def test_a_missing_form_is_found(self):
        lines = self.FORMS.splitlines(keepends=True)
        self.write("include/quadrille/quadrille.h", "".join(lines[:3] + lines[5:]))
        self.expect_fault("int quadrille_ibcast(", "declarations")

    def test_a_collective_without_declarations_is_found(self):
        self.list("QUADRILLE_BARRIER(Barrier, barrier, (), a_call())\nQUADRILLE_EXTENSION(bcast, ((Output, buffer)), x)")
        self.expect_fault("barrier: the header has no group of it", "declarations")

    def test_declarations_of_what_is_not_listed_are_found(self):
        self.list("")
        self.expect_fault("bcast: the header has two groups of it, or it is not in the list", "declarations")


class Command(CheckTest):
    def run_check(self, *words):
        script = pathlib.Path(__file__).with_name("check.py")
        command = [sys.executable, "-B", script, *words, "--root", self.root]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_the_exit_code_tells_the_verdict(self):
        self.assertEqual(self.run_check("whitespace").returncode, 0)
        self.write("notes.txt", "one \n")
        done = self.run_check("whitespace")
        self.assertEqual(done.returncode, 1)
        self.assertIn("notes.txt:1", done.stdout)

    def test_a_check_that_does_not_exist_is_an_error(self):
        self.assertEqual(self.run_check("nonsense").returncode, 2)


def run(options):
    for name in ("cmake", "generator", "compiler"):
        if getattr(options, name):
            setattr(tools, name, getattr(options, name))
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1
