#include "verify/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "run/text.hpp"
#include "schedule/hazards.hpp"
#include "schedule/index.hpp"

namespace quadrille::verify {

namespace {

std::string describe(const Unrolled& ranks, Rank rank, std::int32_t instance) {
  const Token token = ranks.token(instance);
  return fmt::format("rank {}: {}", rank, to_text(ranks.schedule(), token));
}

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

// The happens-before relation across ranks: local dependencies, a send before the end of its receive, an update of a
// counter before the end of a wait for it, a deposit before the end of its collect, and for each rank of a collective
// of the MPI's own before its end.
class GlobalOrder {
 public:
  GlobalOrder(const Subject& subject, const Execution& execution) : subject_(subject), execution_(execution) {
    base_.push_back(0);
    for (const Unrolled& rank : execution.ranks) {
      rank_.insert(rank_.end(), static_cast<std::size_t>(rank.size()), static_cast<Rank>(base_.size() - 1));
      base_.push_back(base_.back() + rank.size());
    }
    remote_cause_.assign(static_cast<std::size_t>(base_.back()), -1);
    search_.seen.assign(static_cast<std::size_t>(base_.back()), 0);
    pasts_.resize(execution.ranks.size());
    for (const Matched& message : execution.messages) {
      remote_cause_[static_cast<std::size_t>(global(message.to, message.receive))] = global(message.from, message.send);
    }
    for (const Together& one : execution.offloads) {
      for (const auto& [rank, instance] : one.instances) together_[global(rank, instance)] = &one;
    }
    gather_counters();
    for (Id id = 0; id < base_.back(); ++id) {
      if (!awaits(operation(id).kind)) continue;
      const Id cause = setting_for(id);
      remote_cause_[static_cast<std::size_t>(id)] = cause;
      if (operation(id).kind == Kind::collect) match_deposit(cause, id);
    }
    check_deposits();
  }

  std::string fault() const { return fault_.empty() ? check_slots() : fault_; }

  // The ranks known to have begun when a rank ends, propagated along the relation in the order of the events.
  std::vector<RankSet> heard_at_the_end() const {
    std::vector<std::tuple<std::int64_t, Id, bool>> events;  // when, what, posted
    for (Rank rank = 0; rank < static_cast<Rank>(execution_.ranks.size()); ++rank) {
      for (std::int32_t instance = 0; instance < ranks(rank).size(); ++instance) {
        const Id id = global(rank, instance);
        events.push_back({event(id).posted, id, true});
        events.push_back({event(id).completed, id, false});
      }
    }
    std::sort(events.begin(), events.end());
    std::vector<RankSet> when_posted(static_cast<std::size_t>(base_.back()));
    std::vector<RankSet> when_complete(when_posted.size());
    std::vector<RankSet> at_end;
    for (Rank rank = 0; rank < static_cast<Rank>(execution_.ranks.size()); ++rank) at_end.emplace_back(rank);
    for (const auto& [when, id, is_posting] : events) {
      const Rank rank = rank_of(id);
      RankSet& heard = (is_posting ? when_posted : when_complete)[static_cast<std::size_t>(id)];
      heard = is_posting ? RankSet(rank) : when_posted[static_cast<std::size_t>(id)];
      if (is_posting) {
        ranks(rank).for_each_predecessor(local(id), [&](std::int32_t before, bool posted_only) {
          heard.unite((posted_only ? when_posted : when_complete)[static_cast<std::size_t>(global(rank, before))]);
          return true;
        });
      } else {
        for_each_remote_cause(id, [&](Id cause) { heard.unite(when_posted[static_cast<std::size_t>(cause)]); });
        at_end[static_cast<std::size_t>(rank)].unite(heard);
      }
    }
    return at_end;
  }

 private:
  using Id = std::int32_t;
  struct Setting {
    std::int64_t value;
    Id by;
  };
  struct Access {
    Region region;
    Range range;
    bool write;
    Id by;
  };
  // What is complete before an operation is posted: of each rank at least so many instances, from the first on.
  struct Past {
    static constexpr std::ptrdiff_t least_price = 1000;

