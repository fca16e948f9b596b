#include "verify/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "schedule/hazards.hpp"
#include "schedule/index.hpp"
#include "verify/before.hpp"
#include "verify/happens_before.hpp"
#include "verify/rank_set.hpp"

namespace quadrille::verify {

namespace {

// The range of a region in an iteration, limited to its block.
Range covered(const Subject& subject, const Execution& execution, Rank rank, const Region& region,
              std::int64_t iteration) {
  Range range = range_at(region, iteration);
  const bool callers = region.buffer == Buffer::input || region.buffer == Buffer::output;
  if (!callers) return range;
  if (region.owner != self) rank = region.owner;
  const auto* block = execution.memory[static_cast<std::size_t>(rank)].find(region.buffer, region.block);
  range.end = std::min(range.end, block ? block->units : subject.units(rank, region.buffer, region.block));
  return range;
}

template <class Visit>
void for_each_access(const Subject& subject, const Execution& execution, Rank id, std::int32_t instance,
                     Visit&& visit) {
  const Unrolled& rank = execution.ranks[static_cast<std::size_t>(id)];
  const Operation& operation = rank.operation(instance);
  const auto regions = rank.schedule().regions_of(operation);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    visit(regions[i], covered(subject, execution, id, regions[i], rank.token(instance).iteration),
          writes(operation.kind, static_cast<int>(i)));
  }
}

bool carries_data(const Subject& subject, const Execution& execution, Rank id, std::int32_t instance) {
  bool any = execution.ranks[static_cast<std::size_t>(id)].operation(instance).regions == 0;
  for_each_access(subject, execution, id, instance,
                  [&](const Region&, const Range& range, bool) { any |= !range.empty(); });
  return any;
}

// Memory that others access as well, and that is checked across ranks alone; see also exposed.
bool shared(const Region& region) {
  return region.buffer == Buffer::slot || region.buffer == Buffer::box || region.buffer == Buffer::staging ||
         region.owner != self;
}

// Output in a window, which others may access.
bool exposed(const Schedule& schedule, const Region& region) {
  return schedule.one_sided() && region.buffer == Buffer::output;
}

std::string_view in_words(Buffer shared) {
  if (shared == Buffer::output) return "output in a window";
  return shared == Buffer::staging ? "staging in a window" : "a slot or box";
}

}  // namespace

std::string race_on_own_memory(const Subject& subject, const Execution& execution) {
  std::string fault;
  Hazards hazards;
  for (Rank id = 0; id < static_cast<Rank>(execution.ranks.size()) && fault.empty(); ++id) {
    const Unrolled& rank = execution.ranks[static_cast<std::size_t>(id)];
    hazards.clear();
    for (std::int32_t instance = 0; instance < rank.size() && fault.empty(); ++instance) {
      for_each_access(subject, execution, id, instance, [&](const Region& region, const Range& range, bool write) {
        if (shared(region)) return;
        hazards.access(region, range, write, instance, false, [&](std::int32_t earlier) {
          if (earlier == instance || !fault.empty()) return;
          const std::int32_t end = rank.operation(earlier).kind == Kind::put ? rank.flush_of(earlier) : earlier;
          if (end >= 0 && rank.ordered(end, instance, false)) return;
          fault =
              fmt::format("race: {} and {} can run at once", describe(rank, id, earlier), describe(rank, id, instance));
        });
      });
    }
  }
  return fault;
}

std::string unordered_stream(const Subject& subject, const Execution& execution) {
  Index<3> streams;
  std::vector<std::int32_t> last;  // message, by stream
  for (Rank id = 0; id < static_cast<Rank>(execution.ranks.size()); ++id) {
    const Unrolled& rank = execution.ranks[static_cast<std::size_t>(id)];
    streams.clear();
    last.clear();
    for (std::int32_t instance = 0; instance < rank.size(); ++instance) {
      const Operation& operation = rank.operation(instance);
      const bool streams_on = is_message(operation.kind) || operation.kind == Kind::offload;
      if (!streams_on || !carries_data(subject, execution, id, instance)) continue;
      const auto stream = static_cast<std::size_t>(
          streams.add({static_cast<std::int64_t>(operation.kind), operation.peer, operation.channel}));
      if (stream == last.size()) {
        last.push_back(instance);
        continue;
      }
      const std::int32_t before = std::exchange(last[stream], instance);
      if (!rank.ordered(before, instance, true)) {
        return fmt::format("nondeterministic: {} and {} can be posted in either order", describe(rank, id, before),
                           describe(rank, id, instance));
      }
    }
  }
  return {};
}

