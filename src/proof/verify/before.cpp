#include "verify/before.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace quadrille::verify {

namespace {

using Id = HappensBefore::Id;

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

// Calls visit(id) for what an operation knows of: what must be complete before it is posted, and what the completion of
// that waits for on other ranks. What must only be posted is left out: what it knows is of little use, and would have
// to be kept for a whole iteration of a loop.
template <class Visit>
void for_each_source(const HappensBefore& relation, Id id, Visit&& visit) {
  relation.for_each_predecessor(id, [&](Id before, bool posted_only) {
    if (posted_only) return true;
    visit(before);
    relation.for_each_remote_cause(before, visit);
    return true;
  });
}

// A rank's operations whose posting other ranks wait for, as chains, in each of which one is posted before the next, so
// that to know one is to know all before it: the updates of a counter, the messages of a stream. What belongs to none
// of a rank's first few is left out.
class Chains {
 public:
  struct Link {
    std::int32_t chain;
    std::int32_t position;
  };

  explicit Chains(const HappensBefore& relation) : relation_(relation), link_(at(relation.size()), -1) {
    std::vector<bool> awaited(link_.size());
    for (Id id = 0; id < relation.size(); ++id) {
      relation.for_each_remote_cause(id, [&](Id cause) { awaited[at(cause)] = true; });
    }
    for (Rank rank = 0; rank < relation.ranks(); ++rank) {
      divide(rank, awaited);
      find_complete(rank);
    }
  }

  std::int32_t size() const { return static_cast<std::int32_t>(chains_.size()); }
  // Null: in no chain.
  const Link* link_of(Id id) const { return link_[at(id)] < 0 ? nullptr : &links_[at(link_[at(id)])]; }

  // Whether an operation is complete before something of which is known so much: of each chain, how many are posted.
  bool is_complete(Id earlier, const std::int32_t* known) const {
    const Rank rank = relation_.rank_of(earlier);
    for (std::int32_t chain = first_of_[at(rank)]; chain < first_of_[at(rank) + 1]; ++chain) {
      if (complete_[at(chain)][at(relation_.local(earlier))] < known[chain]) return true;
    }
    return false;
  }

 private:
  // The chains of a rank's first few counters, or streams.
  struct Few {
    std::size_t most;
    Index<3> keys = {};
    std::vector<std::int32_t> chains = {};  // by key
  };

  // Counters set at others have a chain for each of these.
  static Index<3>::Key key(const Operation& operation) {
    if (operation.kind == Kind::publish) return {static_cast<std::int64_t>(Kind::publish), 0, operation.counter};
    const bool counter = counts(operation.kind);
    return {static_cast<std::int64_t>(operation.kind), operation.peer, counter ? operation.counter : operation.channel};
  }

  void divide(Rank rank, const std::vector<bool>& awaited) {
    Few counters{.most = 6};
    Few streams{.most = 2};
    for (std::int32_t instance = 0; instance < relation_.rank(rank).size(); ++instance) {
      const Id id = relation_.global(rank, instance);
      if (!awaited[at(id)]) continue;
      const Operation& of = relation_.operation(id);
      const std::int32_t chain = chain_of(counts(of.kind) ? counters : streams, key(of));
      if (chain >= 0) append(chain, id);
    }
    first_of_.push_back(size());
  }

  // -1: none.
  std::int32_t chain_of(Few& known, const Index<3>::Key& key) {
    const std::int32_t number = known.keys.find(key);
    if (number >= 0) return known.chains[at(number)];
    if (known.chains.size() == known.most) return -1;
    known.keys.add(key);
    chains_.emplace_back();
    return known.chains.emplace_back(size() - 1);
  }

  void append(std::int32_t number, Id id) {
    std::vector<Id>& chain = chains_[at(number)];
    if (!chain.empty() && !follows(chain.back(), id)) return;
    link_[at(id)] = static_cast<std::int32_t>(links_.size());
    links_.push_back({number, static_cast<std::int32_t>(chain.size())});
    chain.push_back(id);
  }

  // Deposits in a box may be in no order.
  bool follows(Id before, Id id) const {
    return relation_.rank(relation_.rank_of(id)).ordered(relation_.local(before), relation_.local(id), true);
  }

