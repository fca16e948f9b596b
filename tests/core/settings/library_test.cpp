#include "settings/library.hpp"

#include <gtest/gtest.h>

namespace quadrille {
namespace {

void expect(std::string_view version, Library::Abi abi, std::string_view name) {
  const Library library = library_of(version);
  EXPECT_EQ(library.abi, abi) << version;
  EXPECT_EQ(library.name, name) << version;
}

TEST(Library, VersionsOfOpenMpi) {
  expect("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022",
         Library::Abi::openmpi, "Open MPI v4.1.4");
  expect("Open MPI v5.0.7", Library::Abi::openmpi, "Open MPI v5.0.7");
}

TEST(Library, VersionsOfMpich) {
  expect("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n", Library::Abi::mpich,
         "MPICH 4.0.2");
  expect("MPICH Version:      4.2.1\nMPICH Release date: Wed Apr 17 15:30:02 CDT 2024\n", Library::Abi::mpich,
         "MPICH 4.2.1");
}

TEST(Library, VendorsBuildsOfMpich) {
  expect("Intel(R) MPI Library 2021.9 for Linux* OS\n", Library::Abi::mpich, "Intel MPI 2021.9");
  expect("Intel(R) MPI Library 2019 Update 6 for Linux* OS\n", Library::Abi::mpich, "Intel MPI 2019 Update 6");
  expect("MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\nMPI BUILD INFO : Sun Feb 26 16:42 2023\n",
         Library::Abi::mpich, "Cray MPICH 8.1.25.17");
  expect("MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date :\t...\n", Library::Abi::mpich, "MVAPICH2 2.3.7");
  expect("MVAPICH Version      :\t3.0\n", Library::Abi::mpich, "MVAPICH 3.0");
}

TEST(Library, OthersKeepTheirFirstLine) {
  expect("IBM Spectrum MPI v10.4, package", Library::Abi::other, "IBM Spectrum MPI v10.4");
  expect("", Library::Abi::other, "");
  expect("MPICH", Library::Abi::mpich, "MPICH ");
}

}  // namespace
}  // namespace quadrille
