#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct hwloc_topology;

namespace quadrille::machine {

// What a node is made of, from the outside in.
enum class Part : std::uint8_t { package, numa, l3, core };
inline constexpr std::array<Part, 4> all_parts = {Part::package, Part::numa, Part::l3, Part::core};

// The package, the NUMA domain and so on that a process can't leave, as hwloc numbers them; -1: it can, or there is
// none. Plain bytes, to be exchanged.
struct Position {
  std::array<std::int32_t, all_parts.size()> parts = {-1, -1, -1, -1};

  std::int32_t& operator[](Part part) { return parts[static_cast<std::size_t>(part)]; }
  std::int32_t operator[](Part part) const { return parts[static_cast<std::size_t>(part)]; }
};

// This node as hwloc sees it: the variables that it heeds, such as HWLOC_SYNTHETIC, count.
class Parts {
 public:
  Parts();

  // False in a build without hwloc, or where hwloc can't read the node: then there are no parts.
  bool known() const { return topology_ != nullptr; }
  int count(Part part) const;
  // Of whoever may run on these processors, as the system numbers them.
  Position position(std::span<const int> processors) const;
  // Of each core.
  std::vector<Position> cores() const;

 private:
  struct Close {
    void operator()(hwloc_topology* topology) const;
  };
  std::unique_ptr<hwloc_topology, Close> topology_;
};

// Those that this process may run on.
std::vector<int> own_processors();

}  // namespace quadrille::machine