    Id of = -1;
    std::ptrdiff_t price = least_price;  // steps that it took to find out
    std::ptrdiff_t searched = 0;         // steps of searches since then
    std::vector<std::int32_t> complete = {};
  };
  // What is known to be posted before an operation.
  struct Search {
    std::int32_t number = 0;
    std::vector<Id> before = {};          // that were not looked at yet
    std::vector<std::int32_t> seen = {};  // of each: the last search that came to it
  };

  Id global(Rank rank, std::int32_t instance) const { return base_[static_cast<std::size_t>(rank)] + instance; }
  Rank rank_of(Id id) const { return rank_[static_cast<std::size_t>(id)]; }
  const Unrolled& ranks(Rank rank) const { return execution_.ranks[static_cast<std::size_t>(rank)]; }
  std::int32_t local(Id id) const { return id - base_[static_cast<std::size_t>(rank_of(id))]; }
  const Operation& operation(Id id) const { return ranks(rank_of(id)).operation(local(id)); }
  const Event& event(Id id) const {
    return execution_.events[static_cast<std::size_t>(rank_of(id))][static_cast<std::size_t>(local(id))];
  }
  std::int64_t posted(Id id) const { return event(id).posted; }
  std::int64_t value_of(Id id) const {
    const Operation& of = operation(id);
    return of.value + of.value_stride * ranks(rank_of(id)).token(local(id)).iteration;
  }
  std::string text(Id id) const { return describe(ranks(rank_of(id)), rank_of(id), local(id)); }

  void gather_counters() {
    for (Rank rank = 0; rank < static_cast<Rank>(execution_.ranks.size()); ++rank) {
      for (std::int32_t instance = 0; instance < ranks(rank).size(); ++instance) {
        const Operation& of = ranks(rank).operation(instance);
        if (!counts(of.kind)) continue;
        auto& settings = counters_[{board(of.kind), of.kind == Kind::publish ? rank : of.peer, of.counter}];
        const Id id = global(rank, instance);
        if (!settings.empty() && of.kind != Kind::deposit) check_setting(settings.back(), id);
        settings.push_back({value_of(id), id});
      }
    }
  }

  void check_setting(const Setting& before, Id id) {
    if (!fault_.empty()) return;
    if (rank_of(before.by) != rank_of(id)) {
      fault_ = fmt::format("two writers of one counter: {} and {}", text(before.by), text(id));
    } else if (value_of(id) <= before.value || !ranks(rank_of(id)).ordered(local(before.by), local(id), true)) {
      fault_ = fmt::format("a counter can decrease: {} and {}", text(before.by), text(id));
    }
  }

  void match_deposit(Id deposit, Id collect) {
    if (!fault_.empty()) return;
    const auto range = [&](Id id, std::size_t operand) {
      return range_at(ranks(rank_of(id)).schedule().regions_of(operation(id))[operand], 0);
    };
    const bool same = deposit >= 0 && value_of(deposit) == value_of(collect) && range(deposit, 1) == range(collect, 0);
    if (!same || !collect_of_.emplace(deposit, collect).second) {
      fault_ = fmt::format("{} has no deposit of its own", text(collect));
    }
  }

  // A box has one deposit at a time, of whichever rank: each is collected before the next.
  void check_deposits() {
    for (auto& [key, settings] : counters_) {
      if (std::get<0>(key) != Board::box) continue;
      std::stable_sort(settings.begin(), settings.end(),
                       [](const Setting& a, const Setting& b) { return a.value < b.value; });
      for (std::size_t i = 0; i < settings.size() && fault_.empty(); ++i) {
        const auto collect = collect_of_.find(settings[i].by);
        if (collect == collect_of_.end()) {
          fault_ = fmt::format("{} is never collected", text(settings[i].by));
        } else if (i + 1 < settings.size() && !ordered(collect->second, settings[i + 1].by)) {
          fault_ = fmt::format("two deposits in one box: {} and {}", text(settings[i].by), text(settings[i + 1].by));
        }
      }
    }
  }

