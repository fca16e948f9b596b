"""Quadrille as a part of another project, by FetchContent: configured there, and what is to be built listed. With --build
it is built and run, too, which takes minutes."""

import argparse
import pathlib
import tempfile
import unittest

from consumer import run

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES CXX)
enable_testing()
include(FetchContent)
FetchContent_Declare(quadrille SOURCE_DIR {tree})
FetchContent_MakeAvailable(quadrille)
add_executable(parent {tree}/examples/hello.cpp)
target_link_libraries(parent PRIVATE quadrille::{mpi})
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=pathlib.Path, required=True, help="Quadrille's source tree")
    parser.add_argument("--mpi", required=True, help="openmpi or mpich")
    parser.add_argument("--compiler", required=True, help="that MPI's compiler for C")
    parser.add_argument("--build", type=int, metavar="JOBS", help="build and run it")
    parser.add_argument("launch", nargs=argparse.REMAINDER, help="what starts a program on some ranks")
    return parser.parse_args()


class Subproject(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.build = cls.folder / "build"
        (cls.folder / "CMakeLists.txt").write_text(PROJECT.format(tree=GIVEN.tree, mpi=GIVEN.mpi), encoding="utf-8")
        run("cmake", "-S", cls.folder, "-B", cls.build, "-G", "Ninja", f"-DQUADRILLE_WITH_MPI={GIVEN.mpi}",
            f"-DQUADRILLE_COMPILER_{GIVEN.mpi}={GIVEN.compiler}")

    def test_the_settings_of_the_project_are_its_own(self):
        cache = (self.build / "CMakeCache.txt").read_text(encoding="utf-8")
        self.assertIn("\nCMAKE_BUILD_TYPE:STRING=\n", cache)

    def test_it_gets_no_tests_of_ours(self):
        self.assertIn("Total Tests: 0", run("ctest", "--test-dir", self.build, "-N"))

    def test_the_program_needs_the_library_and_not_the_command(self):
        planned = run("ninja", "-C", self.build, "-t", "commands", "parent")
        self.assertIn("lib/quadrille/", planned)
        self.assertIn("hello.cpp", planned)
        self.assertNotIn("command/tools", planned)

    def test_the_program_builds_and_runs(self):
        if not GIVEN.build:
            self.skipTest("takes minutes: --build JOBS")
        run("cmake", "--build", self.build, "--target", "parent", "--parallel", GIVEN.build)
        self.assertIn("hello from", run(*GIVEN.launch, self.build / "parent"))


if __name__ == "__main__":
    GIVEN = arguments()
    unittest.main(argv=["subproject_test.py", "--verbose"])
