#include "engine/mistakes.hpp"

#include <algorithm>
#include <vector>

#include "schedule/data.hpp"

namespace quadrille::engine::mistakes {

using Of = Complaint::Of;

Complaint negative(Integers counts, Integers at) {
  for (const Integers numbers : {counts, at}) {
    const auto found = std::find_if(numbers.begin(), numbers.end(), [](std::int64_t one) { return one < 0; });
    if (found != numbers.end()) return {Of::negative, *found};
  }
  return {};
}

Complaint excessive(Integers counts, Integers at, std::int64_t element_bytes) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::int64_t end = 0;
    std::int64_t bytes = 0;
    const bool fits =
        !__builtin_add_overflow(total, counts[i], &total) && !__builtin_mul_overflow(total, element_bytes, &bytes) &&
        !__builtin_add_overflow(at[i], counts[i], &end) && !__builtin_mul_overflow(end, element_bytes, &bytes);
    if (!fits) return {Of::excess, 0};
  }
  return {};
}

Complaint misplaced(Integers counts, Integers at, std::int64_t elements) {
  std::vector<Range> blocks;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) blocks.push_back({at[i], at[i] + counts[i]});
  }
  std::sort(blocks.begin(), blocks.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    if (blocks[i].begin < blocks[i - 1].end) return {Of::overlap, blocks[i].begin};
  }
  if (elements >= 0 && !blocks.empty() && blocks.back().end > elements) return {Of::outside, blocks.back().end};
  return {};
}

}  // namespace quadrille::engine::mistakes
