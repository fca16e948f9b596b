#include "mutation/explorer.hpp"

#include <algorithm>
#include <bitset>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace quadrille::mutation {

namespace {

constexpr std::size_t most_instances = 512;
using Set = std::bitset<most_instances>;

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct TooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One operation in one iteration, with everything it touches as single units.
struct Instance {
  Rank rank = 0;
  Kind kind = Kind::join;
  Rank peer = self;
  std::int32_t channel = 0;
  std::vector<std::vector<int>> operands;  // units by region
  std::vector<int> reads;
  std::vector<int> writes;
  Set after_complete;
  Set after_posted;
  int partner = -1;           // of a message that is sent
  std::vector<int> together;  // of a collective of the MPI's own: those of all its ranks, in their order
  int counter = -1;
  std::int64_t value = 0;
  bool silent = false;  // an empty message that is not a signal: not sent
};

bool is_atomic(Kind kind) {
  return kind == Kind::join || kind == Kind::publish || kind == Kind::notify || kind == Kind::put;
}

class Explorer {
 public:
  Explorer(const verify::Subject& subject, std::int64_t most_states) : subject_(subject), most_states_(most_states) {}

  Opinion run() {
    Opinion opinion;
    try {
      check_declarations();
      for (const Schedule& schedule : subject_.schedules) unroll(schedule);
      match();
      check_fixed_orders();
      cover_puts();
      cover_deposits();
      check_progress_with_one_message();
      check_results();
      check_synchronisation();
      walk_all_interleavings();
    } catch (const Wrong& wrong) {
      opinion.kind = Opinion::Kind::wrong;
      opinion.why = wrong.what();
    } catch (const TooLarge& large) {
      opinion.kind = Opinion::Kind::too_large;
      opinion.why = large.what();
    }
    opinion.states = states_;
    return opinion;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void check_declarations() const {
    for (const Schedule& schedule : subject_.schedules) {
      if (const std::string why = malformed(schedule); !why.empty()) throw Wrong(why);
      const Schedule& first = subject_.schedules[0];
      const bool alike = schedule.counter_span == first.counter_span && schedule.notice_span == first.notice_span &&
                         schedule.notices == first.notices && schedule.boxes == first.boxes &&
                         schedule.staging == first.staging;
      if (!alike) throw Wrong("counters move on differently");
      if (schedule.scratch_units() > subject_.scratch_limit) throw Wrong("more scratch than declared");
    }
  }

  std::int64_t block_units(Rank rank, const Region& region) const {
    const Rank owner = region.owner == self ? rank : region.owner;
    const Schedule& schedule = subject_.schedules[at(owner)];
    const auto listed = [&](const std::vector<std::int64_t>& list) {
      return at(region.block) < list.size() ? list[at(region.block)] : -1;
    };
    if (region.buffer == Buffer::scratch) return listed(schedule.scratch);
    if (region.buffer == Buffer::slot) return listed(schedule.slots);
    if (region.buffer == Buffer::box) return listed(schedule.boxes);
    if (region.buffer == Buffer::staging) return staging_places * listed(schedule.staging);
    return subject_.units(owner, region.buffer, region.block);
  }

  void check_same_node(Rank one, Rank other) const {
    if (subject_.nodes.empty() || subject_.nodes[at(one)] == subject_.nodes[at(other)]) return;
    throw Wrong("memory of another node");
  }

  // Every unit of memory has its own number.
  int unit(Rank rank, const Region& region, std::int64_t offset) {
    const Rank owner = region.owner == self ? rank : region.owner;
    if (offset < 0 || offset >= block_units(rank, region)) throw Wrong("outside a block");
    const auto key = std::tuple(owner, region.buffer, region.block, offset);
    return unit_numbers_.try_emplace(key, static_cast<int>(unit_numbers_.size())).first->second;
  }

  std::int64_t loop_length(const Schedule& schedule, std::int32_t loop) const {
    if (loop < 0) return 1;
    const Loop& of = schedule.loops[at(loop)];
    if (of.chunk == 0) return of.iterations;
    const std::int64_t chunks = (block_units(schedule.rank, of.over) + of.chunk - 1) / of.chunk;
    return of.iterations > 0 ? std::min(chunks, of.iterations) : chunks;
  }

  std::int64_t region_length(const Schedule& schedule, const Operation& operation, const Region& region,
                             std::int64_t k) const {
    if (region.length == whole) return block_units(schedule.rank, region) - region.offset_at(k);
    if (!region.clipped) return region.length;
    const Loop& loop = schedule.loops[at(operation.loop)];
    return std::min(region.length, block_units(schedule.rank, loop.over) - k * loop.chunk);
  }

  void unroll(const Schedule& schedule) {
    std::map<std::pair<std::int32_t, std::int64_t>, int> numbers;
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(schedule.operations.size());) {
      const std::int32_t loop = schedule.operations[at(id)].loop;
      const std::int32_t last = loop < 0 ? id + 1 : schedule.loops[at(loop)].last;
      for (std::int64_t k = 0; k < loop_length(schedule, loop); ++k) {
        for (std::int32_t one = id; one < last; ++one) {
          if (instances_.size() == most_instances) throw TooLarge("too many operations");
          numbers[{one, k}] = static_cast<int>(instances_.size());
          instances_.push_back(instance(schedule, schedule.operations[at(one)], k));
        }
      }
      id = last;
    }
    for (const auto& [key, number] : numbers) link(schedule, numbers, key.first, key.second, instances_[at(number)]);
  }