  // The operations on other ranks whose posting the completion of this one waits for.
  template <class Visit>
  void for_each_remote_cause(Id id, Visit&& visit) const {
    if (const Id cause = remote_cause_[static_cast<std::size_t>(id)]; cause >= 0) visit(cause);
    if (operation(id).kind != Kind::offload) return;
    const auto found = together_.find(id);
    if (found == together_.end()) return;
    for (const auto& [rank, instance] : found->second->instances) visit(global(rank, instance));
  }

  // The update that completes a wait; -1 if the counter is high enough from the start.
  Id setting_for(Id wait) const {
    const Operation& of = operation(wait);
    const auto found = counters_.find({board(of.kind), of.kind == Kind::wait ? of.peer : rank_of(wait), of.counter});
    const std::int64_t value = value_of(wait);
    if (value <= 0 || found == counters_.end()) return -1;
    const Setting* first = nullptr;
    for (const Setting& setting : found->second) {
      if (setting.value >= value && (!first || setting.value < first->value)) first = &setting;
    }
    return first ? first->by : -1;
  }

  // Whether `earlier` is always complete before `later` is posted. Mostly that follows from what their two ranks have
  // done, or from what is known of the past of `later`, while all ranks together have done thousands of things between
  // them.
  bool ordered(Id earlier, Id later) const {
    const std::array<Rank, 2> both = {rank_of(earlier), rank_of(later)};
    if (ordered(earlier, later, [&](Id id) { return rank_of(id) == both[0] || rank_of(id) == both[1]; })) return true;
    if (in_past(earlier, later)) return true;
    const bool found = ordered(earlier, later, [](Id) { return true; });
    // To know the past is worth its price once searches have taken as long.
    Past& past = pasts_[static_cast<std::size_t>(both[1])];
    past.searched += std::ssize(search_.before);
    if (past.searched > past.price) past = past_of(later);
    return found;
  }

  // The same, by way of some operations only.
  template <class Includes>
  bool ordered(Id earlier, Id later, const Includes& includes) const {
    const std::int64_t since = posted(earlier);
    bool found = false;
    search_before(
        later, [&](Id id) { return posted(id) >= since && includes(id); },
        [&](Id before, bool posted_only) {
          found = before == earlier && !posted_only;
          return !found;
        });
    return found;
  }

  // False: it may be all the same.
  bool in_past(Id earlier, Id later) const {
    Past& past = pasts_[static_cast<std::size_t>(rank_of(later))];
    if (past.of < 0 || local(earlier) >= past.complete[static_cast<std::size_t>(rank_of(earlier))]) return false;
    if (past.of != later && !ranks(rank_of(later)).ordered(local(past.of), local(later), true)) return false;
    past.of = later;  // whose past is the same, or longer
    return true;
  }

  Past past_of(Id later) const {
    std::vector<bool> complete(search_.seen.size());
    search_before(
        later, [](Id) { return true; },
        [&](Id before, bool posted_only) {
          if (!posted_only) complete[static_cast<std::size_t>(before)] = true;
          return true;
        });
    Past past{.of = later, .price = std::max(Past::least_price, std::ssize(search_.before))};
    for (std::size_t rank = 0; rank + 1 < base_.size(); ++rank) {
      const auto first = complete.begin() + base_[rank];
      past.complete.push_back(
          static_cast<std::int32_t>(std::find(first, complete.begin() + base_[rank + 1], false) - first));
    }
    return past;
  }

