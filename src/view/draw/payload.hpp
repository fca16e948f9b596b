#pragma once

#include <cstdint>
#include <vector>

#include "verify/provenance.hpp"

namespace quadrille::draw {

// The origin of moved data: whose it is, and which part.
struct Payload {
  std::uint64_t ranks = 0;  // a bit for each rank that contributed
  bool all = true;          // every rank contributed to every unit
  std::int32_t first_block = 0;
  std::int32_t last_block = 0;
  Range part;  // of the block
  std::int64_t units = 0;

  friend bool operator==(const Payload&, const Payload&) = default;
};

// No data has a payload without ranks.
Payload payload_of(const std::vector<verify::Held>& data, const verify::Expressions& expressions, Rank ranks);

// Of each piece by itself.
std::vector<Payload> pieces_of(const std::vector<verify::Held>& data, const verify::Expressions& expressions,
                               Rank ranks);

}  // namespace quadrille::draw