  Instance instance(const Schedule& schedule, const Operation& operation, std::int64_t k) {
    Instance made;
    made.rank = schedule.rank;
    made.kind = operation.kind;
    made.peer = operation.peer;
    made.channel = operation.channel;
    const auto regions = schedule.regions_of(operation);
    std::size_t total = 0;
    if (operation.kind == Kind::wait) check_same_node(schedule.rank, operation.peer);
    for (std::size_t i = 0; i < regions.size(); ++i) {
      std::vector<int> units;
      const bool in_node = regions[i].owner != self && regions[i].buffer == Buffer::slot;
      if (in_node) check_same_node(schedule.rank, regions[i].owner);
      const std::int64_t length = region_length(schedule, operation, regions[i], k);
      for (std::int64_t offset = 0; offset < length; ++offset)
        units.push_back(unit(schedule.rank, regions[i], regions[i].offset_at(k) + offset));
      auto& list = writes(operation.kind, static_cast<int>(i)) ? made.writes : made.reads;
      list.insert(list.end(), units.begin(), units.end());
      if (writes(operation.kind, static_cast<int>(i)) && regions[i].buffer == Buffer::input && !units.empty())
        throw Wrong("writes the input");
      if (operation.kind == Kind::offload) made.reads = units;
      total += units.size();
      made.operands.push_back(std::move(units));
    }
    const bool message = operation.kind == Kind::send || operation.kind == Kind::receive;
    made.silent = (message || operation.kind == Kind::offload) && !regions.empty() && total == 0;
    check_apart(made, operation.kind);
    const bool two = operation.kind == Kind::copy || operation.kind == Kind::put || operation.kind == Kind::get ||
                     operation.kind == Kind::deposit || operation.kind == Kind::collect;
    if (two && made.operands[0].size() != made.operands[1].size()) throw Wrong("a copy of unequal lengths");
    if (counts(operation.kind) || awaits(operation.kind)) {
      const bool remote =
          operation.kind == Kind::notify || operation.kind == Kind::deposit || operation.kind == Kind::wait;
      const auto key = std::tuple(board(operation.kind), remote ? operation.peer : schedule.rank, operation.counter);
      made.counter = counter_numbers_.try_emplace(key, static_cast<int>(counter_numbers_.size())).first->second;
      made.value = operation.value + operation.value_stride * k;
    }
    return made;
  }

