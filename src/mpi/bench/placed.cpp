#include "bench/placed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <quadrille/quadrille.hpp>
#include <stdexcept>
#include <vector>

#include "hosts/hosts.hpp"
#include "hosts/launch_files.hpp"
#include "machine/host.hpp"

namespace quadrille::bench {

namespace {

using HostName = std::array<char, 256>;

std::vector<std::string> expected_hosts(const std::string& path, int ranks) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(fmt::format("can't read '{}' on {}", path, machine::host_name()));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return hosts::hosts_of_ranks(text, path, ranks);
}

int compare_hosts(const std::vector<HostName>& found, const std::string& file) {
  const std::vector<std::string> expected = expected_hosts(file, static_cast<int>(found.size()));
  std::size_t right = 0;
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    if (hosts::same_host(found[rank].data(), expected[rank])) {
      ++right;
    } else {
      fmt::print("rank {} is on {}, and should be on {}\n", rank, found[rank].data(), expected[rank]);
    }
  }
  fmt::print("{} of {} ranks are where {} puts them\n", right, found.size(), file);
  std::fflush(stdout);
  return right == found.size() ? 0 : 1;
}

}  // namespace

int verify_placement(MPI_Comm comm, const std::string& file) {
  Communicator all(comm);
  HostName mine = {};
  const std::string name = machine::host_name();
  std::copy_n(name.begin(), std::min(name.size(), mine.size() - 1), mine.begin());
  std::vector<HostName> found(all.rank() == 0 ? static_cast<std::size_t>(all.size()) : 0);
  all.gather(mine.data(), sizeof mine, MPI_BYTE, found.data(), sizeof mine, MPI_BYTE, 0);
  if (all.rank() != 0) return 0;
  try {
    return compare_hosts(found, file);
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "quadrille place: {}\n", error.what());
    return 2;
  }
}

}  // namespace quadrille::bench
