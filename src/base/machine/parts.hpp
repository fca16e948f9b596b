#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct hwloc_topology;

namespace quadrille::machine {

// The parts of a node, from the outermost to the innermost.
enum class Part : std::uint8_t { package, numa, l3, core };
inline constexpr std::array<Part, 4> all_parts = {Part::package, Part::numa, Part::l3, Part::core};

// The package, NUMA domain and so on that a process is bound to, by hwloc's indices; -1: not bound, or there is none.
// Trivially copyable, to be sent.
struct Position {
  std::array<std::int32_t, all_parts.size()> parts = {-1, -1, -1, -1};

  std::int32_t& operator[](Part part) { return parts[static_cast<std::size_t>(part)]; }
  std::int32_t operator[](Part part) const { return parts[static_cast<std::size_t>(part)]; }
};

// This node as seen by hwloc, whose variables, such as HWLOC_SYNTHETIC, apply.
class Parts {
 public:
  Parts();

  // False in a build without hwloc, or if hwloc fails: then there are no parts.
  bool known() const { return topology_ != nullptr; }
  int count(Part part) const;
  // The position of a process that may run on these processors, by the system's numbers.
  Position position(std::span<const int> processors) const;
  // Of each core.
  std::vector<Position> cores() const;

 private:
  struct Close {
    void operator()(hwloc_topology* topology) const;
  };
  std::unique_ptr<hwloc_topology, Close> topology_;
};

// The processors that this process may run on.
std::vector<int> own_processors();

}  // namespace quadrille::machine
