#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/catalogue.hpp"

namespace quadrille {

// Sizes of a collective, and what is fastest for them: a variant of ours or, without one, the MPI's own function. Plain
// bytes.
struct Rule {
  Collective collective = Collective::barrier;
  std::int64_t from = 0;  // see Case::bytes
  std::int64_t to = 0;    // the last that belongs to it
  Variant variant = {};

  friend bool operator==(const Rule&, const Rule&) = default;
};

// What was measured under one MPI, on so many ranks and nodes.
struct Section {
  // A rule with what was measured; what is 0 or empty is unknown, and not written.
  struct Line {
    Rule rule;
    std::string note = {};      // for people
    double seconds = 0;         // of a call by what the rule names
    double native_seconds = 0;  // by the MPI's own function
    std::int64_t calls = 0;     // that were measured
    std::string when = {};      // in UTC, see is_time
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
//   bcast      8           native  seconds 1.2e-05  native 1.2e-05  calls 400  when 2026-11-15T12:00:00Z
//
// "native" is the MPI's own function. The words behind the algorithm may be left out, and have any order.
struct Table {
  std::vector<std::string> comments;  // above the first section
  std::vector<Section> sections;
};

std::string to_text(const Table& table);

// "native", or the variant's name.
std::string name_of(const Rule& rule);

// Whether a text is a time in UTC, as 2026-11-15T12:00:00Z: the later one is the larger one.
bool is_time(std::string_view text);

// Throws std::invalid_argument that begins with file:line and says what was expected there.
Table parse_table(std::string_view text, const std::string& file);
// The same, but for a first line that is wrong it skips what it can't read, and adds what it would have thrown for to
// `complaints`.
Table parse_table(std::string_view text, const std::string& file, std::vector<std::string>& complaints);
// The same as the first, of a file; an empty one is an empty table.
Table read_table(const std::string& file);

// Adds what was measured now. It replaces all rules for these collectives under the same MPI on as many ranks and
// nodes.
void put(Table& table, Section section, std::span<const Collective> measured);

}  // namespace quadrille
