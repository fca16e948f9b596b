#include "bench/place.hpp"

#include <cstdlib>

#include "algorithms/collective.hpp"
#include "cost/built_in.hpp"
#include "machine/cores.hpp"

namespace quadrille::bench {

namespace {

double from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::atof(value) : 0;
}

}  // namespace

Place place_of(Communicator& comm, const Clocks& clocks) {
  Place place;
  place.rank = comm.rank();
  place.ranks = comm.size();
  place.nodes = clocks.nodes();
  place.neighbours = clocks.neighbours();
  place.cores = machine::usable_cores();
  place.rate_bits = from_environment("QUADRILLE_CLUSTER_RATE");
  place.uplink_bits = from_environment("QUADRILLE_CLUSTER_UPLINK");
  // Who has a core of his own waits for others who have none: one node that is short of cores is enough.
  const int crowded = place.neighbours > place.cores ? 1 : 0;
  int anywhere = 0;
  comm.allreduce(&crowded, &anywhere, 1, MPI_INT, MPI_MAX);
  place.oversubscribed = anywhere != 0;
  return place;
}

std::optional<double> floor_of(Collective collective, std::int64_t bytes, const Place& place) {
  if (place.rate_bits <= 0 || place.nodes < 2 || bytes == 0) return std::nullopt;
  const auto n = static_cast<double>(bytes);
  const auto nodes = static_cast<double>(place.nodes);
  const double elsewhere = (nodes - 1) / nodes;  // the part of all ranks that is on other nodes
  const double each = static_cast<double>(place.ranks) / nodes;
  const Traits of = traits(collective);
  double crossing = 0;
  switch (collective) {
    case Collective::barrier:
      return std::nullopt;
    case Collective::allreduce:
      crossing = 2 * n * elsewhere;
      break;
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      crossing = n * elsewhere;
      break;
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw:
      crossing = each * n * elsewhere;
      break;
    default:
      crossing = of.in_blocks() ? n * static_cast<double>(place.ranks) * elsewhere : n;
  }
  return crossing * cost::byte_on_ethernet(place.rate_bits);
}

}  // namespace quadrille::bench
