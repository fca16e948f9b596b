#include "algorithms/node.hpp"

#include <algorithm>

#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::node {

namespace {

// Ranks that are few wherever they are: none looks at more than 4 log2 of them.
constexpr Rank few = 16;
// What a rank reads in the time that it waits for shares.
constexpr std::int64_t read_while_waiting = 12 << 10;
// The longest data that each of many ranks reads from all others.
constexpr std::int64_t most_read_by_all = 1 << 10;
// Where ranks share cores, a wait is a turn of all of them, and reading is a turn of those that read.
constexpr std::int64_t most_read_in_turns = 6 << 10;
constexpr std::int64_t most_read_by_root = 2 << 10;  // of each rank's turn

// The slot of another rank, which has the same number there.
Region place_of(const Builder& builder, const Cut& cut, const Region& slot, Rank owner, const Segment& segment) {
  return segment.in_ring(builder.slot_of(owner, slot.block, slot.length), cut.places);
}

// Waits until one rank, or every rank, no longer needs the piece that was in this place before.
void wait_for_place(Builder& builder, const Cut& cut, Rank reader, std::int32_t emptied, const Segment& segment) {
  if (cut.places_are_used_again()) builder.wait(reader, emptied, segment, cut.places);
}

void wait_for_place(Builder& builder, const Cut& cut, std::int32_t emptied, const Segment& segment) {
  for (Rank peer = 0; peer < builder.ranks(); ++peer) {
    if (peer != builder.rank()) wait_for_place(builder, cut, peer, emptied, segment);
  }
}

void leave_place(Builder& builder, const Cut& cut, std::int32_t emptied, const Segment& segment) {
  if (cut.places_are_used_again()) builder.publish(emptied, segment);
}

void wait_for_others(Builder& builder, std::int32_t counter, const Segment& segment) {
  for (Rank peer = 0; peer < builder.ranks(); ++peer) {
    if (peer != builder.rank()) builder.wait(peer, counter, segment);
  }
}

// Reduces the values of all ranks, in rank order. The target may overlap only the right operand, so only the last
// rank's value may be in the target.
template <class ValueOf>
void fold(Builder& builder, const ValueOf& value, const Region& result) {
  const Rank last = builder.ranks() - 1;
  for (Rank peer = last - 1; peer >= 0; --peer) {
    builder.reduce(value(peer), peer + 1 == last ? value(last) : result, result);
  }
}

}  // namespace

Cut Cut::of(std::int64_t units, std::int64_t room, std::int64_t most) {
  constexpr std::int64_t aligned = 64;
  constexpr std::int64_t most_places = 32;
  const std::int64_t limit = most > 0 ? most : room;
  if (units <= room && units <= limit) return {.piece = std::max<std::int64_t>(1, units), .pieces = 1, .slot = units};
  std::int64_t piece = std::min(room / (least_places + 1), limit);
  if (piece > aligned) piece = piece / aligned * aligned;
  const std::int64_t places = std::min(room / piece - 1, most_places);  // one is for the last, shorter piece
  return {.piece = piece,
          .pieces = patterns::segments(units, piece),
          .slot = std::min(units / piece, places) * piece + units % piece,
          .places = static_cast<std::int32_t>(places)};
}

Group ranks_of(const Problem& problem, Rank rank) {
  if (!problem.topology) return Group::all(problem.ranks);
  return problem.topology->domain(problem.topology->levels() - 1, rank);
}

Rank leader_of(const Problem& problem) {
  if (!problem.topology) return problem.root;
  return problem.topology->leader(problem.topology->levels() - 1, problem.rank, problem.root);
}

Rank most_ranks(const Problem& problem) {
  if (!problem.topology) return problem.ranks;
  return problem.topology->largest_domain(problem.topology->levels() - 1);
}

bool are_few(const Problem& problem, Rank ranks) {
  return ranks <= few || problem.crowded;
}

