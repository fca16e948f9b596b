#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "algorithms/collective.hpp"

namespace quadrille::knowledge {

// By which algorithm an MPI library runs a call, by the number of ranks and of bytes, as text that is easy to hold
// against the library's source:
//
//   reduce
//     <4    pipeline 32 linear 262144 pipeline
//     rest  binomial
//   reduce not commutative
//     rest  linear
//
// A line has the ranks that it is for, as <N, =N, pow2 (powers of two) or rest, and algorithms in the order of sizes,
// between them the bytes from which on the next one is used; one that is indented further goes on with the line before.
// The first that fits counts.
class Decisions {
 public:
  // Throws std::logic_error for a text that can't be read. It must outlive this.
  explicit Decisions(std::string_view text);

  // Empty: nothing is said.
  std::string_view find(Collective collective, bool commutative, Rank ranks, std::int64_t bytes) const;

 private:
  struct Line {
    Rank from = 0;
    Rank to = 0;
    bool powers_of_two = false;  // only those
    std::vector<std::string_view> names;
    std::vector<std::int64_t> sizes;  // between them

    void add(std::string_view words);
  };
  struct Part {
    Collective collective = Collective::barrier;
    bool commutative = true;
    std::vector<Line> lines;
  };
  static Line line_of(std::string_view words);

  std::vector<Part> parts_;
};

}  // namespace quadrille::knowledge
