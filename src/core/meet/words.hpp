#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "layout/layout.hpp"
#include "run/plan.hpp"

namespace quadrille::meet {

// What all ranks say to each other between collectives: plain bytes of one size.

// A block of memory, as phases bind it.
std::vector<Typed> as_bytes(void* memory, std::int64_t bytes);

// A phase in which every rank gets the words of all. `allgather` is the program of an allgather of sizeof(Word) bytes;
// `mine` must stay until the phase has ended, and `all` gets the words by rank.
template <class Word>
Phase gather_words(std::shared_ptr<const Program> allgather, Word& mine, std::vector<Word>& all) {
  static_assert(std::is_trivially_copyable_v<Word>);
  const Rank ranks = allgather->schedule().ranks;
  all.resize(static_cast<std::size_t>(ranks));
  Phase phase;
  phase.program = std::move(allgather);
  phase.binding.input = as_bytes(&mine, sizeof(Word));
  phase.binding.output = as_bytes(all.data(), ranks * static_cast<std::int64_t>(sizeof(Word)));
  return phase;
}
// The algorithm of that allgather. Its partners are those of merging_words(), to which there are connections then.
inline Variant gathering_words() {
  return variant_named(Collective::allgather, "recursive_doubling");
}

// A phase in which the words of all ranks become one, by merge(left, right, count). `allreduce` is the program of an
// allreduce of one element.
template <class Word>
Phase merge_words(std::shared_ptr<const Program> allreduce, Word& mine, Word& all, ReduceFunction merge) {
  static_assert(std::is_trivially_copyable_v<Word>);
  static const Layout& layout = *new Layout(Layout::basic(sizeof(Word)));  // for calls in destructors after main
  Phase phase;
  phase.program = std::move(allreduce);
  phase.element = &layout;
  phase.binding.input = {{reinterpret_cast<std::byte*>(&mine), 1, &layout}};
  phase.binding.output = {{reinterpret_cast<std::byte*>(&all), 1, &layout}};
  phase.binding.reduce = std::move(merge);
  return phase;
}
// The algorithm of that allreduce.
inline Variant merging_words() {
  return variant_named(Collective::allreduce, "recursive_doubling");
}

// A phase in which one rank's word goes to others, by the program of a bcast of sizeof(Word) bytes.
template <class Word>
Phase spread_word(std::shared_ptr<const Program> bcast, Word& word) {
  static_assert(std::is_trivially_copyable_v<Word>);
  Phase phase;
  phase.program = std::move(bcast);
  phase.binding.output = as_bytes(&word, sizeof(Word));
  return phase;
}
// The algorithm of that bcast.
inline Variant spreading_a_word() {
  return variant_named(Collective::bcast, "binomial");
}

}  // namespace quadrille::meet