Barrier::Barrier(Builder& builder, const Problem& problem)
    : problem_(problem),
      arrived_(builder.counter(are_few(problem, most_ranks(problem)) ? 1 : patterns::ceil_log2(most_ranks(problem)))),
      released_(builder.counter(1)) {}

void Barrier::wait_for_others(Builder& builder) const {
  for (Rank peer = 0; peer < builder.ranks(); ++peer) {
    if (peer != builder.rank()) builder.wait(peer, arrived_, 1);
  }
}

void Barrier::together(Builder& builder) const {
  builder.in_order([&] {
    if (are_few(problem_, builder.ranks())) {
      builder.publish(arrived_, 1);
      wait_for_others(builder);
      return;
    }
    std::int64_t round = 0;
    for (Rank distance = 1; distance < builder.ranks(); distance *= 2) {
      builder.publish(arrived_, ++round);
      builder.wait(patterns::at_distance(builder.rank(), -distance, builder.ranks()), arrived_, round);
    }
  });
}

void Barrier::arrive(Builder& builder, Rank leader) const {
  builder.in_order([&] {
    if (are_few(problem_, builder.ranks())) {
      if (builder.rank() == leader) wait_for_others(builder);
    } else {
      const patterns::Tree tree = patterns::binomial_tree(builder.rank(), builder.ranks(), leader);
      for (Rank child : tree.backwards()) builder.wait(child, arrived_, 1);
    }
    if (builder.rank() != leader) builder.publish(arrived_, 1);
  });
}

void Barrier::depart(Builder& builder, Rank leader) const {
  if (builder.rank() == leader) {
    builder.publish(released_, 1);
  } else {
    builder.wait(leader, released_, 1);
  }
}

Bcast::Bcast(Builder& builder, const Cut& cut)
    : cut_(cut),
      slot_(builder.slot(cut.slot)),
      filled_(builder.counter(cut.pieces)),
      emptied_(builder.counter(cut.pieces)) {}

void Bcast::operator()(Builder& builder, Rank root, const Segment& segment, const Region& data) const {
  if (builder.ranks() == 1) return;
  const Region place = place_of(builder, cut_, slot_, root, segment);
  builder.in_order([&] {
    if (builder.rank() == root) {
      wait_for_place(builder, cut_, emptied_, segment);
      builder.copy(data, place);
      builder.publish(filled_, segment);
    } else {
      builder.wait(root, filled_, segment);
      builder.copy(place, data);
      leave_place(builder, cut_, emptied_, segment);
    }
  });
}

Reduce::Reduce(Builder& builder, const Problem& problem, const Cut& cut)
    : problem_(problem),
      cut_(cut),
      slot_(builder.slot(cut.slot)),
      filled_(builder.counter(cut.pieces)),
      reduced_(builder.counter(cut.pieces)),
      emptied_(builder.counter(cut.pieces)) {}

// Alone, a rank reads (ranks - 1) times the data; in shares, it reduces one of `ranks` and waits once more, and who
// needs the result copies it. Two ranks that both need it are never slower alone.
bool Reduce::is_alone(const Problem& problem, std::int64_t units, Rank ranks, bool to_all) {
  const std::int64_t bytes = units * problem.unit_bytes;
  if (to_all && ranks == 2) return true;
  if (problem.crowded) return bytes <= (to_all ? most_read_in_turns : most_read_by_root * ranks);
  return bytes <= most_read_by_all || bytes * (ranks - (to_all ? 2 : 1)) <= read_while_waiting;
}

void Reduce::to(Builder& builder, Rank root, const Segment& segment, const Region& input, const Region& output) const {
  reduce(builder, root, segment, input, output);
}

void Reduce::to_all(Builder& builder, const Segment& segment, const Region& input, const Region& output) const {
  reduce(builder, all_ranks, segment, input, output);
}

