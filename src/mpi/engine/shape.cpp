#include "engine/shape.hpp"

namespace quadrille::engine {

namespace {

// A sum of products, which a processor makes all at once: each value has an odd factor of its own.
template <class... Values>
std::size_t hash_of(Values... values) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  std::uint64_t factor = golden;
  std::uint64_t sum = 0;
  ((sum += (CallKey::bits(values) ^ CallKey::bits(values) >> 32U) * factor, factor += 2 * golden), ...);
  return (sum ^ sum >> 32U) * golden;
}

}  // namespace

std::size_t ShapeHash::operator()(const Shape& shape) const {
  const int flags = (shape.in_place ? 1 : 0) + (shape.commutative ? 2 : 0) + (shape.fixed_order ? 4 : 0) +
                    (shape.packed ? 8 : 0) + (shape.swaps ? 16 : 0) + (shape.offloads ? 32 : 0) +
                    (shape.exposed ? 64 : 0) + (shape.pulls ? 128 : 0);
  return hash_of(shape.variant.place, shape.variant.width, shape.variant.segment, shape.variant.window, shape.root,
                 shape.count, shape.shares.get(), shape.unit_bytes, shape.room, shape.budget.bytes(), flags);
}

}  // namespace quadrille::engine
