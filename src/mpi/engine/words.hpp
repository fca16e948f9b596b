#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "layout/layout.hpp"
#include "run/plan.hpp"

namespace quadrille::engine {

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
// The algorithm of that allgather.
inline Variant gathering_words() {
  return variant_named(Collective::allgather, "bruck");
}

}  // namespace quadrille::engine