void Reduce::reduce(Builder& builder, Rank root, const Segment& segment, const Region& input,
                    const Region& output) const {
  if (builder.ranks() == 1) {
    builder.copy(input, output);
    return;
  }
  const bool alone = is_alone(problem_, segment.length, builder.ranks(), root == all_ranks);
  builder.in_order([&] {
    wait_for_place(builder, cut_, emptied_, segment);
    if (alone) {
      reduce_alone(builder, root, segment, input, output);
    } else {
      reduce_in_shares(builder, root == all_ranks || root == builder.rank(), segment, input, output);
    }
    leave_place(builder, cut_, emptied_, segment);
  });
}

Region Reduce::place(const Builder& builder, Rank owner, const Segment& segment) const {
  return place_of(builder, cut_, slot_, owner, segment);
}

void Reduce::reduce_alone(Builder& builder, Rank root, const Segment& segment, const Region& input,
                          const Region& output) const {
  const Rank self = builder.rank();
  const bool input_lasts = self + 1 == builder.ranks() || input != output;
  if (root != self || !input_lasts) builder.copy(input, place(builder, self, segment));
  if (root != self) builder.publish(filled_, segment);
  if (root != self && root != all_ranks) return;
  const auto value = [&](Rank of) { return of == self && input_lasts ? input : place(builder, of, segment); };
  wait_for_others(builder, filled_, segment);
  fold(builder, value, output);
}

void Reduce::reduce_in_shares(Builder& builder, bool wanted, const Segment& segment, const Region& input,
                              const Region& output) const {
  const Rank self = builder.rank();
  const Rank ranks = builder.ranks();
  const auto share = [&](Rank of) { return patterns::share(segment.length, of, ranks); };
  const Region own = place(builder, self, segment);
  const Range mine = share(self);
  const Range before{0, mine.begin};
  const Range behind{mine.end, segment.length};
  builder.copy(input.part(before), own.part(before));
  builder.copy(input.part(behind), own.part(behind));
  builder.publish(filled_, segment);

  const auto value = [&](Rank of) { return of == self ? input.part(mine) : place(builder, of, segment).part(mine); };
  wait_for_others(builder, filled_, segment);
  fold(builder, value, own.part(mine));
  builder.publish(reduced_, segment);

  if (!wanted) return;
  for (Rank step = 0; step < ranks; ++step) {
    const Rank peer = patterns::at_distance(self, step, ranks);
    if (peer != self) builder.wait(peer, reduced_, segment);
    builder.copy(place(builder, peer, segment).part(share(peer)), output.part(share(peer)));
  }
}

Scan::Scan(Builder& builder, const Cut& cut)
    : cut_(cut),
      slot_(builder.slot(cut.slot)),
      filled_(builder.counter(cut.pieces)),
      emptied_(builder.counter(cut.pieces)) {}

void Scan::operator()(Builder& builder, const Segment& segment, const Region& input, const Region& output) const {
  const Rank self = builder.rank();
  const auto place = [&](Rank of) { return place_of(builder, cut_, slot_, of, segment); };
  if (builder.ranks() == 1) {
    builder.copy(input, output);
    return;
  }
  builder.in_order([&] {
    wait_for_place(builder, cut_, emptied_, segment);
    builder.copy(input, place(self));
    builder.publish(filled_, segment);
    if (self == 0) builder.copy(input, output);
    for (Rank peer = self - 1; peer >= 0; --peer) {
      builder.wait(peer, filled_, segment);
      builder.reduce(place(peer), peer + 1 == self ? place(self) : output, output);
    }
    leave_place(builder, cut_, emptied_, segment);
  });
}

Gather::Gather(Builder& builder, const Cut& cut)
    : cut_(cut),
      slot_(builder.slot(cut.slot)),
      filled_(builder.counter(cut.pieces)),
      emptied_(builder.counter(cut.pieces)) {}

void Gather::put(Builder& builder, const Segment& segment, const Region& input) const {
  builder.copy(input, place_of(builder, cut_, slot_, builder.rank(), segment));
  builder.publish(filled_, segment);
}

