#include "verify/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "verify/explanation.hpp"
#include "verify/order.hpp"

namespace quadrille::verify {

namespace {

std::string ill_formed(const Subject& subject) {
  const Schedule& first = subject.schedules.front();
  const auto ranks = static_cast<Rank>(subject.schedules.size());
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Schedule& schedule = subject.schedules[static_cast<std::size_t>(rank)];
    if (schedule.rank != rank || schedule.ranks != ranks)
      return fmt::format("rank {} has the schedule of another rank", rank);
    std::string why = malformed(schedule);
    const auto shares_memory = [&](Rank other) { return subject.share_memory(rank, other); };
    if (why.empty()) why = beyond_shared_memory(schedule, shares_memory);
    if (!why.empty()) return fmt::format("rank {}: {}", rank, why);
    const bool alike = schedule.unit == first.unit && schedule.channels == first.channels &&
                       schedule.counters == first.counters && schedule.counter_span == first.counter_span &&
                       schedule.slots == first.slots && schedule.notices == first.notices &&
                       schedule.notice_span == first.notice_span && schedule.boxes == first.boxes &&
                       schedule.staging == first.staging;
    if (!alike) {
      return fmt::format("rank {} declares different units, channels, counters, slots, boxes or staging than rank 0",
                         rank);
    }
    for (Rank other : schedule.offload) {
      const bool known = other >= 0 && other < ranks;
      if (!known || subject.schedules[static_cast<std::size_t>(other)].offload != schedule.offload) {
        return fmt::format("rank {} runs collectives of the MPI's own among other ranks than rank {}", rank, other);
      }
    }
    if (schedule.scratch_units() > subject.scratch_limit) {
      return fmt::format("rank {} uses {} units of scratch, more than the {} declared", rank, schedule.scratch_units(),
                         subject.scratch_limit);
    }
    for (const Loop& loop : schedule.loops) {
      const bool callers = loop.over.buffer == Buffer::input || loop.over.buffer == Buffer::output;
      const bool nowhere = callers && subject.units(rank, loop.over.buffer, loop.over.block) < 0;
      if (loop.chunk > 0 && nowhere) return fmt::format("rank {}: a chunk loop over no block", rank);
    }
  }
  return {};
}

// Every put must be complete before the collective ends.
std::string unflushed_put(const Execution& execution) {
  for (const Unrolled& rank : execution.ranks) {
    for (std::int32_t instance = 0; instance < rank.size(); ++instance) {
      if (rank.operation(instance).kind == Kind::put && rank.flush_of(instance) < 0) {
        return fmt::format("rank {}: a put that is never flushed", rank.schedule().rank);
      }
    }
  }
  return {};
}

class Results {
 public:
  Results(const Subject& subject, const Execution& execution, Expressions& expressions)
      : subject_(subject), execution_(execution), expressions_(expressions) {}

  std::string fault() {
    for (Rank rank = 0; rank < static_cast<Rank>(subject_.meanings.size()); ++rank) {
      for (const Meaning& meaning : subject_.meanings[static_cast<std::size_t>(rank)]) {
        const Range range{meaning.output.offset, meaning.output.offset + length(rank, meaning)};
        if (range.empty()) continue;
        const auto held = read(rank, meaning.output, range);
        if (!held) return fmt::format("rank {}: part of the output was never written", rank);
        const bool right = meaning.reduced ? is_reduction(rank, meaning, *held) : is_moved(meaning, *held);
        if (right) continue;
        return fmt::format("rank {}: wrong output in {} block {}, {}", rank, name(meaning.output.buffer),
                           meaning.output.block,
                           meaning.reduced ? why_not_reduced(meaning, *held) : why_not_moved(meaning, *held));
      }
    }
    return {};
  }

 private:
  std::int64_t length(Rank rank, const Meaning& meaning) const {
    if (meaning.output.length != whole) return meaning.output.length;
    return subject_.units(rank, meaning.output.buffer, meaning.output.block) - meaning.output.offset;
  }

