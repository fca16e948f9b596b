#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/catalogue.hpp"

namespace quadrille {

// Sizes of a collective for which a variant of ours is faster than the MPI's own call. Plain bytes.
struct Rule {
  Collective collective = Collective::barrier;
  std::int64_t from = 0;  // see Case::bytes
  std::int64_t to = 0;    // the last that belongs to it
  Variant variant = {};

  friend bool operator==(const Rule&, const Rule&) = default;
};

// What was measured under one MPI, on so many ranks and nodes.
struct Section {
  // A rule with what was measured, for people.
  struct Line {
    Rule rule;
    std::string note = {};
  };

  std::string mpi;  // name and version
  Rank ranks = 0;
  std::int32_t nodes = 0;
  std::vector<std::string> comments;
  std::vector<Line> lines;
};

// A tuning table: a file of rules that people can read and edit.
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

// Adds what was measured now. It replaces all rules for these collectives under the same MPI on as many ranks and
// nodes.
void put(Table& table, Section section, std::span<const Collective> measured);

}  // namespace quadrille
