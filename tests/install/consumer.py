"""Programs built against an installed Quadrille, in each supported way."""

import os
import pathlib
import subprocess

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES {language})
find_package(quadrille REQUIRED COMPONENTS {mpi})
add_executable(consumer {source})
target_link_libraries(consumer PRIVATE quadrille::{mpi})
"""


def run(*words, **environment):
    """Returns what the command prints; if it fails, that is in the error."""
    result = subprocess.run(
        [str(word) for word in words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    if result.returncode != 0:
        raise AssertionError(f"{words}: exit status {result.returncode}\n{result.stdout}")
    return result.stdout


class Installation:
    """An installation prefix, for one MPI; `libraries` is its library folder."""

    def __init__(self, prefix, libraries, mpi):
        self.prefix = pathlib.Path(prefix)
        self.mpi = mpi
        self.libraries = self.prefix / libraries
        self.library_folder = self.libraries / "quadrille" / mpi

    def build_by_cmake(self, source, language, folder):
        """A project of one language; returns the program."""
        folder.mkdir()
        text = PROJECT.format(language=language, mpi=self.mpi, source=source)
        (folder / "CMakeLists.txt").write_text(text)
        run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", folder / "build")
        return folder / "build" / "consumer"

    def pkg_config(self, *words):
        path = str(self.libraries / "pkgconfig")
        return run("pkg-config", *words, f"quadrille-{self.mpi}", PKG_CONFIG_LIBDIR=path).split()

    def build_by_pkg_config(self, compiler, source, folder):
        """`compiler` is a list of words; returns the program."""
        program = folder / f"by_pkg_config_{self.mpi}"
        flags = self.pkg_config("--cflags", "--libs")
        rpath = f"-Wl,-rpath,{self.pkg_config('--variable=libdir')[0]}"
        run(*compiler, source, "-o", program, *flags, rpath)
        return program
