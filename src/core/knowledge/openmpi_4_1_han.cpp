// Open MPI 4.1 with its component han, which runs collectives in two levels: inside nodes, and among one rank of each.
// It does so if it has the highest priority (--mca coll_han_priority 100). Inside nodes all are tuned's; among nodes
// those that are in flight together with others are libnbc's, the rest tuned's as well.

#include <algorithm>
#include <bit>
#include <utility>

#include "knowledge/library.hpp"
#include "knowledge/same.hpp"

namespace quadrille::knowledge {

extern const Library openmpi_4_1;  // NOLINT(readability-redundant-declaration): tidied with the file that has it

namespace {

// Bytes, by default of all collectives that are cut.
constexpr std::int64_t han_segment = 65536;

// What a part of the communicator calls, and how often.
struct Called {
  Collective collective;
  std::int64_t count;
  std::int64_t times = 1;
};

// The steps of a call in the order in which data takes them. None if one of them is not known.
class Steps {
 public:
  explicit Steps(const Case& whole) : whole_(whole) {}

  // By tuned.
  void add(By by, const Called& called) {
    if (called.times <= 0) return;
    const Case part = case_of(by, called);
    for (const Step& step : openmpi_4_1.choose(part).steps) add(by, called.times, step);
    complete_ = complete_ && !openmpi_4_1.choose(part).steps.empty();
  }

  // By libnbc, among nodes.
  void add_non_blocking(const Called& called) {
    if (called.times <= 0) return;
    const Case part = case_of(By::one_of_each_node, called);
    const Variant variant = part.collective == Collective::bcast ? ibcast(part) : ireduce(part);
    add(By::one_of_each_node, called.times, {part, variant});
  }

  std::vector<Step> take() { return complete_ ? std::move(steps_) : std::vector<Step>(); }

 private:
  Case case_of(By by, const Called& called) const {
    Case part = whole_;
    const bool in_node = by == By::each_node;
    part.collective = called.collective;
    part.in_place = false;
    part.ranks = in_node ? whole_.ranks_per_node : whole_.nodes;
    part.nodes = in_node ? 1 : whole_.nodes;
    part.ranks_per_node = in_node ? whole_.ranks_per_node : 1;
    part.count = part.largest = called.count;
    return part;
  }

  // Tuned's own parts have rank 0 of theirs as their root, which is that of the communicator where these occur.
  void add(By by, std::int64_t times, Step step) {
    complete_ = complete_ && step.variant;
    step.by = by;
    step.times = times;
    steps_.push_back(std::move(step));
  }

  static Variant ibcast(const Case& part) {
    return variant_named(Collective::bcast, part.ranks <= 4 ? "linear" : "exchanged_binomial");
  }

  // What its algorithm for operations that commute sends on other numbers of ranks than powers of two is not in the
  // catalogue.
  static Variant ireduce(const Case& part) {
    if (part.ranks > 2 && part.count >= std::bit_floor(static_cast<std::uint32_t>(part.ranks))) {
      return is_power_of_two(part.ranks) ? variant_named(Collective::reduce, "rabenseifner") : Variant{};
    }
    if (part.ranks > 4 || part.count_bytes() < 65536) return variant_named(Collective::reduce, "exchanged_binomial");
    Variant of_two = variant_named(Collective::reduce, "pipelined_chain");
    of_two.segment = 8192;
    return of_two;
  }

  Case whole_;
  std::vector<Step> steps_;
  bool complete_ = true;
};

struct Segments {
  std::int64_t count = 0;  // of each but the last
  std::int64_t last = 0;
  std::int64_t segments = 1;

