#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "draw/draw.hpp"
#include "verify/execution.hpp"

namespace quadrille::tools {

// The problem with a count and a segment size, by default such that no share or segment is empty; for hierarchical
// algorithms with nodes of `per_node` ranks, by default 4.
Problem with_data(const Algorithm& algorithm, Problem problem, std::optional<std::int64_t> count = {},
                  std::optional<std::int64_t> segment = {}, std::optional<Rank> per_node = {});

// What is printed or drawn of an algorithm.
struct Illustration {
  verify::Subject subject;
  draw::Title title;
  std::vector<verify::Matched> messages;
};

// Executes all ranks symbolically. Throws std::runtime_error if the execution fails.
Illustration illustrate(const Algorithm& algorithm, const Problem& problem);

}  // namespace quadrille::tools