  // What is written is written once, and read by the same operation only as the right operand of a reduction.
  static void check_apart(const Instance& one, Kind kind) {
    const std::set<int> written(one.writes.begin(), one.writes.end());
    if (written.size() != one.writes.size()) throw Wrong("writes a place twice");
    const bool onto_right = kind == Kind::reduce && one.operands[1] == one.operands[2];
    for (std::size_t i = 0; i < one.operands.size(); ++i) {
      const bool target = writes(kind, static_cast<int>(i)) || (onto_right && i == 1);
      if (target) continue;
      if (std::any_of(one.operands[i].begin(), one.operands[i].end(), [&](int u) { return written.contains(u); }))
        throw Wrong("operands overlap");
    }
    if (kind == Kind::reduce &&
        (one.operands[0].size() != one.operands[2].size() || one.operands[1].size() != one.operands[2].size()))
      throw Wrong("operands of unequal length");
  }

  template <class Numbers>
  void link(const Schedule& schedule, const Numbers& numbers, std::int32_t id, std::int64_t k, Instance& to) {
    const Operation& operation = schedule.operations[at(id)];
    for (const Dependency& dependency : schedule.dependencies_of(operation)) {
      Set& set = dependency.posted ? to.after_posted : to.after_complete;
      const std::int32_t loop = schedule.operations[at(dependency.operation)].loop;
      if (loop >= 0 && loop == operation.loop) {
        if (k >= dependency.distance) set.set(at(numbers.at({dependency.operation, k - dependency.distance})));
        continue;
      }
      for (std::int64_t j = 0; j < loop_length(schedule, loop); ++j) set.set(at(numbers.at({dependency.operation, j})));
    }
    if (operation.loop < 0) return;
    if (k > 0) to.after_posted.set(at(numbers.at({id, k - 1})));
    const Loop& loop = schedule.loops[at(operation.loop)];
    for (std::int64_t j = 0; j + loop.window <= k; ++j) {
      for (std::int32_t one = loop.first; one < loop.last; ++one) to.after_complete.set(at(numbers.at({one, j})));
    }
  }