  explicit Segments(const Case& asked) : count(asked.count), last(asked.count) {
    const std::int64_t unit = std::max<std::int64_t>(1, asked.unit_bytes);
    if (unit > han_segment || han_segment >= asked.count_bytes()) return;
    count = han_segment / unit + (han_segment % unit > unit / 2 ? 1 : 0);
    segments = (asked.count + count - 1) / count;
    last = asked.count - (segments - 1) * count;
  }
};

// The first segment goes among nodes by a blocking call.
void bcast(const Case& asked, Steps& steps) {
  const Segments cut(asked);
  steps.add(By::one_of_each_node, {Collective::bcast, cut.count});
  steps.add_non_blocking({Collective::bcast, cut.count, cut.segments - 2});
  steps.add_non_blocking({Collective::bcast, cut.last, cut.segments > 1 ? 1 : 0});
  steps.add(By::each_node, {Collective::bcast, cut.count, cut.segments - 1});
  steps.add(By::each_node, {Collective::bcast, cut.last});
}

void reduce(const Case& asked, Steps& steps) {
  const Segments cut(asked);
  steps.add(By::each_node, {Collective::reduce, cut.count, cut.segments - 1});
  steps.add(By::each_node, {Collective::reduce, cut.last});
  steps.add_non_blocking({Collective::reduce, cut.count, cut.segments - 1});
  steps.add_non_blocking({Collective::reduce, cut.last});
}

// The last segment is broadcast as if it were as long as the others, beyond the end of the caller's data.
void allreduce(const Case& asked, Steps& steps) {
  const Segments cut(asked);
  reduce(asked, steps);
  steps.add_non_blocking({Collective::bcast, cut.count, cut.segments});
  steps.add(By::each_node, {Collective::bcast, cut.count, cut.segments});
}

void add_steps(const Case& asked, Steps& steps) {
  switch (asked.collective) {
    case Collective::barrier:
      steps.add(By::each_node, {Collective::barrier, 0});
      steps.add(By::one_of_each_node, {Collective::barrier, 0});
      steps.add(By::each_node, {Collective::barrier, 0});
      return;
    case Collective::bcast:
      return bcast(asked, steps);
    case Collective::reduce:
      return reduce(asked, steps);
    case Collective::allreduce:
      return allreduce(asked, steps);
    case Collective::gather:
      steps.add(By::each_node, {Collective::gather, asked.count});
      steps.add(By::one_of_each_node, {Collective::gather, asked.count * asked.ranks_per_node});
      return;
    case Collective::scatter:
      steps.add(By::one_of_each_node, {Collective::scatter, asked.count * asked.ranks_per_node});
      steps.add(By::each_node, {Collective::scatter, asked.count});
      return;
    default:  // allgather
      steps.add(By::each_node, {Collective::gather, asked.count});
      steps.add(By::one_of_each_node, {Collective::allgather, asked.count * asked.ranks_per_node});
      steps.add(By::each_node, {Collective::bcast, asked.count * asked.ranks});
  }
}

// Whether han leaves the call to tuned: within one node, with a rank a node, and what it has no algorithm for.
bool leaves(const Case& asked) {
  if (asked.nodes <= 1 || asked.ranks_per_node <= 1) return true;
  const bool is_even = asked.nodes * asked.ranks_per_node == asked.ranks;
  switch (asked.collective) {
    case Collective::barrier:
      return false;
    case Collective::allreduce:
      return !asked.commutative;
    case Collective::reduce:
      return !asked.commutative || !is_even;
    case Collective::bcast:
    case Collective::gather:
    case Collective::scatter:
    case Collective::allgather:
      return !is_even;
    default:
      return true;
  }
}

Choice choose_by_han(const Case& call);

// What tuned makes of several collectives calls those of the communicator, some of which are han's; but for an
// allreduce in which it calls its own.
Choice choose_by_tuned(const Case& call) {
  Choice choice = openmpi_4_1.choose(call);
  const bool by_itself = call.collective == Collective::allreduce && choice.name == "basic_linear";
  if (choice.steps.size() < 2 || by_itself) return choice;
  std::vector<Step> steps;
  for (const Step& part : std::exchange(choice.steps, {})) {
    const Choice of_part = choose_by_han(part.asked);
    if (of_part.steps.empty()) return choice;
    steps.insert(steps.end(), of_part.steps.begin(), of_part.steps.end());
  }
  choice.steps = std::move(steps);
  return choice;
}

Choice choose_by_han(const Case& call) {
  if (leaves(call)) return choose_by_tuned(call);
  Case asked = call;
  if (!traits(asked.collective).rooted) asked.root = 0;
  // On nodes with different numbers of ranks tuned chooses differently, too.
  if (asked.nodes * asked.ranks_per_node != asked.ranks) return {.name = "han", .steps = {}};
  Steps steps(asked);
  add_steps(asked, steps);
  return {.name = "han", .steps = steps.take()};
}

}  // namespace

extern const Library openmpi_4_1_han = {
    .name = "Open MPI 4.1, han", .policy = "openmpi-4.1-han", .mpi = "", .choose = choose_by_han, .knows_nodes = true};

}  // namespace quadrille::knowledge
