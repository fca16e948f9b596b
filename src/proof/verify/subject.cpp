#include "verify/subject.hpp"

#include <algorithm>
#include <stdexcept>

#include "schedule/staging.hpp"
#include "topology/topology.hpp"

namespace quadrille::verify {

Subject subject_of(const Algorithm& algorithm, const Problem& problem, const BlockSizes& sizes) {
  const auto by_algorithm = [&](const Problem& own) { return build(algorithm, own); };
  return subject_of(algorithm.collective, by_algorithm, problem, sizes, scratch_units(algorithm, problem));
}

Subject subject_of(Collective collective, const Build& build, const Problem& problem, const BlockSizes& sizes,
                   std::int64_t scratch_limit) {
  Subject subject{all_ranks(collective, build, problem, sizes)};
  subject.commutative = problem.commutative;
  subject.fixed_order = problem.fixed_order;
  subject.synchronises = traits(collective).synchronises;
  subject.scratch_limit = scratch_limit;
  subject.given = [collective, problem](Rank rank, Buffer buffer, std::int32_t) {
    return given(collective, problem_of(collective, problem, rank), buffer);
  };
  const Topology* topology = problem.topology;
  for (Rank rank = 0; rank < problem.ranks; ++rank) {
    if (topology) subject.nodes.push_back(topology->domain_number(topology->levels() - 1, rank));
    subject.meanings.push_back(meaning(collective, problem_of(collective, problem, rank)));
  }
  return subject;
}

namespace {

// Blocks that both have.
void widen(std::vector<std::int64_t>& blocks, const std::vector<std::int64_t>& by) {
  blocks.resize(std::max(blocks.size(), by.size()), 0);
  for (std::size_t i = 0; i < by.size(); ++i) blocks[i] = std::max(blocks[i], by[i]);
}

// What has been counted before is no longer 0.
void count_on(Operation& operation, const Schedule& earlier, const Schedule& of, const StagingRuns& before) {
  if (!counts(operation.kind) && !awaits(operation.kind)) return;
  const Board on = board(operation.kind);
  const bool staged = on == Board::notice && of.tells_of_staging(operation.counter);
  operation.value += staged ? before.of_notice(of, operation.counter, counts(operation.kind)) : earlier.span(on);
}

}  // namespace

Schedule in_a_row(const Schedule& earlier, const Schedule& later, std::int32_t block_shift) {
  Schedule both = earlier;
  StagingRuns before;
  before.add(earlier);
  const auto operations = static_cast<std::int32_t>(both.operations.size());
  const auto regions = static_cast<std::int32_t>(both.regions.size());
  const auto loops = static_cast<std::int32_t>(both.loops.size());
  const auto scratch = static_cast<std::int32_t>(both.scratch.size());
  const auto shifted = [&](Region region) {
    if (region.buffer == Buffer::scratch) region.block += scratch;
    if (region.buffer == Buffer::staging) region.offset += before.place(later, region.block, region.owner != self);
    if (region.buffer == Buffer::input || region.buffer == Buffer::output) region.block += block_shift;
    return region;
  };
  // A join that depends on everything before, and that everything after depends on.
  Operation join;
  join.first_region = regions;
  join.first_dependency = static_cast<std::int32_t>(both.dependencies.size());
  join.dependencies = operations;
  for (std::int32_t id = 0; id < operations; ++id) both.dependencies.push_back({id, 0, false});
  both.operations.push_back(join);

  for (const Region& region : later.regions) both.regions.push_back(shifted(region));
  for (Loop loop : later.loops) {
    loop.first += operations + 1;
    loop.last += operations + 1;
    loop.over = shifted(loop.over);
    both.loops.push_back(loop);
  }
  for (Operation operation : later.operations) {
    const auto dependencies = later.dependencies_of(operation);
    operation.first_region += regions;
    operation.first_dependency = static_cast<std::int32_t>(both.dependencies.size());
    operation.dependencies += 1;
    count_on(operation, earlier, later, before);
    if (operation.loop >= 0) operation.loop += loops;
    both.dependencies.push_back({operations, 0, false});
    for (Dependency dependency : dependencies) {
      dependency.operation += operations + 1;
      both.dependencies.push_back(dependency);
    }
    both.operations.push_back(operation);
  }
  both.scratch.insert(both.scratch.end(), later.scratch.begin(), later.scratch.end());
  if (both.offload.empty()) both.offload = later.offload;
  both.channels = std::max(earlier.channels, later.channels);
  both.counters = std::max(earlier.counters, later.counters);
  both.counter_span = earlier.counter_span + later.counter_span;
  both.notices = std::max(earlier.notices, later.notices);
  both.notice_span = earlier.notice_span + later.notice_span;
  widen(both.slots, later.slots);
  widen(both.boxes, later.boxes);
  widen(both.staging, later.staging);
  return both;
}

Subject in_a_row(const std::vector<Subject>& subjects) {
  // Caller's blocks are few; those of a round are found by their number.
  constexpr std::int32_t blocks_a_round = 1 << 20;
  Subject all = subjects.front();
  for (std::size_t round = 1; round < subjects.size(); ++round) {
    const Subject& one = subjects[round];
    const bool alike = one.commutative == all.commutative && one.fixed_order == all.fixed_order;
    if (!alike) throw std::invalid_argument("in_a_row: operations in different orders");
    if (all.nodes.empty()) all.nodes = one.nodes;
    const bool elsewhere = !one.nodes.empty() && one.nodes != all.nodes;
    if (elsewhere) throw std::invalid_argument("in_a_row: ranks on different nodes");
    all.synchronises |= one.synchronises;
    const auto shift = static_cast<std::int32_t>(round) * blocks_a_round;
    all.scratch_limit += one.scratch_limit;
    for (std::size_t rank = 0; rank < all.schedules.size(); ++rank) {
      all.schedules[rank] = in_a_row(all.schedules[rank], one.schedules[rank], shift);
      for (Meaning meaning : one.meanings[rank]) {
        meaning.output.block += shift;
        meaning.from.block += shift;
        all.meanings[rank].push_back(meaning);
      }
    }
  }
  std::vector<decltype(all.units)> units;
  std::vector<decltype(all.given)> given;
  for (const Subject& one : subjects) {
    units.push_back(one.units);
    given.push_back(one.given);
  }
  all.units = [units](Rank rank, Buffer buffer, std::int32_t block) {
    return units[static_cast<std::size_t>(block / blocks_a_round)](rank, buffer, block % blocks_a_round);
  };
  all.given = [given](Rank rank, Buffer buffer, std::int32_t block) {
    return given[static_cast<std::size_t>(block / blocks_a_round)](rank, buffer, block % blocks_a_round);
  };
  return all;
}

}  // namespace quadrille::verify