  // Messages of a stream match in program order; check_fixed_orders ensures that no other order is possible.
  void match() {
    std::map<std::tuple<Rank, Rank, std::int32_t>, std::pair<std::vector<int>, std::vector<int>>> streams;
    for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
      const Instance& one = instances_[at(i)];
      if (one.silent) continue;
      if (one.kind == Kind::send) streams[{one.rank, one.peer, one.channel}].first.push_back(i);
      if (one.kind == Kind::receive) streams[{one.peer, one.rank, one.channel}].second.push_back(i);
    }
    for (const auto& [key, both] : streams) {
      const auto& [sends, receives] = both;
      if (sends.size() != receives.size()) throw Wrong("a message without its other end");
      for (std::size_t i = 0; i < sends.size(); ++i) {
        Instance& send = instances_[at(sends[i])];
        Instance& receive = instances_[at(receives[i])];
        if (send.reads.size() != receive.writes.size() || send.operands.empty() != receive.operands.empty())
          throw Wrong("lengths differ");
        send.partner = receives[i];
        receive.partner = sends[i];
      }
      fixed_orders_.push_back(sends);
      fixed_orders_.push_back(receives);
    }
    match_offloads();
    std::map<int, std::vector<int>> settings;
    for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
      const Instance& one = instances_[at(i)];
      if (!counts(one.kind)) continue;
      auto& list = settings[one.counter];
      if (one.kind == Kind::deposit) {
        list.push_back(i);
        continue;
      }
      if (!list.empty() && instances_[at(list.back())].rank != one.rank) throw Wrong("two writers of a counter");
      if (!list.empty() && instances_[at(list.back())].value >= one.value) throw Wrong("a counter decreases");
      list.push_back(i);
    }
    for (auto& [counter, list] : settings) {
      // Those of a box may be of several ranks.
      std::stable_sort(list.begin(), list.end(),
                       [&](int a, int b) { return instances_[at(a)].value < instances_[at(b)].value; });
      for (std::size_t i = 1; i < list.size(); ++i) {
        if (instances_[at(list[i - 1])].value == instances_[at(list[i])].value) throw Wrong("two deposits at once");
      }
      fixed_orders_.push_back(list);
    }
    settings_ = std::move(settings);
    match_deposits();
  }

  // A deposit and what collects it have one number.
  void match_deposits() {
    for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
      Instance& collect = instances_[at(i)];
      if (collect.kind != Kind::collect) continue;
      for (int deposit : settings_[collect.counter]) {
        Instance& other = instances_[at(deposit)];
        if (other.value != collect.value) continue;
        if (other.partner >= 0 || other.operands[1] != collect.operands[0]) throw Wrong("another deposit is collected");
        other.partner = i;
        collect.partner = deposit;
      }
      if (collect.partner < 0) throw Wrong("nothing to collect");
    }
    for (const Instance& one : instances_) {
      if (one.kind == Kind::deposit && one.partner < 0) throw Wrong("a deposit is never collected");
    }
  }

  // Those of each rank match in program order.
  void match_offloads() {
    std::map<Rank, std::vector<int>> of_rank;
    for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
      const Instance& one = instances_[at(i)];
      if (one.kind == Kind::offload && !one.silent) of_rank[one.rank].push_back(i);
    }
    for (const auto& [rank, list] : of_rank) {
      fixed_orders_.push_back(list);
      const std::vector<Rank>& group = subject_.schedules[at(rank)].offload;
      for (std::size_t number = 0; number < list.size(); ++number) {
        Instance& own = instances_[at(list[number])];
        for (Rank other : group) {
          if (subject_.schedules[at(other)].offload != group) throw Wrong("collectives among different ranks");
          const auto& others = of_rank[other];
          if (others.size() != list.size()) throw Wrong("a collective without one of its ranks");
          const Instance& theirs = instances_[at(others[number])];
          const bool alike = theirs.operands.size() == own.operands.size() && theirs.reads.size() == own.reads.size();
          if (!alike) throw Wrong("lengths differ");
          own.together.push_back(others[number]);
        }
      }
    }
  }

  bool postable(int i, const Set& posted, const Set& complete) const {
    const Instance& one = instances_[at(i)];
    return (one.after_complete & ~complete).none() && (one.after_posted & ~posted).none();
  }

  // Whether an operation that is posted can end, with sends that need not wait for their receives.
  bool completable(int i, const Set& posted, const Set& complete, bool sends_wait) const {
    const Instance& one = instances_[at(i)];
    if (one.silent) return true;
    if (one.kind == Kind::receive) return posted.test(at(one.partner));
    if (one.kind == Kind::send) return !sends_wait || posted.test(at(one.partner));
    if (one.kind == Kind::collect) return complete.test(at(one.partner));
    if (one.kind == Kind::wait || one.kind == Kind::await) return one.value <= 0 || counter_reached(one, complete);
    if (one.kind == Kind::offload) {
      return std::all_of(one.together.begin(), one.together.end(), [&](int other) { return posted.test(at(other)); });
    }
    return true;
  }

  bool counter_reached(const Instance& wait, const Set& complete) const {
    const auto list = settings_.find(wait.counter);
    if (list == settings_.end()) return false;
    return std::any_of(list->second.begin(), list->second.end(),
                       [&](int i) { return complete.test(at(i)) && instances_[at(i)].value >= wait.value; });
  }

  // Posts whatever can be posted; operations without duration end immediately. Posting early hides no errors: it only
  // adds to the concurrent operations.
  void post_all(Set& posted, Set& complete, int never_posted = -1) const {
    for (bool more = true; more;) {
      more = false;
      for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
        if (posted.test(at(i)) || i == never_posted || !postable(i, posted, complete)) continue;
        posted.set(at(i));
        if (is_atomic(instances_[at(i)].kind)) complete.set(at(i));
        more = true;
      }
    }
  }

  // Completes operations where that hides no errors: one that shares no data with any unposted operation can't conflict
  // by taking longer.
  bool end_harmless(const Set& posted, Set& complete) const {
    bool any = false;
    for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
      if (!posted.test(at(i)) || complete.test(at(i)) || (delays_[at(i)] & ~posted).any()) continue;
      if (!completable(i, posted, complete, false)) continue;
      complete.set(at(i));
      any = true;
    }
    return any;
  }

  // The maximal set of posted operations if one instance is never posted, or never completes.
  Set reach_without(int never_posted, int never_complete) const {
    Set posted, complete;
    for (bool more = true; more;) {
      more = false;
      post_all(posted, complete, never_posted);
      if (never_complete >= 0) complete.reset(at(never_complete));
      for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
        if (i == never_complete || complete.test(at(i)) || !posted.test(at(i)) ||
            !completable(i, posted, complete, false))
          continue;
        complete.set(at(i));
        more = true;
      }
    }
    return posted;
  }

  void check_fixed_orders() const {
    for (const auto& list : fixed_orders_) {
      for (std::size_t i = 0; i + 1 < list.size(); ++i) {
        const Set posted = reach_without(list[i], -1);
        for (std::size_t j = i + 1; j < list.size(); ++j) {
          if (posted.test(at(list[j]))) throw Wrong("nondeterministic order");
        }
      }
    }
  }

  // A put is in flight until a flush of that peer completes that can't have been posted before it.
  void cover_puts() {
    for (int put = 0; put < static_cast<int>(instances_.size()); ++put) {
      if (instances_[at(put)].kind != Kind::put) continue;
      const Set posted = reach_without(put, -1);
      for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
        const Instance& flush = instances_[at(i)];
        const bool covers = flush.kind == Kind::flush && flush.rank == instances_[at(put)].rank &&
                            flush.peer == instances_[at(put)].peer && !posted.test(at(i));
        if (covers) flushes_[put].push_back(i);
      }
      if (flushes_[put].empty()) throw Wrong("a put without a flush");
    }
  }

  // A deposit is in its box until it is collected.
  void cover_deposits() {
    for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
      if (instances_[at(i)].kind == Kind::deposit) flushes_[i].push_back(instances_[at(i)].partner);
    }
  }

  // With one message per direction and synchronous sends: the ranks advance as long as they can.
  void check_progress_with_one_message() const {
    Set posted, complete;
    for (bool more = true; more;) {
      more = false;
      for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
        if (!posted.test(at(i)) && postable(i, posted, complete) && turn(i, complete)) {
          posted.set(at(i));
          more = true;
        }
        if (posted.test(at(i)) && !complete.test(at(i)) && completable(i, posted, complete, true)) {
          complete.set(at(i));
          more = true;
        }
      }
    }
    if (complete.count() != instances_.size()) throw Wrong("no progress with one message in flight");
  }

  // Whether all messages of the same direction before this one, in program order, are complete.
  bool turn(int i, const Set& complete) const {
    const Instance& one = instances_[at(i)];
    if (one.kind != Kind::send && one.kind != Kind::receive) return true;
    for (int j = 0; j < i; ++j) {
      if (instances_[at(j)].rank == one.rank && instances_[at(j)].kind == one.kind && !complete.test(at(j)))
        return false;
    }
    return true;
  }

  void check_no_conflict(const Set& posted, const Set& complete) const {
    std::vector<int> active;
    for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
      if (posted.test(at(i)) && (!complete.test(at(i)) || put_under_way(i, complete))) active.push_back(i);
    }
    for (std::size_t a = 0; a < active.size(); ++a) {
      for (std::size_t b = a + 1; b < active.size(); ++b) {
        if (!conflicts_[at(active[a])].test(at(active[b]))) continue;
        if (only_later(active[a], active[b], complete) || only_later(active[b], active[a], complete)) continue;
        throw Wrong("two operations on the same data at once");
      }
    }
  }

  // Whether what two operations share is not accessed by the first of them now: a deposit that is complete no longer
  // reads its source, and nobody collects what has not been deposited.
  bool only_later(int first, int other, const Set& complete) const {
    const Instance& one = instances_[at(first)];
    const bool still = one.kind == Kind::deposit && complete.test(at(first));
    const bool not_yet = one.kind == Kind::collect && !complete.test(at(one.partner));
    if (!still && !not_yet) return false;
    const Instance& two = instances_[at(other)];
    const auto written = [&](int unit) {
      return std::find(one.writes.begin(), one.writes.end(), unit) != one.writes.end();
    };
    return std::none_of(two.reads.begin(), two.reads.end(), written) &&
           std::none_of(two.writes.begin(), two.writes.end(), written);
  }

  bool put_under_way(int i, const Set& complete) const {
    const auto flushes = flushes_.find(i);
    return flushes != flushes_.end() &&
           std::none_of(flushes->second.begin(), flushes->second.end(), [&](int f) { return complete.test(at(f)); });
  }

  bool conflict(int a, int b) const {
    const Instance& x = instances_[at(a)];
    const Instance& y = instances_[at(b)];
    const auto share = [](const std::vector<int>& p, const std::vector<int>& q) {
      return std::any_of(p.begin(), p.end(), [&](int u) { return std::find(q.begin(), q.end(), u) != q.end(); });
    };
    return share(x.writes, y.writes) || share(x.writes, y.reads) || share(x.reads, y.writes);
  }

  // If one rank never begins, no other may be able to end.
  void check_synchronisation() const {
    if (!subject_.synchronises) return;
    const auto ranks = static_cast<Rank>(subject_.schedules.size());
    for (Rank late = 0; late < ranks; ++late) {
      std::vector<int> left(at(ranks), 0);
      const Set complete = reach_without_rank(late);
      for (std::size_t i = 0; i < instances_.size(); ++i) left[at(instances_[i].rank)] += complete.test(i) ? 0 : 1;
      for (Rank rank = 0; rank < ranks; ++rank) {
        if (rank != late && left[at(rank)] == 0) throw Wrong("a rank ends before another has begun");
      }
    }
  }

  Set reach_without_rank(Rank late) const {
    Set posted, complete;
    for (bool more = true; more;) {
      more = false;
      for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
        if (instances_[at(i)].rank == late) continue;
        if (!posted.test(at(i)) && postable(i, posted, complete)) {
          posted.set(at(i));
          more = true;
        }
        if (posted.test(at(i)) && !complete.test(at(i)) && completable(i, posted, complete, false)) {
          complete.set(at(i));
          more = true;
        }
      }
    }
    return complete;
  }

  void find_conflicts() {
    const int count = static_cast<int>(instances_.size());
    conflicts_.resize(instances_.size());
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        const bool partners = instances_[at(a)].kind == Kind::deposit && instances_[at(a)].partner == b;
        const bool reversed = instances_[at(b)].kind == Kind::deposit && instances_[at(b)].partner == a;
        if (a != b && !partners && !reversed && conflict(a, b)) conflicts_[at(a)].set(at(b));
      }
    }
    // While a flush is in flight, so are the puts it covers.
    delays_ = conflicts_;
    for (const auto& [put, flushes] : flushes_) {
      for (int flush : flushes) delays_[at(flush)] |= conflicts_[at(put)];
    }
  }

  void walk_all_interleavings() {
    std::unordered_set<Set> seen;
    std::vector<std::pair<Set, Set>> stack;
    find_conflicts();
    const auto visit = [&](Set posted, Set complete) {
      do {
        post_all(posted, complete);
        check_no_conflict(posted, complete);
      } while (end_harmless(posted, complete));
      if (!seen.insert(complete).second) return;
      if (++states_ > most_states_) throw TooLarge("too many states");
      stack.push_back({posted, complete});
    };
    visit({}, {});
    while (!stack.empty()) {
      const auto [posted, complete] = stack.back();
      stack.pop_back();
      bool any = false;
      for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
        if (!posted.test(at(i)) || complete.test(at(i)) || !completable(i, posted, complete, false)) continue;
        any = true;
        Set next = complete;
        next.set(at(i));
        visit(posted, next);
      }
      if (!any && complete.count() != instances_.size()) throw Wrong("stuck");
    }
  }

  // The data, in one order of events: without conflicts and with deterministic matching all orders give the same
  // result.
  void check_results();
  int value_of(int unit) const;
  void capture(int send);
  void perform(int i);
  int combine(int left, int right);
  std::vector<Rank> leaves(int value, const Meaning& meaning, std::int64_t index) const;
  void check_output(Rank rank, const Meaning& meaning);

  const verify::Subject& subject_;
  std::int64_t most_states_;
  std::int64_t states_ = 0;
  std::vector<Instance> instances_;
  std::vector<Set> conflicts_;  // conflicting accesses to the same data
  std::vector<Set> delays_;     // the same, of a flush those of its puts
  std::map<std::tuple<Rank, Buffer, std::int32_t, std::int64_t>, int> unit_numbers_;
  std::map<std::tuple<Board, Rank, std::int32_t>, int> counter_numbers_;
  std::map<int, std::vector<int>> settings_;  // of each counter
  std::vector<std::vector<int>> fixed_orders_;
  std::map<int, std::vector<int>> flushes_;  // of each put; of a deposit what collects it

  // A value is a leaf (a unit of the caller's) or a pair of values.
  struct Node {
    std::tuple<Rank, Buffer, std::int32_t, std::int64_t> leaf;
    int left = -1;
    int right = -1;
  };
  std::vector<Node> nodes_;
  std::map<std::pair<int, int>, int> pairs_;
  std::map<int, int> memory_;             // unit to value
  std::map<int, std::vector<int>> sent_;  // the data of each send
  std::map<std::tuple<Rank, std::int32_t, std::int64_t>, int> reductions_;
};

