#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layout/layout.hpp"

namespace quadrille::redistribute {

// Elements from an address on: as their layout has them, gaps included, or packed. Gaps are never written.
struct Elements {
  std::byte* memory = nullptr;
  const Layout* layout = nullptr;  // null: packed

  // Those behind the first `count`, of so many packed bytes each.
  Elements behind(std::int64_t count, std::int64_t bytes) const {
    return {byte_at(memory, count * (layout ? layout->extent() : bytes)), layout};
  }
};

// Both know elements of `bytes` packed bytes.

// The ranges may overlap if both are of one buffer and the target is the lower one.
void move(const Elements& to, const Elements& from, std::int64_t count, std::int64_t bytes);
// The ranges must not overlap. `aside` is for a part of them, of any length.
void exchange(const Elements& a, const Elements& b, std::int64_t count, std::int64_t bytes, std::span<std::byte> aside);

}  // namespace quadrille::redistribute