void Gather::take(Builder& builder, const Segment& segment, const BlockOf& output) const {
  for (Rank step = 1; step < builder.ranks(); ++step) {
    const Rank peer = patterns::at_distance(builder.rank(), step, builder.ranks());
    builder.wait(peer, filled_, segment);
    builder.copy(place_of(builder, cut_, slot_, peer, segment), output(peer));
  }
  leave_place(builder, cut_, emptied_, segment);
}

void Gather::to(Builder& builder, Rank root, const Segment& segment, const Region& input, const BlockOf& output) const {
  builder.in_order([&] {
    if (builder.rank() == root) {
      builder.copy(input, output(root));
      take(builder, segment, output);
    } else {
      wait_for_place(builder, cut_, root, emptied_, segment);
      put(builder, segment, input);
    }
  });
}

void Gather::to_all(Builder& builder, const Segment& segment, const Region& input, const BlockOf& output) const {
  builder.in_order([&] {
    wait_for_place(builder, cut_, emptied_, segment);
    put(builder, segment, input);
    builder.copy(input, output(builder.rank()));
    take(builder, segment, output);
  });
}

Cut Scatter::cut_of(const Problem& problem, std::int64_t units) {
  return Cut::of(units, problem.room / most_ranks(problem));
}

Scatter::Scatter(Builder& builder, const Problem& problem, const Cut& cut)
    : cut_(cut),
      slot_(builder.slot(most_ranks(problem) * cut.slot)),
      filled_(builder.counter(cut.pieces)),
      emptied_(builder.counter(cut.pieces)) {}

Region Scatter::place(const Builder& builder, Rank owner, Rank target, const Segment& segment) const {
  const Region all = builder.slot_of(owner, slot_.block, slot_.length);
  return segment.in_ring(all.part(target * cut_.slot, cut_.slot), cut_.places);
}

void Scatter::put(Builder& builder, const Segment& segment, const BlockOf& input) const {
  const Rank self = builder.rank();
  for (Rank step = 1; step < builder.ranks(); ++step) {
    const Rank peer = patterns::at_distance(self, step, builder.ranks());
    wait_for_place(builder, cut_, peer, emptied_, segment);
    builder.copy(input(peer), place(builder, self, peer, segment));
  }
  builder.publish(filled_, segment);
}

void Scatter::take(Builder& builder, Rank owner, const Segment& segment, const Region& output) const {
  builder.wait(owner, filled_, segment);
  builder.copy(place(builder, owner, builder.rank(), segment), output);
}

void Scatter::from(Builder& builder, Rank root, const Segment& segment, const BlockOf& input,
                   const Region& output) const {
  builder.in_order([&] {
    if (builder.rank() == root) {
      put(builder, segment, input);
      builder.copy(input(root), output);
    } else {
      take(builder, root, segment, output);
      leave_place(builder, cut_, emptied_, segment);
    }
  });
}

void Scatter::from_all(Builder& builder, const Segment& segment, const BlockOf& input, const BlockOf& output) const {
  const Rank self = builder.rank();
  builder.in_order([&] {
    put(builder, segment, input);
    builder.copy(input(self), output(self));
    for (Rank step = 1; step < builder.ranks(); ++step) {
      const Rank peer = patterns::at_distance(self, -step, builder.ranks());
      take(builder, peer, segment, output(peer));
    }
    leave_place(builder, cut_, emptied_, segment);
  });
}

void Scatter::reduced(Builder& builder, const Segment& segment, const BlockOf& input, const Region& output) const {
  const Rank self = builder.rank();
  const bool input_lasts = self + 1 == builder.ranks() || input(self) != output;
  const auto value = [&](Rank of) {
    return of == self && input_lasts ? input(self) : place(builder, of, self, segment);
  };
  builder.in_order([&] {
    put(builder, segment, input);
    if (!input_lasts) builder.copy(input(self), place(builder, self, self, segment));
    wait_for_others(builder, filled_, segment);
    fold(builder, value, output);
    leave_place(builder, cut_, emptied_, segment);
  });
}

}  // namespace quadrille::node