int Explorer::combine(int left, int right) {
  if (subject_.commutative && right < left) std::swap(left, right);
  const auto [place, fresh] = pairs_.try_emplace({left, right}, static_cast<int>(nodes_.size()));
  if (fresh) nodes_.push_back({{}, left, right});
  return place->second;
}

int Explorer::value_of(int unit) const {
  const auto found = memory_.find(unit);
  if (found == memory_.end()) throw Wrong("reads data that was never written");
  return found->second;
}

void Explorer::capture(int send) {
  for (int unit : instances_[at(send)].reads) sent_[send].push_back(value_of(unit));
}

void Explorer::perform(int i) {
  const Instance& one = instances_[at(i)];
  const auto load = [&](int unit) { return value_of(unit); };
  const bool moves = one.kind == Kind::copy || one.kind == Kind::put || one.kind == Kind::get ||
                     one.kind == Kind::deposit || one.kind == Kind::collect ||
                     (one.kind == Kind::receive && one.partner >= 0);
  if (moves) {
    std::vector<int> values;
    if (one.kind == Kind::receive) values = sent_[one.partner];
    if (one.kind != Kind::receive) std::transform(one.reads.begin(), one.reads.end(), std::back_inserter(values), load);
    for (std::size_t u = 0; u < one.writes.size(); ++u) memory_[one.writes[u]] = values[u];
  }
  if (one.kind == Kind::offload) {
    for (std::size_t u = 0; u < one.writes.size(); ++u) {
      int value = sent_[one.together.front()][u];
      for (std::size_t r = 1; r < one.together.size(); ++r) value = combine(value, sent_[one.together[r]][u]);
      memory_[one.writes[u]] = value;
    }
  }
  if (one.kind == Kind::reduce) {
    for (std::size_t u = 0; u < one.writes.size(); ++u) {
      memory_[one.writes[u]] = combine(load(one.operands[0][u]), load(one.operands[1][u]));
    }
  }
}

