#include "algorithms/collective.hpp"

#include <array>
#include <cctype>
#include <stdexcept>
#include <string>

namespace quadrille {

namespace {

constexpr std::array<std::string_view, collectives> names = {
    "barrier",  "bcast",     "reduce",    "allreduce",      "gather",
    "gatherv",  "scatter",   "scatterv",  "allgather",      "allgatherv",
    "alltoall", "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block",
    "scan",     "exscan"};

using Side = Traits::Side;

constexpr Traits traits_of(Collective collective) {
  switch (collective) {
    case Collective::barrier:
      return {.input = Side::nothing, .output = Side::nothing, .synchronises = true, .may_be_in_place = false};
    case Collective::bcast:
      return {.input = Side::nothing, .rooted = true, .may_be_in_place = false};
    case Collective::reduce:
      return {.rooted = true, .reduces = true};
    case Collective::allreduce:
      return {.reduces = true};
    case Collective::gather:
      return {.output = Side::all, .rooted = true};
    case Collective::gatherv:
      return {.output = Side::all, .rooted = true, .separate_blocks = true};
    case Collective::scatter:
      return {.input = Side::all, .rooted = true};
    case Collective::scatterv:
      return {.input = Side::all, .rooted = true, .separate_blocks = true};
    case Collective::allgather:
      return {.output = Side::all};
    case Collective::allgatherv:
      return {.output = Side::all, .separate_blocks = true};
    case Collective::alltoall:
      return {.input = Side::all, .output = Side::all};
    case Collective::alltoallv:
    case Collective::alltoallw:
      return {.input = Side::all, .output = Side::all, .separate_blocks = true};
    case Collective::reduce_scatter:
      return {.input = Side::all, .reduces = true, .counts_differ = true};
    case Collective::reduce_scatter_block:
      return {.input = Side::all, .reduces = true};
    case Collective::scan:
      return {.reduces = true, .prefix = true};
    case Collective::exscan:
      return {.reduces = true, .prefix = true, .exclusive = true};
  }
  throw std::logic_error("no such collective");
}

constexpr auto all_traits = [] {
  std::array<Traits, collectives> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = traits_of(static_cast<Collective>(i));
  return all;
}();

// Whether the rank has this buffer; in place, the other one is used.
bool present(const Traits& of, const Problem& problem, Buffer buffer) {
  const Side side = buffer == Buffer::input ? of.input : of.output;
  if (side == Side::nothing) return false;
  // One buffer of a rooted collective exists only at the root.
  const bool output_is_roots = of.rooted && of.input == Side::own;
  const bool input_is_roots = of.rooted && of.output == Side::own && !output_is_roots;
  const bool roots_alone = buffer == Buffer::input ? input_is_roots : output_is_roots;
  return !roots_alone || problem.rank == problem.root;
}

// In place, a scatter leaves the root's block where it is; for all others the output holds the input.
bool in_place_in_input(const Traits& of) {
  return of.rooted && of.input == Side::all;
}

std::int64_t units(const Traits& of, const Problem& problem, Side side) {
  if (of.separate_blocks) return whole;
  if (side == Side::all) return problem.total();
  const Range own = problem.share(problem.rank);
  return own.end - own.begin;
}

}  // namespace

std::string_view name(Collective collective) {
  return names[static_cast<std::size_t>(collective)];
}

std::optional<Collective> collective_named(std::string_view text) {
  std::string plain;
  for (const char letter : text) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (plain.starts_with("mpi_")) plain.erase(0, 4);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == plain) return static_cast<Collective>(i);
  }
  return std::nullopt;
}

const Traits& traits(Collective collective) {
  return all_traits[static_cast<std::size_t>(collective)];
}

Unit unit_of(Collective collective) {
  return traits(collective).reduces ? Unit::elements : Unit::bytes;
}

