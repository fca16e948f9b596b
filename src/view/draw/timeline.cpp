#include "draw/timeline.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "run/program.hpp"

namespace quadrille::draw {

namespace {

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

// Adds the transfer of an instance, if any. Messages are added by their receiver; notices only if they are `signals`.
void add_transfers(Timeline& timeline, const verify::Unrolled& rank, std::int32_t instance, std::int64_t step,
                   const std::vector<Payload>& pieces, const Payload& payload, bool signals) {
  const Rank own = rank.schedule().rank;
  const Operation& operation = rank.operation(instance);
  const auto add = [&](TransferKind kind, Rank from, Rank to) {
    timeline.transfers.push_back({kind, from, to, step, payload.units, payload, pieces, false});
  };
  if (operation.kind == Kind::put || operation.kind == Kind::deposit) {
    return add(TransferKind::put, own, operation.peer);
  }
  if (operation.kind == Kind::notify && signals) return add(TransferKind::put, own, operation.peer);
  if (operation.kind == Kind::get) return add(TransferKind::get, operation.peer, own);
  if (operation.kind == Kind::offload) {
    // To everyone from everyone, whatever the MPI does.
    for (Rank other : rank.schedule().offload) {
      if (other != own) add(TransferKind::message, other, own);
    }
    return;
  }
  if (is_message(operation.kind)) {
    const bool sent = operation.regions == 0 || payload.units > 0;
    if (operation.kind == Kind::receive && sent) add(TransferKind::message, operation.peer, own);
    return;
  }
  const auto regions = rank.schedule().regions_of(operation);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (regions[i].owner == self) continue;
    const bool written = writes(operation.kind, static_cast<int>(i));
    add(written ? TransferKind::write : TransferKind::read, written ? own : regions[i].owner,
        written ? regions[i].owner : own);
  }
}

// The rank whose output an instance writes; self: none.
Rank writes_output_of(const verify::Unrolled& rank, std::int32_t instance) {
  const Operation& operation = rank.operation(instance);
  const auto regions = rank.schedule().regions_of(operation);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (regions[i].buffer != Buffer::output || !writes(operation.kind, static_cast<int>(i))) continue;
    return regions[i].owner == self ? rank.schedule().rank : regions[i].owner;
  }
  return self;
}

// For signals without data, as in a barrier: a rank has its result when it has heard from every rank, directly or not.
std::vector<std::int64_t> heard_all_from(const Timeline& timeline) {
  const std::uint64_t all_ranks = ~std::uint64_t{0} >> (64 - timeline.ranks);
  std::vector<std::int64_t> from(at(timeline.ranks), -1);
  const auto heard = heard_of(timeline);
  for (std::int64_t step = timeline.steps; step > 0; --step) {
    for (Rank rank = 0; rank < timeline.ranks; ++rank) {
      if (heard[static_cast<std::size_t>(step)][at(rank)] == all_ranks) from[at(rank)] = step;
    }
  }
  return from;
}

// In a ring, the arrow from the last rank to the first wraps around the edge. It is a ring if at least half of the
// ranks send over the same distance without wrapping: the last child of a root is just far away.
void find_rings(Timeline& timeline) {
  const auto is_far = [&](const Transfer& transfer) {
    return 2 * std::abs(transfer.to - transfer.from) > timeline.ranks;
  };
  const auto distance = [&](const Transfer& transfer) {
    return (transfer.to - transfer.from + timeline.ranks) % timeline.ranks;
  };
  std::map<Rank, std::set<Rank>> senders;  // by distance
  for (const Transfer& transfer : timeline.transfers) {
    if (!is_far(transfer)) senders[distance(transfer)].insert(transfer.from);
  }
  for (Transfer& transfer : timeline.transfers) {
    const auto others = static_cast<Rank>(senders[distance(transfer)].size());
    transfer.around = is_far(transfer) && 2 * others >= timeline.ranks - 1;
    timeline.around |= transfer.around;
  }
}

}  // namespace

std::vector<std::vector<std::uint64_t>> heard_of(const Timeline& timeline) {
  std::vector<std::vector<std::uint64_t>> heard(1);
  for (Rank rank = 0; rank < timeline.ranks; ++rank) heard.front().push_back(std::uint64_t{1} << rank);
  for (std::int64_t step = 1; step <= timeline.steps; ++step) {
    const std::vector<std::uint64_t> before = heard.back();
    heard.push_back(before);
    for (const Transfer& transfer : timeline.transfers) {
      if (transfer.step == step) heard.back()[at(transfer.to)] |= before[at(transfer.from)];
    }
  }
  return heard;
}

Timeline timeline_of(const verify::Subject& subject, const verify::Execution& execution,
                     const verify::Expressions& expressions) {
  Timeline timeline;
  timeline.ranks = static_cast<Rank>(execution.ranks.size());
  timeline.steps = execution.steps;
  timeline.complete = execution.fault.empty();
  const bool signals = verify::only_notifies(execution);
  for (const auto& meanings : subject.meanings) timeline.holds_from.push_back(meanings.empty() ? -1 : 0);
  for (Rank id = 0; id < timeline.ranks; ++id) {
    const verify::Unrolled& rank = execution.ranks[at(id)];
    timeline.unit = rank.schedule().unit == Unit::bytes ? "bytes" : "elements";
    for (const Meaning& meaning : subject.meanings[at(id)]) timeline.reduces |= meaning.reduced;
    for (std::int32_t instance = 0; instance < rank.size(); ++instance) {
      const verify::Event& event = execution.events[at(id)][at(instance)];
      if (event.completed < 0) continue;
      const std::int64_t step = event.done_step;
      const std::vector<verify::Held>& carried = execution.carried[at(id)][at(instance)];
      add_transfers(timeline, rank, instance, step, pieces_of(carried, expressions, timeline.ranks),
                    payload_of(carried, expressions, timeline.ranks), signals);
      if (rank.operation(instance).kind == Kind::reduce) timeline.folds.push_back({id, step});
      const Rank written = writes_output_of(rank, instance);
      if (written == self || subject.meanings[at(written)].empty()) continue;
      std::int64_t& holds_from = timeline.holds_from[at(written)];
      holds_from = std::max(holds_from, step);
    }
  }
  std::sort(timeline.folds.begin(), timeline.folds.end());
  timeline.folds.erase(std::unique(timeline.folds.begin(), timeline.folds.end()), timeline.folds.end());
  const bool only_signals =
      !timeline.transfers.empty() && std::all_of(timeline.transfers.begin(), timeline.transfers.end(),
                                                 [](const Transfer& one) { return one.units == 0; });
  if (only_signals) timeline.holds_from = heard_all_from(timeline);
  find_rings(timeline);
  if (!timeline.complete) std::fill(timeline.holds_from.begin(), timeline.holds_from.end(), -1);
  return timeline;
}

}  // namespace quadrille::draw