namespace {

using Id = HappensBefore::Id;

struct Access {
  Region region;
  Range range;
  bool write;
  Id by;
};

// In the order of events.
std::vector<Access> accesses_of_shared_memory(const Subject& subject, const Execution& execution,
                                              const HappensBefore& relation) {
  std::vector<Access> all;
  for (Rank rank = 0; rank < relation.ranks(); ++rank) {
    for (std::int32_t instance = 0; instance < relation.rank(rank).size(); ++instance) {
      for_each_access(subject, execution, rank, instance, [&](Region region, const Range& range, bool write) {
        if (!shared(region) && !exposed(relation.rank(rank).schedule(), region)) return;
        if (region.owner == self) region.owner = rank;
        all.push_back({region, range, write, relation.global(rank, instance)});
      });
    }
  }
  // What is collected is accessed when it is there.
  const auto when = [&](Id id) {
    return relation.operation(id).kind == Kind::collect ? relation.event(id).completed : relation.posted(id);
  };
  std::stable_sort(all.begin(), all.end(), [&](const Access& a, const Access& b) { return when(a.by) < when(b.by); });
  return all;
}

// When an operation no longer accesses that memory; -1: never.
Id end_of(const HappensBefore& relation, Id id, Buffer memory) {
  const Kind kind = relation.operation(id).kind;
  if (kind == Kind::deposit) return memory == Buffer::box ? relation.collect_of(id) : id;
  if (kind != Kind::put) return id;
  const Rank rank = relation.rank_of(id);
  const std::int32_t flush = relation.rank(rank).flush_of(relation.local(id));
  return flush < 0 ? -1 : relation.global(rank, flush);
}

// A box has one deposit at a time, of whichever rank: each is collected before the next.
std::string two_deposits(const HappensBefore& relation) {
  std::vector<Pair> pairs;
  std::vector<Pair> deposits;
  for (const auto& box : relation.deposits()) {
    for (std::size_t i = 0; i < box.size(); ++i) {
      const Id collect = relation.collect_of(box[i].by);
      if (collect < 0) return fmt::format("{} is never collected", relation.text(box[i].by));
      if (i + 1 == box.size()) continue;
      pairs.push_back({collect, box[i + 1].by});
      deposits.push_back({box[i].by, box[i + 1].by});
    }
  }
  const std::ptrdiff_t fault = first_unordered(relation, pairs);
  if (fault < 0) return {};
  const auto [earlier, later] = deposits[static_cast<std::size_t>(fault)];
  return fmt::format("two deposits in one box: {} and {}", relation.text(earlier), relation.text(later));
}

std::string race_on_shared_memory(const Subject& subject, const Execution& execution, const HappensBefore& relation) {
  struct Conflict {
    Id earlier;
    Buffer memory;
  };
  std::vector<Pair> pairs;
  std::vector<Conflict> conflicts;
  const auto race = [&](const Conflict& of, Id later) {
    return fmt::format("race on {}: {} and {}", in_words(of.memory), relation.text(of.earlier), relation.text(later));
  };
  Hazards hazards;
  std::string endless;
  for (const Access& access : accesses_of_shared_memory(subject, execution, relation)) {
    hazards.access(access.region, access.range, access.write, access.by, false, [&](Id earlier) {
      const Id end = end_of(relation, earlier, access.region.buffer);
      if (earlier == access.by || end == access.by || !endless.empty()) return;
      const Conflict one{earlier, access.region.buffer};
      if (end < 0) {
        endless = race(one, access.by);
        return;
      }
      pairs.push_back({end, access.by});
      conflicts.push_back(one);
    });
    if (!endless.empty()) break;
  }
  const std::ptrdiff_t fault = first_unordered(relation, pairs);
  if (fault < 0) return endless;
  return race(conflicts[static_cast<std::size_t>(fault)], pairs[static_cast<std::size_t>(fault)].later);
}

// The ranks known to have begun when a rank ends, propagated along the relation in the order of the events.
std::vector<RankSet> heard_at_the_end(const HappensBefore& relation) {
  std::vector<std::tuple<std::int64_t, Id, bool>> events;  // when, what, posted
  for (Id id = 0; id < relation.size(); ++id) {
    events.emplace_back(relation.event(id).posted, id, true);
    events.emplace_back(relation.event(id).completed, id, false);
  }
  std::sort(events.begin(), events.end());
  std::vector<RankSet> when_posted(static_cast<std::size_t>(relation.size()));
  std::vector<RankSet> when_complete(when_posted.size());
  std::vector<RankSet> at_end;
  for (Rank rank = 0; rank < relation.ranks(); ++rank) at_end.emplace_back(rank);
  for (const auto& [when, id, is_posting] : events) {
    const Rank rank = relation.rank_of(id);
    RankSet& heard = (is_posting ? when_posted : when_complete)[static_cast<std::size_t>(id)];
    heard = is_posting ? RankSet(rank) : when_posted[static_cast<std::size_t>(id)];
    if (is_posting) {
      relation.for_each_predecessor(id, [&](Id before, bool posted_only) {
        heard.unite((posted_only ? when_posted : when_complete)[static_cast<std::size_t>(before)]);
        return true;
      });
    } else {
      relation.for_each_remote_cause(id, [&](Id cause) { heard.unite(when_posted[static_cast<std::size_t>(cause)]); });
      at_end[static_cast<std::size_t>(rank)].unite(heard);
    }
  }
  return at_end;
}

}  // namespace

std::string race_on_slots(const Subject& subject, const Execution& execution) {
  // A well-formed schedule uses only declared slots and counters, the same on all ranks.
  const Schedule& first = subject.schedules.front();
  if (first.slots.empty() && first.counters == 0 && !first.one_sided()) return {};
  const HappensBefore relation(execution);
  std::string fault = relation.fault();
  if (fault.empty()) fault = two_deposits(relation);
  return fault.empty() ? race_on_shared_memory(subject, execution, relation) : fault;
}

std::string missing_synchronisation(const Subject& subject, const Execution& execution) {
  if (!subject.synchronises) return {};
  const std::vector<RankSet> heard = heard_at_the_end(HappensBefore(execution));
  for (std::size_t rank = 0; rank < heard.size(); ++rank) {
    if (!heard[rank].is_all(static_cast<Rank>(heard.size())))
      return fmt::format("rank {} can end before every rank has begun", rank);
  }
  return {};
}

}  // namespace quadrille::verify
