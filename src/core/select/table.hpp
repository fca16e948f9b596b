#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/catalogue.hpp"

namespace quadrille {

// Sizes of a collective for which an algorithm of ours is faster than the MPI's own.
struct Rule {
  Collective collective = Collective::barrier;
  std::int64_t from = 0;  // bytes of a rank's own data, as `quadrille bench` counts them
  std::int64_t to = 0;    // the last that belongs to it
  Choice choice = {};
  std::int64_t segment = 0;  // bytes; 0: not told
  std::string note = {};     // what was measured, for people
};

// What was measured in one place.
struct Section {
  std::string mpi;  // name and version
  Rank ranks = 0;
  std::int32_t nodes = 0;
  std::vector<std::string> comments;
  std::vector<Rule> rules;
};

// A file that says what to serve, for people to read and to change:
//
//   # quadrille table 1
//   [Open MPI v4.1.4, 64 ranks, 16 nodes]
//   # measured 2026-11-15T12:00:00Z on node0: quadrille bench allreduce bcast --table cluster.table
//   allreduce  4096-65536  hierarchical  # 0.28-0.31 of native's time
//   bcast      1048576     pipelined_chain  segment 65536  # 0.5 of native's time (0.48-0.53)
struct Table {
  std::vector<std::string> comments;  // above the first section
  std::vector<Section> sections;
};

std::string to_text(const Table& table);

// Throws std::invalid_argument that begins with file:line and says what was expected there.
Table parse_table(std::string_view text, const std::string& file);
// The same of a file; an empty one is an empty table.
Table read_table(const std::string& file);

// Whether all ranks know the size of a call alike; else no rule can say anything of the collective.
bool may_have_rules(Collective collective);

// Adds what was measured now. It takes the place of all rules for these collectives under the same MPI, on as many
// ranks and nodes.
void put(Table& table, Section section, std::span<const Collective> measured);

}  // namespace quadrille
