#include "engine/places.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <quadrille/error.hpp>
#include <stdexcept>
#include <string>

#include "engine/mpi.hpp"
#include "machine/host.hpp"
#include "settings/racks.hpp"
#include "settings/settings.hpp"

namespace quadrille::engine {

namespace {

// FNV-1a; never 0.
std::uint64_t number_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char one : text) hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3U;
  return hash == 0 ? 1 : hash;
}

std::uint32_t short_number_of(std::string_view text) {
  const std::uint64_t number = number_of(text);
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(number ^ number >> 32U));
}

// Processes reach each other's memory by their numbers, which a container may have to itself.
std::string process_namespace() {
  std::array<char, 64> name = {};
  return readlink("/proc/self/ns/pid", name.data(), name.size() - 1) < 0 ? "" : name.data();
}

}  // namespace

std::string own_rack() {
  try {
    const std::string path(setting("QUADRILLE_RACKS"));
    if (path.empty()) return "";
    const std::string host = machine::host_name();
    for (const Rack& rack : read_racks(path)) {
      if (std::find(rack.hosts.begin(), rack.hosts.end(), host) != rack.hosts.end()) return rack.name;
    }
    return "";
  } catch (const std::invalid_argument& error) {
    throw Error(MPI_ERR_ARG, error.what());
  }
}

Place own_place() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const std::string rack = own_rack();
  return {.node = number_of(machine::host_name() + '/' + boot + '/' + process_namespace()),
          .rack = rack.empty() ? 0 : short_number_of(rack)};
}

std::vector<int> ranks_in_world(MPI_Comm comm, Members members) {
  // Open MPI would compare each member with all: 2^31 comparisons for 65,536 ranks.
  if (comm == MPI_COMM_WORLD) {
    int ranks = 0;
    check(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  int size = 0;
  check(PMPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check(members == Members::own ? PMPI_Comm_group(comm, &group) : PMPI_Comm_remote_group(comm, &group),
        "MPI_Comm_group");
  check(PMPI_Group_size(group, &size), "MPI_Group_size");
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> in_world(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  check(PMPI_Group_translate_ranks(group, size, ranks.data(), world, in_world.data()), "MPI_Group_translate_ranks");
  check(PMPI_Group_free(&world), "MPI_Group_free");
  check(PMPI_Group_free(&group), "MPI_Group_free");
  return in_world;
}

std::vector<std::int32_t> processes_of(MPI_Comm comm) {
  std::vector<int> in_world = ranks_in_world(comm);
  const bool all = std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) == in_world.end();
  return all ? in_world : std::vector<std::int32_t>();
}

}  // namespace quadrille::engine
