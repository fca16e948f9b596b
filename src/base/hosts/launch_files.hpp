#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Files by which launchers put each rank on a host of one's choice.
namespace quadrille::hosts {

// One line for each rank: for Slurm's distribution "arbitrary" and Open MPI's mapper "seq".
std::string one_a_line(std::span<const std::string> host_of_rank);

// Open MPI's rankfile. Each rank on a core of its own, the first on core 0 of its host; or on any.
std::string rankfile(std::span<const std::string> host_of_rank, bool on_cores);

// For MPICH's Hydra, which puts the number of ranks of each line on its host, and begins anew behind the last line.
struct HydraHosts {
  std::string text;
  // The first rank whose host is listed a second time: MPICH takes each line for a node of its own. None: it doesn't
  // have to be.
  std::optional<int> listed_again;
};
HydraHosts hydra_hosts(std::span<const std::string> host_of_rank);

// The host of each of so many ranks, by the text of any of these files. Throws std::invalid_argument with the file's
// name if it is of another number of ranks.
std::vector<std::string> hosts_of_ranks(std::string_view text, const std::string& file, int ranks);

}  // namespace quadrille::hosts
