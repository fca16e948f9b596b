#pragma once

#include <functional>
#include <string_view>

#include "algorithms/hierarchy.hpp"
#include "algorithms/outline.hpp"

// The outlines of what hierarchical algorithms have in common.
namespace quadrille::hierarchy {

// An algorithm of the catalogue among so many ranks, with so many units of each.
void outline_by(Collective collective, std::string_view name, const Problem& problem, Rank ranks, std::int64_t units,
                Outline& out);
// A stage in shared memory: `rounds` for each piece of the cut.
void outline_pieces(const node::Cut& cut, double units, Outline& out, const std::function<void(double piece)>& rounds);
void outline_reduce_inside(const Problem& problem, Outline& out);
void outline_reduce_to_all(const Problem& problem, Outline& out);
void outline_bcast_inside(const Problem& problem, double units, Outline& out);
void outline_gather_inside(const Problem& problem, std::int64_t units, Outline& out);
void outline_scatter_inside(const Problem& problem, std::int64_t units, Outline& out);
// Reduces and gathers among leaders, from the innermost level up to this one; a scatter is a gather in reverse.
void outline_reduce_up(const Problem& problem, int to_level, Outline& out);
void outline_gather_up(const Problem& problem, int to_level, Outline::Way way, Outline& out);

}  // namespace quadrille::hierarchy
