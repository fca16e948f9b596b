#include "redistribute/elements.hpp"

#include <algorithm>
#include <cstring>

namespace quadrille::redistribute {

namespace {

// As a range of packed bytes, whichever way they lie.
Typed typed(const Elements& elements, std::int64_t count, std::int64_t bytes) {
  static const Layout byte = Layout::basic(1);
  if (elements.layout) return {elements.memory, count, elements.layout};
  return {elements.memory, count * bytes, &byte};
}

}  // namespace

void move(const Elements& to, const Elements& from, std::int64_t count, std::int64_t bytes) {
  if (!to.layout && !from.layout) {
    std::memmove(to.memory, from.memory, static_cast<std::size_t>(count * bytes));
  } else {
    transfer(typed(from, count, bytes), 0, typed(to, count, bytes), 0, count * bytes);
  }
}

void exchange(const Elements& a, const Elements& b, std::int64_t count, std::int64_t bytes,
              std::span<std::byte> aside) {
  const std::int64_t total = count * bytes;
  const auto most = static_cast<std::int64_t>(aside.size());
  const Typed one = typed(a, count, bytes);
  const Typed other = typed(b, count, bytes);
  for (std::int64_t done = 0; done < total; done += most) {
    const std::int64_t part = std::min(most, total - done);
    if (!a.layout && !b.layout) {
      const auto size = static_cast<std::size_t>(part);
      std::memcpy(aside.data(), a.memory + done, size);
      std::memcpy(a.memory + done, b.memory + done, size);
      std::memcpy(b.memory + done, aside.data(), size);
    } else {
      const Typed kept = typed({aside.data()}, part, 1);
      transfer(one, done, kept, 0, part);
      transfer(other, done, one, done, part);
      transfer(kept, 0, other, done, part);
    }
  }
}

}  // namespace quadrille::redistribute
