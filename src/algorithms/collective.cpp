#include "algorithms/collective.hpp"

#include <array>
#include <stdexcept>

namespace quadrille {

namespace {

constexpr std::array<std::string_view, collectives> names = {"barrier", "bcast", "allreduce", "alltoallv"};

}  // namespace

std::string_view name(Collective collective) {
  return names[static_cast<std::size_t>(collective)];
}

std::optional<Collective> collective_named(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Collective>(i);
  }
  return std::nullopt;
}

Traits traits(Collective collective) {
  switch (collective) {
    case Collective::barrier:
      return {.moves_data = false, .synchronises = true};
    case Collective::bcast:
      return {.rooted = true};
    case Collective::allreduce:
      return {.reduces = true, .may_be_in_place = true};
    case Collective::alltoallv:
      return {.block_for_each_peer = true, .may_be_in_place = true};
  }
  throw std::logic_error("traits: no such collective");
}

Unit unit_of(Collective collective) {
  return traits(collective).reduces ? Unit::elements : Unit::bytes;
}

Problem problem_of(Collective collective, Problem problem) {
  const Traits of = traits(collective);
  problem.input = {.buffer = Buffer::input};
  problem.output = {.buffer = Buffer::output};
  if (!of.block_for_each_peer) problem.input.length = problem.output.length = problem.count;
  if (problem.in_place || collective == Collective::bcast) problem.input = problem.output;
  return problem;
}

std::vector<Meaning> meaning(Collective collective, const Problem& problem) {
  switch (collective) {
    case Collective::barrier:
      return {};
    case Collective::bcast:
      return {{.output = problem.output, .source = problem.root, .from = problem.output}};
    case Collective::allreduce:
      return {{.output = problem.output, .reduced = true, .from = problem.input}};
    case Collective::alltoallv: {
      std::vector<Meaning> blocks;
      for (Rank peer = 0; peer < problem.ranks; ++peer) {
        blocks.push_back(
            {.output = problem.output_block(peer), .source = peer, .from = problem.input_block(problem.rank)});
      }
      return blocks;
    }
  }
  throw std::logic_error("meaning: no such collective");
}

std::int32_t block_count(Collective collective, const Problem& problem, Buffer buffer) {
  const Traits of = traits(collective);
  const bool one_buffer = problem.in_place || collective == Collective::bcast;
  if (!of.moves_data || (buffer == Buffer::input && one_buffer)) return 0;
  return of.block_for_each_peer ? problem.ranks : 1;
}

std::int64_t block_units(Collective collective, const Problem& problem, const BlockSizes& sizes, Buffer buffer,
                         std::int32_t block) {
  if (!traits(collective).block_for_each_peer) return problem.count;
  return buffer == Buffer::input ? sizes(problem.rank, block) : sizes(block, problem.rank);
}

bool given(Collective collective, const Problem& problem, Buffer buffer) {
  if (buffer == Buffer::input) return true;
  if (collective == Collective::bcast) return problem.rank == problem.root;
  return problem.in_place;
}

}  // namespace quadrille