Problem problem_of(Collective collective, Problem problem) {
  const Traits& of = traits(collective);
  problem.separate = of.separate_blocks;
  if (!of.rooted) problem.root = 0;
  if (of.rooted && problem.rank != problem.root) problem.in_place = false;
  problem.input = {.buffer = Buffer::input, .length = 0};
  problem.output = {.buffer = Buffer::output, .length = 0};
  // The data of one rank, unless there is a block for each.
  if (!of.in_blocks()) {
    if (of.input != Side::nothing) problem.input.length = problem.count;
    if (present(of, problem, Buffer::output)) problem.output.length = problem.count;
    if (problem.in_place || collective == Collective::bcast) problem.input = problem.output;
    return problem;
  }
  if (present(of, problem, Buffer::input)) problem.input.length = units(of, problem, of.input);
  if (present(of, problem, Buffer::output)) problem.output.length = units(of, problem, of.output);
  if (!problem.in_place) return problem;
  if (in_place_in_input(of)) {
    problem.output = problem.input_block(problem.rank);
  } else if (of.input == of.output) {
    problem.input = problem.output;
  } else if (of.output == Side::all) {
    problem.input = problem.output_block(problem.rank);
  } else {
    problem.input.buffer = Buffer::output;  // of a reduce_scatter: the result is at the front
  }
  return problem;
}

Problem problem_of(Collective collective, Problem problem, Rank rank) {
  problem.rank = rank;
  return problem_of(collective, problem);
}

std::vector<Meaning> meaning(Collective collective, const Problem& problem) {
  const Traits& of = traits(collective);
  if (!of.moves_data() || !present(of, problem, Buffer::output)) return {};
  if (of.reduces) {
    if (of.exclusive && problem.rank == 0) return {};
    const Rank last = of.exclusive ? problem.rank - 1 : problem.rank;
    const Region from = of.input == Side::all ? problem.input_block(problem.rank) : problem.input;
    return {{.output = problem.output, .reduced = true, .end = of.prefix ? last + 1 : problem.ranks, .from = from}};
  }
  // For moved data: `mine` in the source rank's buffers.
  const auto named_by = [&](Rank rank) { return problem_of(collective, problem, rank); };
  if (collective == Collective::bcast) {
    return {{.output = problem.output, .source = problem.root, .from = problem.output}};
  }
  if (of.output == Side::own) {
    if (problem.in_place) return {};
    const Region from = named_by(problem.root).input_block(problem.rank);
    return {{.output = problem.output, .source = problem.root, .from = from}};
  }
  std::vector<Meaning> blocks;
  for (Rank peer = 0; peer < problem.ranks; ++peer) {
    const Problem theirs = named_by(peer);
    const Region from = of.input == Side::all ? theirs.input_block(problem.rank) : theirs.input;
    blocks.push_back({.output = problem.output_block(peer), .source = peer, .from = from});
  }
  return blocks;
}

std::int32_t block_count(Collective collective, const Problem& problem, Buffer buffer) {
  const Traits& of = traits(collective);
  if (!present(of, problem, buffer)) return 0;
  const Buffer unused = in_place_in_input(of) ? Buffer::output : Buffer::input;
  if (problem.in_place && buffer == unused) return 0;
  const Side side = buffer == Buffer::input ? of.input : of.output;
  return of.separate_blocks && side == Side::all ? problem.ranks : 1;
}

std::int64_t block_units(Collective collective, const Problem& problem, const BlockSizes& sizes, Buffer buffer,
                         std::int32_t block) {
  const Traits& of = traits(collective);
  const Side side = buffer == Buffer::input ? of.input : of.output;
  if (!of.separate_blocks) {
    if (!of.in_blocks()) return problem.count;
    // In place, the output of a reduce_scatter holds the whole input.
    return units(of, problem, problem.in_place ? Side::all : side);
  }
  // Blocks are identified by sender and receiver; data sent to all has one size.
  const Rank peer = side == Side::all ? block : problem.rank;
  if (of.rooted) return of.input == Side::all ? sizes(problem.root, peer) : sizes(peer, problem.root);
  if (of.input == Side::own) return sizes(peer, 0);
  return buffer == Buffer::input ? sizes(problem.rank, peer) : sizes(peer, problem.rank);
}

bool given(Collective collective, const Problem& problem, Buffer buffer) {
  if (buffer == Buffer::input) return true;
  if (collective == Collective::bcast) return problem.rank == problem.root;
  return problem.in_place && !in_place_in_input(traits(collective));
}

}  // namespace quadrille
