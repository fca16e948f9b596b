#include "engine/places.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <quadrille/error.hpp>
#include <stdexcept>
#include <string>

#include "engine/mpi.hpp"
#include "machine/host.hpp"
#include "machine/load.hpp"
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

// Processes reach each other's memory by their numbers, which a container may have to itself.
std::string process_namespace() {
  std::array<char, 64> name = {};
  return readlink("/proc/self/ns/pid", name.data(), name.size() - 1) < 0 ? "" : name.data();
}

// Whether a level tells any two ranks apart.
bool splits(const std::vector<std::int32_t>& names) {
  return std::any_of(names.begin(), names.end(), [&](std::int32_t name) { return name != names.front(); });
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
          .rack = rack.empty() ? 0 : number_of(rack),
          .machine = machine::identity()};
}

Topology topology_of(std::span<const Place> places) {
  const auto named = [&](std::uint64_t Place::*what) {
    std::map<std::uint64_t, std::int32_t> numbers;
    std::vector<std::int32_t> names;
    for (const Place& place : places) {
      names.push_back(numbers.try_emplace(place.*what, static_cast<std::int32_t>(numbers.size())).first->second);
    }
    return names;
  };
  std::vector<std::vector<std::int32_t>> levels;
  for (const auto what : {&Place::rack, &Place::node}) {
    std::vector<std::int32_t> names = named(what);
    if (splits(names)) levels.push_back(std::move(names));
  }
  return {static_cast<Rank>(places.size()), levels};
}

}  // namespace quadrille::engine
