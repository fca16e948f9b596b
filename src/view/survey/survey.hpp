#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/parts.hpp"
#include "schedule/group.hpp"

namespace quadrille::survey {

// Where a rank runs. Trivially copyable, to be sent.
struct Site {
  std::uint64_t node = 0;  // equal for ranks of one node
  std::uint64_t rack = 0;  // likewise; 0: unknown
  std::array<char, 64> host = {};
  std::array<char, 64> rack_name = {};
  machine::Position position;
};

// From the outermost to the innermost.
enum class Level : std::uint8_t { rack, node, package, numa, l3, core };
inline constexpr std::array<Level, 6> all_levels = {Level::rack, Level::node, Level::package,
                                                    Level::numa, Level::l3,   Level::core};

std::string_view name(Level level);

// One rack, one node, ...
struct Domain {
  Level level = Level::node;
  std::string name;  // of a rack or a host; hwloc's index of a part
  std::vector<Rank> members;
  Rank leader = 0;  // for root 0
  std::vector<Domain> inside = {};

  // "node3", "rack a", "package 0".
  std::string title() const;
};

// A level that separates ranks; nodes in any case.
struct Layer {
  Level level = Level::node;
  std::vector<Rank> leaders;  // of its domains, for root 0
};

// The machine as a tree. A level is omitted below a domain that it does not split, and on a node where a rank is not
// bound to one of its parts.
struct Survey {
  bool of_ranks = true;  // false: of this node only, with its cores instead of ranks
  Rank members = 0;
  std::vector<Layer> layers;
  std::vector<Domain> domains;  // the outermost
  std::vector<Rank> unbound;    // not bound to a core
  bool parts_known = false;
  std::optional<bool> shared_memory;  // among ranks of a node

  Rank count(Level level) const;
};

// By rank.
Survey survey_of(std::span<const Site> sites);
// Of a node without ranks.
Survey survey_of(const std::string& host, const machine::Parts& parts);

// "0-3,8"; "0,4,...,60".
std::string abbreviated(std::span<const Rank> ranks);

// "8 ranks on 4 nodes in 2 racks".
std::string heading(const Survey& survey);
// Further remarks.
std::vector<std::string> remarks(const Survey& survey);

// As text, JSON and a drawing.
std::string to_text(const Survey& survey);
std::string to_json(const Survey& survey);
std::string to_svg(const Survey& survey);

}  // namespace quadrille::survey