void Explorer::check_results() {
  // Outputs that are never accessed count, too.
  for (Rank rank = 0; rank < static_cast<Rank>(subject_.meanings.size()); ++rank) {
    for (const Meaning& meaning : subject_.meanings[at(rank)]) {
      for (std::int64_t i = meaning.output.offset; i < block_units(rank, meaning.output); ++i)
        unit(rank, meaning.output, i);
    }
  }
  for (const auto& [key, number] : unit_numbers_) {
    const auto& [rank, buffer, block, offset] = key;
    const bool callers = buffer == Buffer::input || buffer == Buffer::output;
    if (!callers || !subject_.given(rank, buffer, block)) continue;
    memory_[number] = static_cast<int>(nodes_.size());
    nodes_.push_back({key, -1, -1});
  }
  Set posted, complete;
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < static_cast<int>(instances_.size()); ++i) {
      if (!posted.test(at(i)) && postable(i, posted, complete)) {
        posted.set(at(i));
        if (instances_[at(i)].kind == Kind::send || instances_[at(i)].kind == Kind::offload) capture(i);
        more = true;
      }
      if (posted.test(at(i)) && !complete.test(at(i)) && completable(i, posted, complete, true)) {
        perform(i);
        complete.set(at(i));
        more = true;
      }
    }
  }
  if (complete.count() != instances_.size()) throw Wrong("stuck");
  for (Rank rank = 0; rank < static_cast<Rank>(subject_.meanings.size()); ++rank) {
    for (const Meaning& meaning : subject_.meanings[at(rank)]) check_output(rank, meaning);
  }
}

