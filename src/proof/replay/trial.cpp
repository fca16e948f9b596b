#include "replay/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <tuple>

#include "topology/topology.hpp"

namespace quadrille::replay {

namespace {

constexpr std::byte untouched{0xA5};

// Elements of a reduction are contiguous pairs of 32-bit integers when packed.
struct Pair {
  std::uint32_t a;
  std::uint32_t b;
};

Pair combine(const Pair& left, const Pair& right, bool commutative) {
  if (commutative) return {left.a + right.a, left.b + right.b};
  return {left.a * right.a, left.a * right.b + left.b};  // composition of x -> a x + b: associative, not commutative
}

Layout pair_layout(Types types) {
  if (types == Types::contiguous) return Layout::contiguous(2, Layout::basic(4));
  const std::array fields = {Layout::Field{0, 1, Layout::basic(4)}, Layout::Field{8, 1, Layout::basic(4)}};
  return Layout::structure(fields).resized(-4, 20);
}

// Describes so many bytes in one of three ways; returns the layout of an element.
Layout byte_layout(Types types, std::int64_t bytes, std::int32_t variety) {
  if (types == Types::gaps && variety % 3 == 0) return Layout::basic(1).resized(-1, 3);
  if (types == Types::gaps && variety % 3 == 1 && bytes > 0) return Layout::strided(bytes, 1, 2, Layout::basic(1));
  return Layout::basic(1);
}

// A block that owns its memory.
class OwnedBlock {
 public:
  OwnedBlock(Layout layout, std::int64_t bytes)
      : layout_(std::move(layout)), count_(bytes / std::max<std::int64_t>(layout_.size(), 1)) {
    const auto [first, last] = layout_.span(count_);
    first_ = first;
    memory_.assign(static_cast<std::size_t>(last - first), untouched);
  }

  Typed typed() { return {memory_.data() - first_, count_, &layout_}; }
  void fill(const std::vector<std::byte>& packed, std::int64_t from = 0) {
    unpack(layout_, memory_.data() - first_, count_, from, from + static_cast<std::int64_t>(packed.size()),
           packed.data());
  }
  const std::vector<std::byte>& memory() const { return memory_; }

