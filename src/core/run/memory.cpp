#include "run/memory.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace quadrille {

const Typed& Binding::block(Buffer buffer, std::int32_t index) const {
  switch (buffer) {
    case Buffer::input:
      return input.at(static_cast<std::size_t>(index));
    case Buffer::output:
      return output.at(static_cast<std::size_t>(index));
    case Buffer::scratch:
      return scratch.at(static_cast<std::size_t>(index));
    case Buffer::slot:
      return slots.at(static_cast<std::size_t>(index));
    case Buffer::box:
      return boxes.at(static_cast<std::size_t>(index));
    case Buffer::staging:
      return staging.at(static_cast<std::size_t>(index));
  }
  throw std::logic_error("Binding::block: no such buffer");
}

std::int64_t Binding::units(Buffer buffer, std::int32_t index) const {
  const Typed& of = block(buffer, index);
  return unit == Unit::elements ? of.count : of.count * of.layout->size();
}

std::byte* Placed::contiguous() const {
  const Layout& layout = *block.layout;
  if (layout.is_contiguous()) return byte_at(block.address, layout.lower_bound() + begin);
  std::byte* first = nullptr;
  const auto one_run = [&](std::span<const StridedRuns> batch) {
    const StridedRuns& runs = batch.front();
    if (runs.count == 1 && runs.length == length) first = byte_at(block.address, runs.offset);
    return false;
  };
  layout.for_each_batch(block.count, begin, begin + length, one_run);
  return first;
}

std::byte* Placed::first_element() const {
  const Layout& layout = *block.layout;
  if (layout.extent() == layout.size()) return byte_at(block.address, begin);
  const std::int64_t index = layout.size() == 0 ? 0 : begin / layout.size();
  return byte_at(block.address, index * layout.extent());
}

std::int64_t Placed::elements() const {
  return block.layout->size() == 0 ? 0 : length / block.layout->size();
}

Placed place(const Typed& block, Unit unit, const Piece& piece) {
  const std::int64_t bytes = unit == Unit::elements ? block.layout->size() : 1;
  return {block, piece.offset * bytes, piece.length * bytes};
}

Placed place(const Binding& binding, const Piece& piece) {
  Placed placed = place(binding.block(piece.buffer, piece.block), binding.unit, piece);
  placed.begin *= binding.scale;
  placed.length *= binding.scale;
  return placed;
}

void copy(const Placed& source, const Placed& target) {
  if (source.length != target.length) throw std::invalid_argument("copy: source and target differ in length");
  std::byte* from = source.contiguous();
  std::byte* to = target.contiguous();
  if (from && to) {
    std::memcpy(to, from, static_cast<std::size_t>(source.length));
  } else {
    transfer(source.block, source.begin, target.block, target.begin, source.length);
  }
}

void reduce(const Binding& binding, const Placed& left, const Placed& right, const Placed& target) {
  std::byte* const result = target.first_element();
  if (binding.combine) {
    return binding.combine(left.first_element(), right.first_element(), result, target.elements());
  }
  if (result != right.first_element()) copy(right, target);
  binding.reduce(left.first_element(), result, target.elements());
}

std::int64_t packed_bytes(std::span<const Placed> pieces) {
  std::int64_t bytes = 0;
  for (const Placed& piece : pieces) bytes += piece.length;
  return bytes;
}

namespace {

// Calls visit(piece, first, last, packed) for the part [first, last) of each piece that lies in [begin, end) of them
// all, with its place among the packed bytes.
template <class Visit>
void for_each_part(std::span<const Placed> pieces, std::int64_t begin, std::int64_t end, Visit&& visit) {
  std::int64_t base = 0;
  for (const Placed& piece : pieces) {
    const std::int64_t first = std::max(begin, base);
    const std::int64_t last = std::min(end, base + piece.length);
    if (first < last) visit(piece.block, piece.begin + first - base, piece.begin + last - base, first - begin);
    base += piece.length;
  }
}

}  // namespace

void pack(std::span<const Placed> pieces, std::int64_t begin, std::int64_t end, std::byte* packed) {
  for_each_part(pieces, begin, end, [&](const Typed& block, std::int64_t first, std::int64_t last, std::int64_t at) {
    pack(*block.layout, block.address, block.count, first, last, packed + at);
  });
}

void unpack(std::span<const Placed> pieces, std::int64_t begin, std::int64_t end, const std::byte* packed) {
  for_each_part(pieces, begin, end, [&](const Typed& block, std::int64_t first, std::int64_t last, std::int64_t at) {
    unpack(*block.layout, block.address, block.count, first, last, packed + at);
  });
}

}  // namespace quadrille