  // Of each operation of a rank, by which link of each chain it is complete.
  void find_complete(Rank rank) {
    constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max();
    complete_.resize(at(first_of_[at(rank) + 1]));
    std::vector<Id> left;
    for (std::int32_t chain = first_of_[at(rank)]; chain < first_of_[at(rank) + 1]; ++chain) {
      std::vector<std::int32_t>& complete = complete_[at(chain)];
      complete.assign(at(relation_.rank(rank).size()), never);
      std::vector<bool> seen(complete.size());
      for (std::int32_t position = 0; position < static_cast<std::int32_t>(chains_[at(chain)].size()); ++position) {
        left.assign(1, chains_[at(chain)][at(position)]);
        seen[at(relation_.local(left.front()))] = true;
        while (!left.empty()) {
          const Id id = left.back();
          left.pop_back();
          relation_.for_each_predecessor(id, [&](Id before, bool posted_only) {
            const std::size_t local = at(relation_.local(before));
            if (!posted_only) complete[local] = std::min(complete[local], position);
            if (!seen[local]) left.push_back(before);
            seen[local] = true;
            return true;
          });
        }
      }
    }
  }

  const HappensBefore& relation_;
  std::vector<std::int32_t> link_;  // of each operation: its place in links_, or -1
  std::vector<Link> links_;
  std::vector<std::vector<Id>> chains_;
  std::vector<std::int32_t> first_of_ = {0};         // of each rank's chains
  std::vector<std::vector<std::int32_t>> complete_;  // by chain and instance of its rank
};

// What each operation knows, in the order of events: of each chain how many are posted before it (a vector clock). Kept
// only until all that follow have seen it, and shared where nothing is added. In a pipeline of thousands of ranks that
// is still too much.
class Clocks {
 public:
  Clocks(const HappensBefore& relation, const Chains& chains)
      : relation_(relation), chains_(chains), clock_(at(relation.size()), 0), readers_(clock_.size()) {
    holders_.assign(1, 1);  // the first clock knows nothing, and stays
    values_.push_back(std::make_unique<std::int32_t[]>(at(chains.size())));
    for (Id id = 0; id < relation.size(); ++id) {
      for_each_source(relation, id, [&](Id source) { ++readers_[at(source)]; });
    }
  }

  bool are_too_large() const { return values_.size() * at(chains_.size()) > most; }

  // Takes the operations in the order of events. The result holds until the next call.
  const std::int32_t* operator()(Id id) {
    std::int32_t own = -1;
    for_each_source(relation_, id, [&](Id source) {
      join(own, source);
      if (--readers_[at(source)] == 0) release(clock_[at(source)]);
    });
    if (own < 0) own = hold(0);
    if (const Chains::Link* link = chains_.link_of(id)) {
      make_unique(own);
      values(own)[link->chain] = link->position + 1;
    }
    clock_[at(id)] = own;
    if (readers_[at(id)] == 0) release(own);
    return values(own);
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 28U;  // values, 1 GiB

  std::int32_t* values(std::int32_t clock) { return values_[at(clock)].get(); }

  std::int32_t hold(std::int32_t clock) {
    ++holders_[at(clock)];
    return clock;
  }
  void release(std::int32_t clock) {
    if (--holders_[at(clock)] == 0) unused_.push_back(clock);
  }

  void join(std::int32_t& own, Id source) {
    const std::int32_t other = clock_[at(source)];
    if (own < 0) {
      own = hold(other);
      return;
    }
    if (own == other) return;
    const Chains::Link* link = chains_.link_of(source);
    if (link && values(own)[link->chain] > link->position) return;  // and, mostly, all that it knew
    const auto count = chains_.size();
    const bool shared = holders_[at(own)] > 1;
    if (shared && std::equal(values(other), values(other) + count, values(own), std::less_equal<>())) return;
    make_unique(own);
    std::transform(values(own), values(own) + count, values(other), values(own),
                   [](std::int32_t a, std::int32_t b) { return std::max(a, b); });
  }

  void make_unique(std::int32_t& clock) {
    if (holders_[at(clock)] == 1) return;
    auto copy = static_cast<std::int32_t>(holders_.size());
    if (unused_.empty()) {
      holders_.push_back(0);
      values_.push_back(std::make_unique<std::int32_t[]>(at(chains_.size())));
    } else {
      copy = unused_.back();
      unused_.pop_back();
    }
    std::copy_n(values(clock), chains_.size(), values(copy));
    release(clock);
    clock = hold(copy);
  }

  const HappensBefore& relation_;
  const Chains& chains_;
  std::vector<std::int32_t> clock_;                      // of each operation
  std::vector<std::int32_t> readers_;                    // of each: that have not seen it yet
  std::vector<std::unique_ptr<std::int32_t[]>> values_;  // of each clock, by chain
  std::vector<std::int32_t> holders_;                    // of each clock: operations
  std::vector<std::int32_t> unused_;
};

// What is known to be posted before an operation, found from there backwards.
class Search {
 public:
  explicit Search(const HappensBefore& relation) : relation_(relation), seen_(at(relation.size())) {}

