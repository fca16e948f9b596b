"""Quadrille's package for Spack 0.23 and later, 1.0 and later.

No release lies at an address yet, so there is none here. It is built from this tree, which takes the place of a release:

    $ spack repo create quadrille-repo && mkdir quadrille-repo/packages/quadrille
    $ cp packaging/spack/package.py quadrille-repo/packages/quadrille/
    $ spack repo add quadrille-repo
    $ spack dev-build quadrille@0.2.0 ^openmpi

tests/install/recipes_test.py holds it against the tree. Spack 0.23 has loaded it (`spack info quadrille`). It has
neither been concretised nor built: that takes sources from the network.
"""

from spack.package import *

try:  # Spack 1.0 and later
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass


class Quadrille(CMakePackage):
    """Collective communication for MPI programs, by schedules that are proved before they run: a library, a drop-in for
    unchanged programs, and a command."""

    license("BSD-3-Clause", checked_by="quadrille")

    version("0.2.0")

    depends_on("cxx", type="build")
    depends_on("c", type="build")

    generator("ninja")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.9:", type="build")
    depends_on("fmt@9:")
    depends_on("hwloc@2:")
    depends_on("scotch")
    depends_on("mpi")

    conflicts("%gcc@:10", msg="C++20 takes GCC 11 or later")

    @property
    def mpi_kind(self):
        """As Quadrille calls an MPI: all but Open MPI are built like MPICH, of which they are kin."""
        return "openmpi" if self.spec["mpi"].name == "openmpi" else "mpich"

    def cmake_args(self):
        mpi = self.spec["mpi"]
        return [
            self.define("QUADRILLE_BUILD_TESTS", False),
            self.define("QUADRILLE_WITH_MPI", self.mpi_kind),
            self.define(f"QUADRILLE_COMPILER_{self.mpi_kind}", mpi.mpicc),
            self.define(f"QUADRILLE_LAUNCHER_{self.mpi_kind}", mpi.prefix.bin.mpirun),
        ]

    def check(self):
        """The tests proper take an MPI that runs; the command proves some of the algorithms."""
        Executable(join_path(self.build_directory, "src", "quadrille"))("verify", "--ranks", "1-5,8")
