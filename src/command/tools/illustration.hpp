#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "draw/draw.hpp"
#include "verify/execution.hpp"

namespace quadrille::tools {

// The problem with a count and a segment, by default enough data that every share and segment has some; and with nodes
// of so many ranks, by default 4, for algorithms that heed them.
Problem with_data(const Algorithm& algorithm, Problem problem, std::optional<std::int64_t> count = {},
                  std::optional<std::int64_t> segment = {}, std::optional<Rank> per_node = {});

// What there is to see of an algorithm.
struct Illustration {
  verify::Subject subject;
  draw::Title title;
  std::vector<verify::Matched> messages;
};

// Runs all ranks. Throws std::runtime_error if that goes wrong.
Illustration illustrate(const Algorithm& algorithm, const Problem& problem);

// Throws std::runtime_error if the file can't be written.
void write_file(const std::string& path, const std::string& text);

}  // namespace quadrille::tools
