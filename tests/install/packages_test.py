"""Debian packages, unpacked and tested: packages_test.py --packages FOLDER ..."""

import argparse
import pathlib
import re
import tempfile
import unittest

from consumer import Installation, run


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=pathlib.Path, required=True, help="folder that has them")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build that they were made of")
    parser.add_argument("--examples", type=pathlib.Path, required=True, help="folder of the examples")
    parser.add_argument("--libraries", required=True, help="where libraries go below /usr")
    parser.add_argument("--mpi", action="append", default=[], help="openmpi, mpich")
    return parser.parse_args()


def expected_files():
    """Some of each package, below usr."""
    library = f"{GIVEN.libraries}/quadrille"
    files = {
        "quadrille": ["bin/quadrille", "share/man/man1/quadrille.1.gz", "share/man/man1/quadrille-run.1.gz",
                      "share/bash-completion/completions/quadrille", "share/doc/quadrille/reference/environment.md"],
        "libquadrille-dev": [
            *("include/quadrille/quadrille.hpp", "include/quadrille/quadrille.h"),
            f"{GIVEN.libraries}/cmake/quadrille/quadrilleConfig.cmake",
            *(f"{GIVEN.libraries}/pkgconfig/quadrille-{mpi}.pc" for mpi in GIVEN.mpi),
            *(f"{library}/{mpi}/libquadrille.so" for mpi in GIVEN.mpi),
        ],
    }
    for mpi in GIVEN.mpi:
        names = ("libquadrille.so.0.2", "libquadrille-dropin.so")
        files[f"libquadrille-{mpi}"] = [f"{library}/{mpi}/{name}" for name in names]
    return files


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        packages = [path for path in GIVEN.packages.glob("*.deb") if "-dbgsym_" not in path.name]
        cls.packages = {path.name.split("_")[0]: path for path in packages}
        cls.contents = {}
        for name, path in cls.packages.items():
            unpacked = cls.folder / "alone" / name
            unpacked.mkdir(parents=True)
            run("dpkg-deb", "-x", path, unpacked)
            run("dpkg-deb", "-x", path, cls.folder / "together")
            # A link counts as a file, also if what it names is in another package.
            files = [path for path in unpacked.rglob("*") if path.is_symlink() or not path.is_dir()]
            cls.contents[name] = {str(path.relative_to(unpacked)) for path in files}
        cls.usr = cls.folder / "together" / "usr"

    def test_each_package_has_its_files(self):
        self.assertEqual(set(self.packages), set(expected_files()))
        for name, files in expected_files().items():
            with self.subTest(name):
                self.assertEqual({f"usr/{file}" for file in files} - self.contents[name], set())
                self.assertIn(f"usr/share/doc/{name}/copyright", self.contents[name])

    def test_no_file_is_in_two_packages(self):
        owners = {}
        for name, files in self.contents.items():
            for file in files:
                self.assertNotIn(file, owners, f"{name} has it, too")
                owners[file] = name

    def test_together_they_are_a_whole_installation(self):
        run("cmake", "--install", GIVEN.build, "--prefix", self.folder / "installed")
        installed = self.folder / "installed"
        files = {str(path.relative_to(installed)) for path in installed.rglob("*") if not path.is_dir()}
        # Nobody needs to load what is in /usr; Debian has names of its own for the other two.
        files -= {"share/modulefiles/quadrille", "share/doc/quadrille/CHANGELOG.md", "share/doc/quadrille/LICENSE"}
        packed = {file.removeprefix("usr/").removesuffix(".gz") for content in self.contents.values() for file in content}
        own = re.compile(r"share/doc/[^/]+/(copyright|changelog|changelog\.Debian)")
        self.assertEqual({file for file in packed if not own.fullmatch(file)}, files)

    def test_packages_depend_on_what_they_need(self):
        depends = {name: run("dpkg-deb", "-f", path, "Depends") for name, path in self.packages.items()}
        version = run("dpkg-deb", "-f", self.packages["libquadrille-dev"], "Version").strip()
        for mpi, library in (("openmpi", "libopenmpi"), ("mpich", "libmpich")):
            if mpi in GIVEN.mpi:
                self.assertIn(f"libquadrille-{mpi} (= {version})", depends["libquadrille-dev"])
                self.assertRegex(depends[f"libquadrille-{mpi}"], rf"\b{library}\d+ ")
        self.assertNotRegex(depends["quadrille"], "mpi")

    def test_programs_build_against_them(self):
        for mpi in GIVEN.mpi:
            installation = Installation(self.usr, GIVEN.libraries, mpi)
            example = GIVEN.examples / "sort.cpp"
            for program in (
                installation.build_by_cmake(example, "CXX", self.folder / f"project_{mpi}"),
                installation.build_by_pkg_config(["gcc"], GIVEN.examples / "fit.c", self.folder),
            ):
                with self.subTest(mpi=mpi, program=program):
                    found = re.search(r"libquadrille\.so\.0\.2 => (\S+)", run("ldd", program))
                    self.assertTrue(found)
                    folder = pathlib.Path(found[1]).resolve().parent
                    self.assertEqual(folder, installation.library_folder.resolve())

    def test_the_command_runs(self):
        self.assertIn("recursive_doubling", run(self.usr / "bin" / "quadrille", "list"))


if __name__ == "__main__":
    GIVEN = arguments()
    unittest.main(argv=["packages_test.py", "--verbose"])