// The ranks of a value's leaves from left to right; throws if a leaf has the wrong index.
std::vector<Rank> Explorer::leaves(int value, const Meaning& meaning, std::int64_t index) const {
  const Node& node = nodes_[at(value)];
  if (node.left < 0) {
    const auto& [rank, buffer, block, offset] = node.leaf;
    // A rank's operand of a reduction is in its only buffer that holds data.
    const bool right_buffer = meaning.reduced || buffer == meaning.from.buffer;
    if (!right_buffer || block != meaning.from.block || offset != index) throw Wrong("a wrong unit");
    return {rank};
  }
  if (subject_.fixed_order && nodes_[at(node.right)].left >= 0) throw Wrong("not reduced from left to right");
  std::vector<Rank> all = leaves(node.left, meaning, index);
  const std::vector<Rank> right = leaves(node.right, meaning, index);
  all.insert(all.end(), right.begin(), right.end());
  return all;
}

void Explorer::check_output(Rank rank, const Meaning& meaning) {
  const std::int64_t length = meaning.output.length == whole ? block_units(rank, meaning.output) - meaning.output.offset
                                                             : meaning.output.length;
  for (std::int64_t i = 0; i < length; ++i) {
    const auto value = memory_.find(unit(rank, meaning.output, meaning.output.offset + i));
    if (value == memory_.end()) throw Wrong("output not written");
    std::vector<Rank> ranks = leaves(value->second, meaning, meaning.from.offset + i);
    if (!meaning.reduced) {
      if (ranks != std::vector<Rank>{meaning.source}) throw Wrong("wrong output");
      continue;
    }
    if (subject_.commutative) std::sort(ranks.begin(), ranks.end());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (ranks[r] != static_cast<Rank>(r)) throw Wrong("wrong reduction");
    }
    if (static_cast<Rank>(ranks.size()) != meaning.end) throw Wrong("incomplete reduction");
    const auto [first, fresh] =
        reductions_.try_emplace({meaning.end, meaning.from.block, meaning.from.offset + i}, value->second);
    if (first->second != value->second) throw Wrong("a different expression than on other ranks");
  }
}

}  // namespace

Opinion explore(const verify::Subject& subject, std::int64_t most_states) {
  return Explorer(subject, most_states).run();
}

}  // namespace quadrille::mutation