  std::optional<std::vector<Held>> read(Rank rank, const Region& region, Range range) {
    const Memory& memory = execution_.memory[static_cast<std::size_t>(rank)];
    if (const auto* touched = memory.find(region.buffer, region.block)) return touched->contents.read(range);
    return initial_contents(subject_, expressions_, rank, region.buffer, region.block).read(range);
  }

  bool is_moved(const Meaning& meaning, const std::vector<Held>& held) {
    const std::int32_t source = expressions_.leaf(meaning.source, meaning.from.buffer, meaning.from.block);
    return held.size() == 1 && held.front().value == Value{source, meaning.from.offset};
  }

  bool is_complete(const Meaning& meaning, const Held& piece) const {
    const std::int32_t expression = piece.value.expression;
    return piece.value.offset == meaning.from.offset + piece.range.begin &&
           (subject_.fixed_order ? expressions_.folds_all(expression, meaning.end, meaning.from.block)
                                 : expressions_.combines_all(expression, meaning.end, meaning.from.block));
  }

  // Each expression combines all contributing ranks, at its own index, and is the same on every rank with this result.
  bool is_reduction(Rank rank, const Meaning& meaning, const std::vector<Held>& held) {
    const bool complete =
        std::all_of(held.begin(), held.end(), [&](const Held& piece) { return is_complete(meaning, piece); });
    const auto [first, fresh] =
        reductions_.try_emplace({meaning.from.block, meaning.from.offset, meaning.end}, FirstHeld{rank, held});
    return complete && (fresh || first->second.held == held);
  }

  std::string why_not_reduced(const Meaning& meaning, const std::vector<Held>& held) const {
    const FirstHeld& first = reductions_.at({meaning.from.block, meaning.from.offset, meaning.end});
    for (const Held& piece : held) {
      if (!is_complete(meaning, piece)) return why_incomplete(expressions_, subject_, meaning, piece);
    }
    return why_different(expressions_, held, first.rank, first.held);
  }

  std::string why_not_moved(const Meaning& meaning, const std::vector<Held>& held) const {
    const auto differs = [&](const Held& piece) {
      return piece.value != Value{expressions_.leaf(meaning.source, meaning.from.buffer, meaning.from.block),
                                  meaning.from.offset + piece.range.begin};
    };
    const auto wrong = std::find_if(held.begin(), held.end(), differs);
    return why_moved_wrongly(expressions_, meaning, wrong == held.end() ? held.front() : *wrong);
  }

  const Subject& subject_;
  const Execution& execution_;
  Expressions& expressions_;
  // What the first rank with a result has, to which that of all others is compared.
  struct FirstHeld {
    Rank rank;
    std::vector<Held> held;
  };
  std::map<std::tuple<std::int32_t, std::int64_t, Rank>, FirstHeld> reductions_;
};

}  // namespace

ProofResult prove(const Subject& subject) {
  ProofResult verdict;
  verdict.fault = ill_formed(subject);
  if (!verdict.proved()) return verdict;
  Expressions expressions(subject.commutative);
  const Execution execution = execute(subject, expressions);
  verdict.steps = execution.steps;
  for (const Matched& message : transfers(execution)) {
    ++verdict.messages;
    verdict.units += message.units;
  }
  verdict.fault = execution.fault;
  if (verdict.proved()) verdict.fault = unordered_stream(subject, execution);
  if (verdict.proved()) verdict.fault = unflushed_put(execution);
  if (verdict.proved()) verdict.fault = race_on_own_memory(subject, execution);
  if (verdict.proved()) verdict.fault = race_on_slots(subject, execution);
  if (verdict.proved()) verdict.fault = missing_synchronisation(subject, execution);
  if (verdict.proved()) verdict.fault = Results(subject, execution, expressions).fault();
  return verdict;
}

}  // namespace quadrille::verify
