"""Installs a build into a temporary folder, and tests it from there for one MPI."""

import argparse
import json
import pathlib
import re
import shutil
import tempfile
import unittest

from consumer import Installation, run

HERE = pathlib.Path(__file__).parent
RECORDS = HERE.parents[1] / "packaging" / "abi"
CALLS = {"barrier": 1, "bcast": 2, "allreduce": 3, "alltoallv": 4}  # as in collectives.c


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build to install")
    parser.add_argument("--examples", type=pathlib.Path, required=True, help="folder of the examples")
    parser.add_argument("--libraries", required=True, help="where libraries go below the prefix")
    parser.add_argument("--mpi", required=True, help="openmpi or mpich")
    parser.add_argument("--compiler", required=True, help="that MPI's compiler for C")
    parser.add_argument("launch", nargs=argparse.REMAINDER, help="what starts a program on some ranks")
    return parser.parse_args()


def dynamic_entries(library, tag):
    """The values of NEEDED, RUNPATH, ... in a library's dynamic section."""
    return re.findall(rf"\({tag}\).*\[(.*)\]", run("readelf", "--dynamic", "--wide", library))


def strangers(library, interface):
    """What a library exports beyond its interface, leaving out the weak symbols that any library in C++ has of std."""
    lines = run("nm", "--dynamic", "--demangle", "--defined-only", "--without-symbol-versions", library).splitlines()
    symbols = [line.split(maxsplit=2)[1:] for line in lines]
    # A version is a symbol by itself, of the kind A.
    own = [name for kind, name in symbols if kind not in "AWVu" or "quadrille" in name]
    return [name for name in own if not re.match(interface, name)]


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        cls.installation = Installation(cls.prefix, GIVEN.libraries, GIVEN.mpi)
        cls.libraries = cls.installation.library_folder
        run("cmake", "--install", GIVEN.build, "--prefix", cls.prefix)

    def test_the_command_runs(self):
        self.assertIn("recursive_doubling", run(self.prefix / "bin" / "quadrille", "list"))

    def test_a_copy_of_the_examples_builds_and_runs(self):
        source = pathlib.Path(shutil.copytree(GIVEN.examples, self.folder / "examples"))
        build = self.folder / "build"
        names = [path.stem for suffix in ("c", "cpp") for path in source.glob(f"*.{suffix}")]
        if shutil.which(f"mpifort.{GIVEN.mpi}"):
            names.append("transpose_fortran_program")
        targets = [f"{name}_{GIVEN.mpi}" for name in names]
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build, "--parallel", "2", "--target", *targets)
        passed = run("ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "-R", GIVEN.mpi)
        self.assertIn(f"100% tests passed, 0 tests failed out of {len(targets)}", passed)

    def test_a_project_in_c_alone_builds_and_runs(self):
        program = self.installation.build_by_cmake(GIVEN.examples / "fit.c", "C", self.folder / "project")
        self.assertIn("right", run(*GIVEN.launch, program))

    def test_pkg_config_is_enough_for_any_compiler(self):
        wrapper = GIVEN.compiler
        for compiler, source, result in (
            (["gcc"], "fit.c", "right"),
            ([wrapper], "fit.c", "right"),
            (["g++", "-std=c++20"], "sort.cpp", "sorted"),
            ([wrapper.replace("mpicc", "mpicxx"), "-std=c++20"], "sort.cpp", "sorted"),
        ):
            with self.subTest(compiler=compiler):
                program = self.installation.build_by_pkg_config(compiler, GIVEN.examples / source, self.folder)
                self.assertIn(result, run(*GIVEN.launch, program))

    def test_pkg_config_has_no_path_of_the_build_and_no_rpath(self):
        flags = self.installation.pkg_config("--cflags", "--libs")
        self.assertNotIn("rpath", " ".join(flags))
        self.assertNotIn(str(GIVEN.build), " ".join(flags))

    def test_the_examples_build_without_cmake_and_pkg_config(self):
        for compiler, source, result in (
            ([GIVEN.compiler.replace("mpicc", "mpicxx"), "-std=c++20"], "sort.cpp", "sorted"),
            ([GIVEN.compiler], "fit.c", "right"),
        ):
            with self.subTest(source):
                program = self.folder / "by_hand"
                run(
                    *(*compiler, GIVEN.examples / source, "-o", program, f"-I{self.prefix / 'include'}"),
                    *(f"-L{self.libraries}", "-lquadrille", f"-Wl,-rpath,{self.libraries}"),
                )
                self.assertIn(result, run(*GIVEN.launch, program))

    def test_the_documents_and_the_man_page_are_there(self):
        for file in ("man/man1/quadrille.1", "man/man1/quadrille-cluster-up.1", "doc/quadrille/reference/environment.md",
                     "bash-completion/completions/quadrille", "zsh/site-functions/_quadrille"):
            self.assertTrue((self.prefix / "share" / file).is_file(), file)

    def test_the_modulefile_names_the_prefix_of_the_installation(self):
        text = (self.prefix / "share/modulefiles/quadrille").read_text(encoding="utf-8")
        self.assertIn(f"set root {self.prefix}\n", text)

    def test_the_drop_in_replaces_the_calls_of_an_unmodified_program(self):
        program = self.folder / "collectives"
        run(GIVEN.compiler, HERE / "collectives.c", "-o", program)
        for variable in ("FORCE", "EXCEPT"):
            with self.subTest(variable):
                path = self.folder / f"report-{variable}.json"
                # By env, so that the launcher itself is not affected.
                environment = (
                    f"LD_PRELOAD={self.libraries / 'libquadrille-dropin.so'}",
                    f"QUADRILLE_{variable}=all",
                    f"QUADRILLE_REPORT={path}",
                )
                run(*GIVEN.launch, "env", *environment, program)
                report = json.loads(path.read_text())
                calls = {name: calls * report["ranks"] for name, calls in CALLS.items()}
                refused = {name: {"not selected": number} for name, number in calls.items()}
                served = {row["collective"]: row["replaced"] for row in report["calls"]}
                self.assertEqual(served, calls if variable == "FORCE" else dict.fromkeys(calls, 0))
                self.assertEqual(report["passed_through"], {} if variable == "FORCE" else refused)

    def test_no_library_looks_into_the_build_tree(self):
        for library in self.libraries.glob("*.so"):
            for path in dynamic_entries(library, "RUNPATH") + dynamic_entries(library, "RPATH"):
                self.assertNotIn(str(GIVEN.build), path, library)

    # fmt: a system may have another version of it.
    def test_no_library_brings_hwloc_or_fmt_into_programs(self):
        for library in self.libraries.glob("*.so"):
            needed = dynamic_entries(library, "NEEDED")
            self.assertTrue(needed, library)
            self.assertEqual([one for one in needed if "hwloc" in one or "fmt" in one], [], library)

    def test_the_libraries_export_only_their_interface(self):
        library = r"(typeinfo for |typeinfo name for |vtable for )?quadrille::(Error|Window|reordered|detail::(CommunicatorCore|Handle))\b"
        drop_in = r"(typeinfo for |typeinfo name for |vtable for )quadrille::Error$|MPI_\w+$|o?mpi_\w+$|ucp_worker_progress$"
        self.assertEqual(strangers(self.libraries / "libquadrille.so", library + r"|MPI_Op_free$|quadrille_\w+$"), [])
        self.assertEqual(strangers(self.libraries / "libquadrille-dropin.so", drop_in), [])

    def test_symbols_of_the_library_have_the_version_of_its_interface(self):
        library = self.libraries / "libquadrille.so"
        (name,) = dynamic_entries(library, "SONAME")
        version = name.removeprefix("libquadrille.so.")
        self.assertRegex(library.resolve().name, rf"^libquadrille\.so\.{re.escape(version)}\.\d+$")
        lines = run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library).splitlines()
        symbols = [line.split()[-1] for line in lines if line.split()[1] != "A"]
        self.assertGreater(len(symbols), 100)
        self.assertEqual([one for one in symbols if not one.endswith(f"@@QUADRILLE_{version}")], [])

    # packaging/abi/abi compares types, too.
    def test_no_recorded_symbol_is_gone(self):
        library = self.libraries / "libquadrille.so"
        (name,) = dynamic_entries(library, "SONAME")
        record = RECORDS / f"{GIVEN.mpi}-{name}.abi"
        self.assertTrue(record.is_file(), f"{record}: packaging/abi/abi writes it")
        recorded = set(re.findall(r"<elf-symbol name='([^']+)'", record.read_text(encoding="utf-8")))
        self.assertGreater(len(recorded), 100)
        lines = run("nm", "--dynamic", "--defined-only", "--without-symbol-versions", library).splitlines()
        self.assertEqual(recorded - {line.split()[-1] for line in lines}, set())


if __name__ == "__main__":
    GIVEN = arguments()
    unittest.main(argv=["install_test.py", "--verbose"])
