#include "engine/agreement.hpp"

#include <fmt/format.h>

#include <quadrille/error.hpp>
#include <utility>

#include "algorithms/catalogue.hpp"
#include "engine/mpi.hpp"
#include "engine/reduction.hpp"
#include "meet/words.hpp"
#include "patterns/ring.hpp"

namespace quadrille::engine {

namespace {

std::string call(const Opinion::Camp& camp) {
  const Case& asked = camp.asked;
  const Traits of = traits(asked.collective);
  std::string text = fmt::format("{} ({})", name(asked.collective), name_of(camp.variant));
  const bool to_root = of.input == Traits::Side::own;
  if (of.rooted) text += fmt::format(" {} root {}", to_root ? "to" : "from", asked.root);
  if (of.moves_data() && sizes_are_known(asked.collective)) {
    text += fmt::format(" of {} {}", asked.count, of.reduces ? "elements" : "bytes");
  }
  if (camp.shares != 0) text += fmt::format(" in shares with the mark {:x}", camp.shares);
  if (of.reduces) text += fmt::format(" of {} bytes each", asked.unit_bytes);
  if (asked.in_place) text += " in place";
  if (asked.fixed_order) text += " in a fixed order";
  if (!asked.commutative && !asked.fixed_order) text += " by an operation that does not commute";
  if (asked.memory > 0) text += fmt::format(" within {} bytes", asked.memory);
  if (asked.operation >= 0) text += fmt::format(" by {}", name_of_operation(asked.operation));
  return text;
}

void add(Opinion& opinion, const Opinion::Camp& camp) {
  if (camp.ranks == 0) return;
  if (camp.agrees_with(opinion.lowest)) {
    opinion.lowest.ranks += camp.ranks;
  } else if (opinion.unanimous()) {
    opinion.other = camp;
  } else if (camp.agrees_with(opinion.other)) {
    opinion.other.ranks += camp.ranks;
  } else {
    opinion.neither += camp.ranks;
  }
}

}  // namespace

void merge_opinions(const void* left, void* right, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    Opinion merged = static_cast<const Opinion*>(left)[i];
    Opinion& target = static_cast<Opinion*>(right)[i];
    add(merged, target.lowest);
    add(merged, target.other);
    merged.neither += target.neither;
    target = merged;
  }
}

std::string disagreement(const Opinion& opinion, std::int64_t sequence) {
  const bool lowest_is_odd = opinion.lowest.ranks < opinion.other.ranks;
  const Opinion::Camp& odd = lowest_is_odd ? opinion.lowest : opinion.other;
  const Opinion::Camp& rest = lowest_is_odd ? opinion.other : opinion.lowest;
  const auto who = [](const Opinion::Camp& camp) {
    if (camp.ranks == 1) return fmt::format("rank {} calls", camp.first);
    return fmt::format("rank {} and {} more call", camp.first, camp.ranks - 1);
  };
  std::string text = fmt::format("collective number {} on this communicator differs among ranks: {} {}, but {} {}",
                                 sequence, who(odd), call(odd), who(rest), call(rest));
  if (opinion.neither > 0) text += fmt::format("; {} more do neither", opinion.neither);
  return text;
}

Schedule agreement_schedule(Rank rank, Rank ranks) {
  const Algorithm& allreduce = *find_algorithm(Collective::allreduce, "recursive_doubling");
  Builder builder(rank, ranks, Unit::elements);
  if (ranks > 1) {
    builder.use_channel(arrival_channel);
    builder.send_signal(patterns::at_distance(rank, 1, ranks));
    builder.receive_signal(patterns::at_distance(rank, -1, ranks));
    builder.use_channel(0);
  }
  allreduce.build(builder,
                  problem_of(Collective::allreduce, {.rank = rank, .ranks = ranks, .count = 1, .commutative = false}));
  return builder.finish(agreement_channels);
}

CompareCalls::CompareCalls(std::shared_ptr<const Program> agreement, const Opinion::Camp& own, std::int64_t number)
    : agreement_(std::move(agreement)), number_(number) {
  mine_.lowest = own;
}

bool CompareCalls::next(Phase& phase) {
  if (std::exchange(exchanged_, true)) {
    if (!all_.unanimous()) throw Error(MPI_ERR_OTHER, disagreement(all_, number_));
    return false;
  }
  phase = meet::merge_words(agreement_, mine_, all_, merge_opinions);
  return true;
}

}  // namespace quadrille::engine
