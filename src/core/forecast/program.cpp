#include "forecast/program.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace quadrille::forecast {

namespace {

Collective with_equal_blocks(Collective collective) {
  switch (collective) {
    case Collective::allgatherv:
      return Collective::allgather;
    case Collective::gatherv:
      return Collective::gather;
    case Collective::scatterv:
      return Collective::scatter;
    case Collective::alltoallv:
    case Collective::alltoallw:
      return Collective::alltoall;
    default:
      return collective;
  }
}

// As blocking calls, with sizes that are known: rounded ones in the middle of what they stand for.
trace::Kind as_known(trace::Kind kind, const trace::Calls& calls, Rank ranks) {
  kind.form = trace::Form::blocking;
  if (kind.rounded) kind.count += kind.count / 8;
  kind.rounded = false;
  const Collective equal = with_equal_blocks(kind.collective);
  if (equal == kind.collective) return kind;
  const std::int64_t all = calls.bytes / std::max<std::int64_t>(1, calls.calls);
  if (kind.collective == Collective::allgatherv) {
    kind.count /= ranks;
  } else if (equal == Collective::alltoall) {
    kind.count = all / ranks / ranks;
  } else if (ranks > 1) {
    // Of the others: the root may have passed in its own, or all, or nothing.
    kind.count = trace::sum_of(calls.blocks).bytes / std::max<std::int64_t>(1, calls.calls) / (ranks - 1);
  }
  kind.collective = equal;
  return kind;
}

// Where the ranks of a communicator are, if those of the program lie in blocks.
Topology part_of(const std::vector<Rank>& world, const Place& place) {
  std::vector<std::int32_t> nodes;
  std::vector<std::int32_t> racks;
  for (const Rank rank : world) {
    nodes.push_back(rank / place.per_node);
    racks.push_back(place.rack_nodes > 0 ? nodes.back() / place.rack_nodes : 0);
  }
  const auto ranks = static_cast<Rank>(world.size());
  if (place.rack_nodes > 0) return {ranks, {racks, nodes}};
  return {ranks, {nodes}};
}

// How they lie, whichever nodes these are.
std::vector<std::int32_t> shape(const std::vector<Rank>& world, const Place& place) {
  std::vector<std::int32_t> shape;
  std::map<std::int32_t, std::int32_t> nodes;
  std::map<std::int32_t, std::int32_t> racks;
  const auto number = [](std::map<std::int32_t, std::int32_t>& known, std::int32_t one) {
    return known.try_emplace(one, static_cast<std::int32_t>(known.size())).first->second;
  };
  for (const Rank rank : world) {
    const std::int32_t node = rank / place.per_node;
    shape.push_back(number(nodes, node));
    if (place.rack_nodes > 0) shape.push_back(number(racks, node / place.rack_nodes));
  }
  return shape;
}

class Program {
 public:
  Program(const trace::Trace& trace, const Settings& settings, const Options& options)
      : trace_(trace), settings_(settings), options_(options) {}

  TracedProgram run() {
    for (const auto& [communicator, kinds] : trace_.collectives) {
      const std::vector<Rank> world = communicator.ranks.list();
      for (const auto& [kind, calls] : kinds) {
        if (const char* const why = unknown(communicator, kind)) {
          all_.omitted[why] += calls.calls;
        } else {
          add(world, kind, calls);
        }
      }
    }
    for (TracedCalls& one : all_.calls) sum(one);
    std::stable_sort(all_.calls.begin(), all_.calls.end(),
                     [](const TracedCalls& a, const TracedCalls& b) { return a.traced > b.traced; });
    return std::move(all_);
  }

 private:
  static const char* unknown(const trace::Communicator& communicator, const trace::Kind& kind) {
    if (communicator.inter()) return "intercommunicators";
    if (communicator.ranks.empty()) return "communicators that were not told apart";
    if (kind.neighbours) return "neighbourhood collectives";
    return communicator.ranks.size() < 2 ? "communicators of one rank" : nullptr;
  }

  void add(const std::vector<Rank>& world, const trace::Kind& kind, const trace::Calls& calls) {
    const auto ranks = static_cast<Rank>(world.size());
    const trace::Kind known = as_known(kind, calls, ranks);
    const auto [found, is_new] = places_.try_emplace({known, shape(world, options_.place)}, all_.calls.size());
    if (is_new) {
      all_.calls.push_back({.asked = known.asked(ranks), .equal_blocks = known.collective != kind.collective});
      all_.calls.back().point = estimate(part_of(world, options_.place), all_.calls.back().asked, settings_, options_);
    }
    TracedCalls& one = all_.calls[found->second];
    one.calls += calls.calls;
    one.rank_calls += static_cast<double>(calls.calls) * ranks / trace_.ranks;
    one.traced += calls.seconds / trace_.ranks;
  }

  void sum(const TracedCalls& one) {
    all_.traced += one.traced;
    all_.fastest += one.rank_calls * one.point.algorithms.front().time.seconds;
    for (const PolicyEstimate& policy : one.point.policies) {
      TracedProgram::Total& total = all_.policies[policy.policy];
      if (policy.time) {
        total.seconds += one.rank_calls * policy.time->seconds;
      } else {
        total.unknown += one.calls;
      }
    }
  }

  const trace::Trace& trace_;
  const Settings& settings_;
  const Options& options_;
  TracedProgram all_;
  std::map<std::pair<trace::Kind, std::vector<std::int32_t>>, std::size_t> places_;
};

}  // namespace

TracedProgram estimate(const trace::Trace& trace, const Settings& settings, const Options& options) {
  if (trace.ranks < 1) throw std::invalid_argument("the trace has no ranks");
  return Program(trace, settings, options).run();
}

}  // namespace quadrille::forecast