  // Mostly it follows from what the two ranks have done, while all together have done thousands of things between them.
  bool finds_ordered(const Pair& pair) {
    const Rank one = relation_.rank_of(pair.earlier);
    const Rank other = relation_.rank_of(pair.later);
    return finds(pair, [&](Id id) { return relation_.rank_of(id) == one || relation_.rank_of(id) == other; }) ||
           finds(pair, [](Id) { return true; });
  }

 private:
  // By way of some operations only.
  template <class Includes>
  bool finds(const Pair& pair, const Includes& includes) {
    const std::int64_t since = relation_.posted(pair.earlier);
    ++number_;
    left_.assign(1, pair.later);
    bool found = false;
    const auto push = [&](Id id) {
      if (relation_.posted(id) < since || !includes(id)) return;
      if (std::exchange(seen_[at(id)], number_) != number_) left_.push_back(id);
    };
    for (std::size_t next = 0; next < left_.size() && !found; ++next) {
      relation_.for_each_predecessor(left_[next], [&](Id before, bool posted_only) {
        found = before == pair.earlier && !posted_only;
        push(before);
        if (!posted_only) relation_.for_each_remote_cause(before, push);
        return !found;
      });
    }
    return found;
  }

  const HappensBefore& relation_;
  std::int32_t number_ = 0;
  std::vector<Id> left_;
  std::vector<std::int32_t> seen_;  // of each: the last search that came to it
};

}  // namespace

std::ptrdiff_t first_unordered(const HappensBefore& relation, std::span<const Pair> pairs) {
  if (pairs.empty()) return -1;
  const auto pair = [&](std::ptrdiff_t i) -> const Pair& { return pairs[static_cast<std::size_t>(i)]; };
  std::vector<std::ptrdiff_t> open(pairs.size());
  std::iota(open.begin(), open.end(), 0);
  std::sort(open.begin(), open.end(), [&](std::ptrdiff_t a, std::ptrdiff_t b) {
    return std::pair(relation.posted(pair(a).later), a) < std::pair(relation.posted(pair(b).later), b);
  });
  const Chains chains(relation);
  std::optional<Clocks> clocks(std::in_place, relation, chains);
  Search search(relation);
  std::ptrdiff_t first = -1;
  auto next = open.begin();
  for (const Id id : relation.in_order_of_events()) {
    const std::int32_t* known = clocks ? (*clocks)(id) : nullptr;
    for (; next != open.end() && pair(*next).later == id; ++next) {
      if (first >= 0 && *next > first) continue;
      // What clocks do not show may be so all the same: without another rank, or by operations that are in no chain.
      const bool shown = known && chains.is_complete(pair(*next).earlier, known);
      if (!shown && !search.finds_ordered(pair(*next))) first = *next;
    }
    if (next == open.end()) break;
    if (clocks && clocks->are_too_large()) clocks.reset();
  }
  return first;
}

bool found_ordered(const HappensBefore& relation, const Pair& pair) {
  return Search(relation).finds_ordered(pair);
}

}  // namespace quadrille::verify
