#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "launch/command.hpp"
#include "launch/mpi.hpp"
#include "launch/preload.hpp"
#include "launch/system.hpp"

namespace quadrille::launch {
namespace {

TEST(Version, IsFoundWhateverStandsAroundIt) {
  EXPECT_EQ(version_in("mpirun (Open MPI) 4.1.4\n\nReport bugs to ...\n"), "4.1.4");
  EXPECT_EQ(version_in("a warning of 5 lines\nmpirun (Open MPI) 4.1.4\n"), "4.1.4");
  EXPECT_EQ(version_in("mpirun (Open MPI) 5.0.7"), "5.0.7");
  EXPECT_EQ(version_in("HYDRA build details:\n    Version:              4.0.2\n    Release Date: 2022\n"), "4.0.2");
  EXPECT_EQ(version_in("slurm-wlm 22.05.8\n"), "");
  EXPECT_EQ(version_in("mpirun (Open MPI)"), "");
}

TEST(Mpi, IsDetectedByItsLibrary) {
  EXPECT_EQ(mpi_in("\tlibmpi.so.40 => /lib/x86_64-linux-gnu/libmpi.so.40 (0x00007f)\n"), Mpi::openmpi);
  EXPECT_EQ(mpi_in("\tlibmpich.so.12 => /lib/x86_64-linux-gnu/libmpich.so.12 (0x00007f)\n"), Mpi::mpich);
  EXPECT_EQ(mpi_in("\tlibmpi.so.12 => /opt/mpich/lib/libmpi.so.12 (0x00007f)\n"), Mpi::mpich);
  EXPECT_EQ(mpi_in("\tlibmpi_gnu_123.so.12 => /opt/cray/pe/lib64/libmpi_gnu_123.so.12 (0x00007f)\n"), Mpi::mpich);
  EXPECT_EQ(mpi_in("\tlibmpi_mpifh.so.40 => /lib/libmpi_mpifh.so.40\n\tlibmpi.so.40 => /lib/libmpi.so.40\n"),
            Mpi::openmpi);
  EXPECT_EQ(mpi_in("\tlibmpi_abi.so.1 => /lib/libmpi_abi.so.1 (0x00007f)\n"), std::nullopt);
  EXPECT_EQ(mpi_in("\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n"), std::nullopt);
  EXPECT_EQ(mpi_of("/bin/sh"), std::nullopt);
  EXPECT_EQ(mpi_of("/no/such/program"), std::nullopt);
}

TEST(Mpi, HasAName) {
  EXPECT_EQ(name(Mpi::openmpi), "openmpi");
  EXPECT_EQ(mpi_named("mpich"), Mpi::mpich);
  EXPECT_EQ(mpi_named("lam"), std::nullopt);
}

TEST(Command, IsRunAndRead) {
  const std::string input(1 << 20, 'x');  // more than a pipe holds
  EXPECT_EQ(run({"wc", "-c"}, input).text, "1048576\n");
  const CommandResult done = run({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(done.text, "out\nerr\n");
  EXPECT_EQ(done.status, 3);
  EXPECT_EQ(run({"sh", "-c", "kill -9 $$"}).status, 128 + 9);
  EXPECT_EQ(run({"/no/such/program"}).status, 127);
}

TEST(Command, HasItsStatusEvenIfSigchldWasIgnored) {
  std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run({"sh", "-c", "exit 3"}).status, 3);
  EXPECT_THROW(wait_for(getpid()), std::runtime_error);
}

TEST(Mpi, HasTheFirstLauncherInThePath) {
  const std::string before = std::getenv("PATH");
  const auto folder = std::filesystem::path(testing::TempDir()) / ("launcher-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "mpirun") << "#!/bin/sh\necho HYDRA build details\n";
  std::filesystem::permissions(folder / "mpirun", std::filesystem::perms::owner_all);
  setenv("PATH", (folder.string() + ":" + before).c_str(), 1);
  EXPECT_EQ(launcher_of(Mpi::mpich), folder / "mpirun");
  if (find_program("mpirun.openmpi")) {
    EXPECT_NE(launcher_of(Mpi::openmpi), folder / "mpirun");
  }
  setenv("PATH", before.c_str(), 1);
  // What stands behind links says it without being run.
  EXPECT_EQ(mpi_started_by(folder / "mpirun"), Mpi::mpich);
  std::ofstream(folder / "orterun") << "#!/bin/sh\necho HYDRA build details\n";
  std::filesystem::create_symlink("orterun", folder / "mpiexec");
  EXPECT_EQ(mpi_started_by(folder / "mpiexec"), Mpi::openmpi);
  std::filesystem::remove_all(folder);
}

TEST(Command, IsFoundInThePath) {
  EXPECT_TRUE(find_program("sh"));
  EXPECT_TRUE(find_program("/bin/sh"));
  EXPECT_FALSE(find_program("no-such-program"));
  EXPECT_FALSE(find_program("/etc/passwd"));
}

TEST(Launcher, MayBeTheClusters) {
  const std::vector<std::string> words = {"bin/quadrille", "cluster", "run", "-n", "4", "--", "./program", "x"};
  EXPECT_EQ(detect_launcher(words), Launcher::cluster);
  EXPECT_EQ(mpi_of(Launcher::cluster), std::nullopt);
  EXPECT_EQ(detect_launcher({"quadrille", "run", "--", "mpirun", "./program"}), std::nullopt);
  EXPECT_EQ(detect_launcher({"quadrille"}), std::nullopt);
  const std::vector<std::string> expected = {"bin/quadrille", "cluster", "run", "-x", "A=b c",     "-x",
                                             "D=e",           "-n",      "4",   "--", "./program", "x"};
  EXPECT_EQ(with_variables(Launcher::cluster, words, {{"A", "b c"}, {"D", "e"}}), expected);
}

TEST(Launcher, KnowsWhereTheProgramBegins) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(place_of_program(Words{"mpirun", "-n", "4", "./program", "-f", "in"}), 3U);
  EXPECT_EQ(place_of_program(Words{"mpirun", "--mca", "pml", "ob1", "-n", "4", "./program"}), 6U);
  EXPECT_EQ(place_of_program(Words{"mpiexec", "-hosts", "a,b", "-genv", "A", "1", "./program"}), 6U);
  EXPECT_EQ(place_of_program(Words{"mpiexec", "--genv", "A", "1", "./program"}), 4U);
  EXPECT_EQ(place_of_program(Words{"mpiexec", "-genv", "A=1", "./script.sh"}), 3U);
  EXPECT_EQ(place_of_program(Words{"srun", "--ntasks=4", "./program"}), 2U);
  EXPECT_EQ(place_of_program(Words{"quadrille", "cluster", "run", "-n", "4", "--", "-x"}), 6U);
  EXPECT_EQ(place_of_program(Words{"mpirun", "-n", "4"}), 3U);
}

TEST(Words, AreQuotedForAShell) {
  for (const std::string word : {"", "plain", "a b", "it's", "$x\"`\\"}) {
    EXPECT_EQ(run({"sh", "-c", "printf %s " + shell_word(word)}).text, word);
  }
}

}  // namespace
}  // namespace quadrille::launch
