"""Debian's MPIs, and how programs are built and started with them."""

import collections.abc
import dataclasses
import re
import subprocess


@dataclasses.dataclass(frozen=True)
class Mpi:
    compiler: str
    packages: tuple  # of the library, as it is called in some version of Debian
    preprocessor_flags: str
    launcher: tuple
    variable: collections.abc.Callable  # options that set a variable for the ranks
    environment: dict
    spins: bool  # while it waits, regardless of settings: see yield.c


MPIS = {
    "openmpi": Mpi(
        compiler="mpicc.openmpi",
        packages=("libopenmpi3", "libopenmpi3t64", "libopenmpi40"),
        # The suite calls two functions that MPI 3.0 removed; without the first flag they are macros of mpi.h.
        preprocessor_flags="-DOMPI_OMIT_MPI1_COMPAT_DECLS=1 -DMPI_Type_hvector=MPI_Type_create_hvector"
        " -DMPI_Type_hindexed=MPI_Type_create_hindexed",
        launcher=("mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
                  "--mca", "pml", "ob1"),
        variable=lambda name, value: ["-x", f"{name}={value}"],
        environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        spins=False,
    ),
    "mpich": Mpi(
        compiler="mpicc.mpich",
        packages=("libmpich12",),
        preprocessor_flags="",
        launcher=("mpirun.mpich",),
        variable=lambda name, value: ["-genv", name, value],
        environment={},
        spins=True,
    ),
}


def launcher(mpi_name):
    """Its first words, for ranks on this machine."""
    words = MPIS[mpi_name].launcher
    if mpi_name != "openmpi":
        return words
    # Single copy needs a permission that containers lack, and warns in the test's output.
    if int(version_of(mpi_name).partition(".")[0]) < 5:
        return (*words, "--mca", "btl", "self,vader", "--mca", "btl_vader_single_copy_mechanism", "none")
    return (*words, "--mca", "btl", "self,sm", "--mca", "smsc", "^cma")


def package_of(mpi_name):
    return next(package for package in MPIS[mpi_name].packages if is_installed(package))


def package_version(package):
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=True, capture_output=True,
                          text=True).stdout


def version_of(mpi_name):
    """As 4.1: the first two numbers. Debian 13's MPICH is called 4.3.0+really4.2.1."""
    return re.match(r"\d+\.\d+", package_version(package_of(mpi_name)).rpartition("+really")[2])[0]


def is_installed(package):
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], capture_output=True, text=True,
                           check=False)
    return asked.stdout == "installed"
