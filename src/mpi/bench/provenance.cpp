#include "bench/provenance.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <quadrille/quadrille.hpp>
#include <thread>

#include "engine/mpi.hpp"
#include "machine/host.hpp"
#include "measure/version.hpp"
#include "text/quantities.hpp"

namespace quadrille::bench {

namespace {

int bound_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::string binding(int fewest, int most) {
  const auto all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (fewest >= all) return "none";
  return fewest == most ? fmt::format("to {} of {} cores", fewest, all)
                        : fmt::format("to {}-{} of {} cores", fewest, most, all);
}

}  // namespace

measure::Provenance provenance_of(MPI_Comm comm, const Place& place, const std::string& label,
                                  const std::string& command) {
  Communicator all(comm);
  // The least of these, and, turned around, the most.
  const std::array<int, 5> mine = {place.neighbours, -place.neighbours, bound_cores(), -bound_cores(),
                                   static_cast<int>(std::ceil(place.cores))};
  std::array<int, 5> least = {};
  all.allreduce(mine, least, [](int a, int b) { return std::min(a, b); });
  measure::Provenance provenance;
  provenance.version = version;
  provenance.mpi = engine::mpi_name();
  provenance.ranks = place.ranks;
  provenance.nodes = place.nodes;
  provenance.ranks_per_node =
      least[0] == -least[1] ? fmt::format("{}", least[0]) : fmt::format("{}-{}", least[0], -least[1]);
  provenance.binding = binding(least[2], -least[3]);
  provenance.usable_cores = least[4];
  provenance.oversubscribed = place.oversubscribed;
  provenance.command = command;
  provenance.label = label;
  provenance.host = machine::host_name();
  provenance.date = text::utc_now();
  provenance.rate_bits = place.rate_bits;
  provenance.uplink_bits = place.uplink_bits;
  provenance.clock_uncertainty = place.clock_uncertainty;
  return provenance;
}

}  // namespace quadrille::bench