 private:
  Layout layout_;
  std::int64_t count_;
  std::int64_t first_ = 0;
  std::vector<std::byte> memory_;
};

// A fast generator (SplitMix64), since trials generate much data.
class Mixer {
 public:
  explicit Mixer(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

class TrialRun {
 public:
  explicit TrialRun(const Trial& trial) : trial_(trial), pair_(pair_layout(trial.types)) {}

  std::string run();

 private:
  using Packed = std::vector<std::byte>;
  // The data of one rank in one round.
  struct Round {
    Problem problem;
    std::vector<OwnedBlock> input, output, scratch;
    std::vector<OwnedBlock> expected_input, expected_output;
  };
  struct RankState {
    std::vector<Round> rounds;
    std::vector<OwnedBlock> slots, boxes, staging;
  };

  bool reduces() const { return traits(trial_.collective).reduces; }
  std::int64_t unit_bytes() const { return reduces() ? pair_.size() : 1; }
  Layout plain_layout() const { return reduces() ? pair_ : Layout::basic(1); }
  Problem problem_at(std::size_t round, Rank rank) const {
    return problem_of(trial_.collective, trial_.rounds[round], rank);
  }
  Packed contents(std::size_t round, Rank rank, Buffer buffer, std::int32_t block) const;
  const Packed& expected(std::size_t round, const Problem& problem, const Meaning& meaning);
  Packed operand(std::size_t round, Rank rank, const Meaning& meaning) const;
  Packed fold(std::size_t round, const Problem& problem, const Meaning& meaning) const;
  Round make_round(std::size_t round, Rank rank);
  std::unique_ptr<Plan> make_plan(RankState& state);
  void reduce(bool commutative, const void* left, void* right, std::int64_t count) const;

  const Trial& trial_;
  Layout pair_;
  std::vector<std::unique_ptr<RankState>> ranks_;
  std::map<std::tuple<std::size_t, Rank, Rank, std::int32_t, std::int64_t, std::int64_t>, Packed> expected_;
};

// The packed contents of a caller's block: different in every round, on every rank and at every offset.
TrialRun::Packed TrialRun::contents(std::size_t round, Rank rank, Buffer buffer, std::int32_t block) const {
  const std::int64_t units = block_units(trial_.collective, problem_at(round, rank), trial_.sizes, buffer, block);
  Packed packed(static_cast<std::size_t>(units * unit_bytes()));
  Mixer mixer(trial_.options.seed + static_cast<std::uint64_t>(rank) * 7919 +
              static_cast<std::uint64_t>(block) * 104729 + round * 1299709);
  for (std::byte& byte : packed) byte = static_cast<std::byte>(mixer() & 0xFF);
  return packed;
}

// The range of one rank's data that a meaning refers to.
TrialRun::Packed TrialRun::operand(std::size_t round, Rank rank, const Meaning& meaning) const {
  Packed all = contents(round, rank, meaning.from.buffer, meaning.from.block);
  if (meaning.from.length == whole) return all;
  const auto begin = all.begin() + meaning.from.offset * unit_bytes();
  return {begin, begin + meaning.from.length * unit_bytes()};
}

// A sequential reduction in rank order.
TrialRun::Packed TrialRun::fold(std::size_t round, const Problem& problem, const Meaning& meaning) const {
  Packed result = operand(round, 0, meaning);
  for (Rank rank = 1; rank < meaning.end; ++rank) {
    const Packed next = operand(round, rank, meaning);
    for (std::size_t at = 0; at < result.size(); at += sizeof(Pair)) {
      Pair left{}, right{};
      std::memcpy(&left, result.data() + at, sizeof(Pair));
      std::memcpy(&right, next.data() + at, sizeof(Pair));
      left = combine(left, right, problem.commutative);
      std::memcpy(result.data() + at, &left, sizeof(Pair));
    }
  }
  return result;
}

const TrialRun::Packed& TrialRun::expected(std::size_t round, const Problem& problem, const Meaning& meaning) {
  const Region& from = meaning.from;
  const auto [place, fresh] =
      expected_.try_emplace({round, meaning.source, meaning.end, from.block, from.offset, from.length});
  if (fresh) place->second = meaning.reduced ? fold(round, problem, meaning) : operand(round, meaning.source, meaning);
  return place->second;
}

TrialRun::Round TrialRun::make_round(std::size_t round, Rank rank) {
  Round made;
  made.problem = problem_at(round, rank);
  for (Buffer buffer : {Buffer::input, Buffer::output}) {
    for (std::int32_t block = 0; block < block_count(trial_.collective, made.problem, buffer); ++block) {
      const std::int64_t bytes =
          block_units(trial_.collective, made.problem, trial_.sizes, buffer, block) * unit_bytes();
      OwnedBlock owned(reduces() ? pair_ : byte_layout(trial_.types, bytes, rank + block), bytes);
      if (given(trial_.collective, made.problem, buffer)) owned.fill(contents(round, rank, buffer, block));
      (buffer == Buffer::input ? made.input : made.output).push_back(std::move(owned));
    }
  }
  made.expected_input = made.input;
  made.expected_output = made.output;
  for (const Meaning& one : meaning(trial_.collective, made.problem)) {
    made.expected_output[static_cast<std::size_t>(one.output.block)].fill(expected(round, made.problem, one),
                                                                          one.output.offset * unit_bytes());
  }
  return made;
}

void TrialRun::reduce(bool commutative, const void* left, void* right, std::int64_t count) const {
  const std::int64_t second = trial_.types == Types::contiguous ? 4 : 8;
  for (std::int64_t i = 0; i < count; ++i) {
    Pair a{}, b{};
    const auto* left_at = static_cast<const std::byte*>(left) + i * pair_.extent();
    auto* right_at = static_cast<std::byte*>(right) + i * pair_.extent();
    std::memcpy(&a.a, left_at, 4);
    std::memcpy(&a.b, left_at + second, 4);
    std::memcpy(&b.a, right_at, 4);
    std::memcpy(&b.b, right_at + second, 4);
    b = combine(a, b, commutative);
    std::memcpy(right_at, &b.a, 4);
    std::memcpy(right_at + second, &b.b, 4);
  }
}

std::unique_ptr<Plan> TrialRun::make_plan(RankState& state) {
  std::vector<Phase> phases;
  std::vector<std::int64_t> slots, boxes, staging;
  const auto widen = [](std::vector<std::int64_t>& all, const std::vector<std::int64_t>& by) {
    all.resize(std::max(all.size(), by.size()));
    for (std::size_t i = 0; i < by.size(); ++i) all[i] = std::max(all[i], by[i]);
  };
  for (Round& round : state.rounds) {
    phases.push_back(
        {.program = std::make_shared<Program>(trial_.build(round.problem)), .protocol = {}, .binding = {}});
    const Schedule& schedule = phases.back().program->schedule();
    widen(slots, schedule.slots);
    widen(boxes, schedule.boxes);
    widen(staging, schedule.staging);
    for (std::int64_t units : schedule.scratch) round.scratch.emplace_back(plain_layout(), units * unit_bytes());
  }
  for (std::int64_t units : slots) state.slots.emplace_back(plain_layout(), units * unit_bytes());
  for (std::int64_t units : boxes) state.boxes.emplace_back(plain_layout(), units * unit_bytes());
  for (std::int64_t units : staging) {
    state.staging.emplace_back(plain_layout(), staging_places * units * unit_bytes());
  }
  for (std::size_t i = 0; i < phases.size(); ++i) {
    Binding& binding = phases[i].binding;
    Round& round = state.rounds[i];
    binding.unit = unit_of(trial_.collective);
    for (OwnedBlock& block : round.input) binding.input.push_back(block.typed());
    for (OwnedBlock& block : round.output) binding.output.push_back(block.typed());
    for (OwnedBlock& block : round.scratch) binding.scratch.push_back(block.typed());
    for (OwnedBlock& block : state.slots) binding.slots.push_back(block.typed());
    for (OwnedBlock& block : state.boxes) binding.boxes.push_back(block.typed());
    for (OwnedBlock& block : state.staging) binding.staging.push_back(block.typed());
    binding.reduce = [this, commutative = round.problem.commutative](const void* left, void* right,
                                                                     std::int64_t count) {
      reduce(commutative, left, right, count);
    };
  }
  return std::make_unique<FixedPlan>(std::move(phases));
}

std::string TrialRun::run() {
  std::vector<std::unique_ptr<Plan>> plans;
  for (Rank rank = 0; rank < trial_.rounds.front().ranks; ++rank) {
    ranks_.push_back(std::make_unique<RankState>());
    for (std::size_t round = 0; round < trial_.rounds.size(); ++round) {
      ranks_.back()->rounds.push_back(make_round(round, rank));
    }
    plans.push_back(make_plan(*ranks_.back()));
  }
  try {
    Options options = trial_.options;
    for (const Problem& round : trial_.rounds) {
      const Topology* topology = round.topology;
      if (!topology || options.share_memory) continue;
      options.share_memory = [topology](Rank one, Rank other) { return topology->same_node(one, other); };
    }
    const Outcome outcome = replay::run(std::move(plans), options);
    if (traits(trial_.collective).synchronises && outcome.overtaken) return "a rank ended before another had begun";
  } catch (const std::exception& error) {
    return error.what();
  }
  const auto differ = [](const std::vector<OwnedBlock>& a, const std::vector<OwnedBlock>& b) {
    return !std::equal(a.begin(), a.end(), b.begin(), b.end(),
                       [](const OwnedBlock& x, const OwnedBlock& y) { return x.memory() == y.memory(); });
  };
  for (const auto& state : ranks_) {
    for (const Round& round : state->rounds) {
      if (differ(round.output, round.expected_output)) return fmt::format("rank {}: wrong output", round.problem.rank);
      if (differ(round.input, round.expected_input))
        return fmt::format("rank {}: the input was modified", round.problem.rank);
    }
  }
  return {};
}

}  // namespace

Trial trial_of(const Algorithm& algorithm, const Problem& problem, const BlockSizes& sizes) {
  Trial trial;
  trial.collective = algorithm.collective;
  trial.build = [&algorithm](const Problem& own) { return build(algorithm, own); };
  trial.rounds = {problem};
  trial.sizes = sizes;
  return trial;
}

std::string run(const Trial& trial) {
  return TrialRun(trial).run();
}

}  // namespace quadrille::replay