  // Calls visit(id, posted_only) for what is known to be complete (or, posted_only, posted) before `later` is posted,
  // the nearest first, until it returns false. What `includes` keeps out leads no further.
  template <class Includes, class Visit>
  void search_before(Id later, const Includes& includes, const Visit& visit) const {
    ++search_.number;
    search_.before.assign(1, later);
    const auto push = [&](Id id) {
      if (!includes(id)) return;
      if (std::exchange(search_.seen[static_cast<std::size_t>(id)], search_.number) == search_.number) return;
      search_.before.push_back(id);
    };
    bool goes_on = true;
    for (std::size_t next = 0; next < search_.before.size() && goes_on; ++next) {
      const Id at = search_.before[next];
      const Rank rank = rank_of(at);
      ranks(rank).for_each_predecessor(local(at), [&](std::int32_t instance, bool posted_only) {
        const Id before = global(rank, instance);
        goes_on = visit(before, posted_only);
        push(before);
        // If it must be complete, so must be what its completion waits for on other ranks.
        if (!posted_only) for_each_remote_cause(before, push);
        return goes_on;
      });
    }
  }

  std::string check_slots() const {
    std::vector<Access> accesses;
    for (Rank rank = 0; rank < static_cast<Rank>(execution_.ranks.size()); ++rank) {
      for (std::int32_t instance = 0; instance < ranks(rank).size(); ++instance) {
        for_each_access(subject_, execution_, rank, instance, [&](Region region, const Range& range, bool write) {
          if (!shared(region) && !exposed(ranks(rank).schedule(), region)) return;
          if (region.owner == self) region.owner = rank;
          accesses.push_back({region, range, write, global(rank, instance)});
        });
      }
    }
    // What is collected is accessed when it is there.
    const auto when = [&](Id id) { return operation(id).kind == Kind::collect ? event(id).completed : posted(id); };
    std::stable_sort(accesses.begin(), accesses.end(),
                     [&](const Access& a, const Access& b) { return when(a.by) < when(b.by); });
    Hazards hazards;
    std::string fault;
    for (const Access& access : accesses) {
      hazards.access(access.region, access.range, access.write, access.by, false, [&](Id earlier) {
        if (earlier == access.by || !fault.empty()) return;
        const Id end = end_of(earlier, access.region);
        if (end == access.by || (end >= 0 && ordered(end, access.by))) return;
        fault = fmt::format("race on {}: {} and {}", in_words(access.region.buffer), text(earlier), text(access.by));
      });
      if (!fault.empty()) return fault;
    }
    return fault;
  }

  // When an operation no longer accesses that memory.
  Id end_of(Id id, const Region& memory) const {
    if (operation(id).kind == Kind::deposit) return memory.buffer == Buffer::box ? collect_of_.at(id) : id;
    if (operation(id).kind != Kind::put) return id;
    const std::int32_t flush = ranks(rank_of(id)).flush_of(local(id));
    return flush < 0 ? -1 : global(rank_of(id), flush);
  }

  const Subject& subject_;
  const Execution& execution_;
  std::vector<Id> base_;
  std::vector<Rank> rank_;        // of each
  std::vector<Id> remote_cause_;  // of each: a message or a counter's update; -1: none
  std::unordered_map<Id, const Together*> together_;
  std::map<std::tuple<Board, Rank, std::int32_t>, std::vector<Setting>> counters_;
  std::unordered_map<Id, Id> collect_of_;  // by deposit
  mutable Search search_;
  mutable std::vector<Past> pasts_;  // by rank
  std::string fault_;
};

}  // namespace

std::string race_on_slots(const Subject& subject, const Execution& execution) {
  // A well-formed schedule uses only declared slots and counters, the same on all ranks.
  const Schedule& first = subject.schedules.front();
  const bool none = first.slots.empty() && first.counters == 0 && !first.one_sided();
  return none ? std::string() : GlobalOrder(subject, execution).fault();
}

std::string missing_synchronisation(const Subject& subject, const Execution& execution) {
  if (!subject.synchronises) return {};
  const std::vector<RankSet> heard = GlobalOrder(subject, execution).heard_at_the_end();
  for (std::size_t rank = 0; rank < heard.size(); ++rank) {
    if (!heard[rank].is_all(static_cast<Rank>(heard.size())))
      return fmt::format("rank {} can end before every rank has begun", rank);
  }
  return {};
}

}  // namespace quadrille::verify
