#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measure/report.hpp"

namespace quadrille::measure {

// Two variants of a cell that are the same and yet differ significantly, and by more than a few percent: nothing but
// noise can cause that. They have the same schedule, or are native and its control.
struct Discrepancy {
  std::string collective;
  std::int64_t bytes = 0;
  std::string variant;
  std::string same_as;
  Interval ratio;

  // Relative to the faster one: 0.1 is 10 %.
  double size() const { return (ratio.middle < 1 ? 1 / ratio.middle : ratio.middle) - 1; }
};

// By how much what is the same differs.
class Noise {
 public:
  explicit Noise(std::span<const Point> points);

  // The largest first.
  const std::vector<Discrepancy>& discrepancies() const { return discrepancies_; }
  // In a cell: the size of its largest discrepancy, 0 if it has none. If no two variants of it are the same, it can't
  // tell, and the largest of all cells counts.
  double at(const std::string& collective, std::int64_t bytes) const;

 private:
  std::vector<Discrepancy> discrepancies_;
  std::map<std::pair<std::string, std::int64_t>, double> cells_;  // those that can tell
};

// Of a variant and those with the same schedule, the one with the least favourable ratio to native.
const Point& cautious(std::span<const Point> points, const Point& first);

// Whether the processors of a machine were used by others as well, from what each rank saw at two times.
struct RankLoad {
  std::uint64_t machine = 0;  // the same for ranks on the same one
  double processors = 1;      // of the machine
  double busy = 0;            // seconds that all processors of the machine have worked
  double own = 0;             // seconds of them for this rank
};
struct MachineLoad {
  double others = 0;      // processors that others kept busy, on the machine where they left the ranks the least
  double processors = 1;  // of that machine
  int ranks = 1;          // on it

  // Others and the ranks together need more processors than there are.
  bool disturbs() const;
};
// One entry a rank.
MachineLoad load_between(std::span<const RankLoad> before, std::span<const RankLoad> after, double seconds);

// What is to be said of it all, a sentence each; nothing on a quiet machine.
std::vector<std::string> warnings(const MachineLoad& load, std::span<const Point> points);

}  // namespace quadrille::measure
