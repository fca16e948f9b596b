#include "select/budget.hpp"

#include <bit>

#include "run/arena.hpp"

namespace quadrille {

namespace {

constexpr std::int64_t parts_in_budget = 16;
constexpr std::int64_t segments_in_budget = 32;

// A budget makes at least so many chunks, half of them where they would be short, and fewer where they would not be
// worth a message. First there are more partners, then more chunks under way with each.
constexpr std::int64_t chunks_in_budget = 4;
constexpr std::int64_t short_chunk = 8 << 10;
constexpr std::int64_t shortest_chunk = 1024;
constexpr std::int64_t long_chunk = 32 << 10;
constexpr Rank most_partners = 8;
constexpr std::int64_t most_chunks = 16;  // more only queue up in the network
// What a chunk that must be packed takes: its place in the ring and, packed, on its way out; and, since as many
// partners need no ring, on its way out and in with those.
constexpr std::int64_t times_if_packed = 4;

// Packed messages of an irregular exchange: one in five is sent, since a rank that grants little gets little.
constexpr std::int64_t shortest_part = 64;
constexpr std::int64_t most_packed = 10;
constexpr std::int64_t sent_of_packed = 5;

std::int64_t taken(const Chunking& chunking, const ChunkingNeeds& needs) {
  const std::int64_t in_flight = std::int64_t{chunking.partners} * chunking.window;
  const std::int64_t rings = in_flight + (needs.spare ? chunking.partners : 0);
  return Arena::taken_for(rings * chunking.chunk) +
         (needs.packed ? (times_if_packed - 1) * in_flight * Arena::taken_for(chunking.chunk) : 0);
}

}  // namespace

std::int64_t Budget::part(std::int64_t longest) const {
  return limited() ? std::clamp(bytes_ / parts_in_budget, std::int64_t{1}, longest) : longest;
}

std::int64_t Budget::segment(std::int64_t longest) const {
  return limited() ? std::clamp(bytes_ / segments_in_budget, std::int64_t{1}, longest) : longest;
}

std::int64_t Budget::needed(std::int64_t scratch_bytes, std::int64_t longest_part) const {
  // Scratch may be several blocks, each rounded up.
  const std::int64_t scratch = scratch_bytes == 0 ? 0 : scratch_bytes / 8 * 9 + 8 * Arena::taken_for(1);
  return scratch + 2 * packed_in_flight * Arena::taken_for(part(longest_part));
}

Chunking Budget::chunking(const ChunkingNeeds& needs) const {
  // All that the chunk depends on besides the budget is the same on all ranks, if they are to have the same.
  ChunkingNeeds worst = needs;
  worst.packed = needs.packed || needs.packed_anywhere;
  const std::int64_t share = bytes_ / (worst.packed ? times_if_packed : 1);
  const std::int64_t least = std::min({share, shortest_chunk, needs.longest});
  const std::int64_t even = share / chunks_in_budget;
  Chunking made;
  made.chunk =
      std::clamp(even < short_chunk ? 2 * even : even, least, std::max(least, std::min(long_chunk, needs.longest)));
  while (made.chunk > 0 && taken(made, worst) > bytes_) made.chunk -= std::max<std::int64_t>(1, made.chunk / 8);
  if (made.chunk == 0) return made;
  // Few lengths, so that calls with a little more or less data have the same schedule; a power of two of them fits a
  // block of the arena.
  const int digits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(made.chunk)));
  made.chunk &= ~((std::int64_t{1} << std::max(0, digits - 4)) - 1);
  const std::int64_t slots = bytes_ / (needs.packed ? times_if_packed : 1) / made.chunk;
  const Rank others = std::max<Rank>(1, needs.ranks - 1);
  made.partners = static_cast<Rank>(
      std::clamp<std::int64_t>(slots / (needs.spare ? 2 : 1), 1, std::min({others, most_partners, needs.partners})));
  made.window = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(slots / made.partners - (needs.spare ? 1 : 0), 1, most_chunks / made.partners));
  while (made.window > 1 && taken(made, needs) > bytes_) --made.window;
  while (made.partners > 1 && taken(made, needs) > bytes_) --made.partners;
  made.bytes = taken(made, needs);
  return made;
}

Packing Budget::packing(std::int64_t kept, std::int64_t longest) const {
  if (bytes_ < least_to_pack(kept)) return {};
  const std::int64_t share = (bytes_ - Arena::taken_for(kept)) / 2;
  Packing made;
  made.part = std::min(std::max(share / most_packed, shortest_part), longest);
  const std::int64_t each = Arena::taken_for(made.part);
  const std::int64_t messages = std::clamp<std::int64_t>(share / each, 2, most_packed);
  made.sends = std::max<std::int64_t>(1, messages / sent_of_packed);
  made.receives = messages - made.sends;
  made.bytes = messages * each;
  return made;
}

std::int64_t Budget::least_to_pack(std::int64_t kept) {
  return Arena::taken_for(kept) + 2 * Arena::taken_for(shortest_part);
}

}  // namespace quadrille
