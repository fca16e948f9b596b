#include "run/memory.hpp"

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
  }
  throw std::logic_error("Binding::block: no such buffer");
}

std::int64_t Binding::units(Buffer buffer, std::int32_t index) const {
  const Typed& of = block(buffer, index);
  return unit == Unit::elements ? of.count : of.count * of.layout->size();
}

std::byte* Placed::first_element() const {
  return static_cast<std::byte*>(block.address) +
         (block.layout->size() == 0 ? 0 : begin / block.layout->size()) * block.layout->extent();
}

std::int64_t Placed::elements() const {
  return block.layout->size() == 0 ? 0 : length / block.layout->size();
}

Placed place(const Binding& binding, const Piece& piece) {
  const Typed& block = binding.block(piece.buffer, piece.block);
  const std::int64_t unit = binding.unit == Unit::elements ? block.layout->size() : 1;
  return {block, piece.offset * unit, piece.length * unit};
}

void copy(const Placed& source, const Placed& target) {
  if (source.length != target.length) throw std::invalid_argument("copy: source and target differ in length");
  transfer(source.block, source.begin, target.block, target.begin, source.length);
}

void reduce(const ReduceFunction& function, const Placed& left, const Placed& right, const Placed& target) {
  if (target.first_element() != right.first_element()) copy(right, target);
  function(left.first_element(), target.first_element(), target.elements());
}

std::int64_t packed_bytes(std::span<const Placed> pieces) {
  std::int64_t bytes = 0;
  for (const Placed& piece : pieces) bytes += piece.length;
  return bytes;
}

void pack(std::span<const Placed> pieces, std::byte* packed) {
  for (const Placed& piece : pieces) {
    pack(*piece.block.layout, piece.block.address, piece.block.count, piece.begin, piece.begin + piece.length, packed);
    packed += piece.length;
  }
}

void unpack(std::span<const Placed> pieces, const std::byte* packed) {
  for (const Placed& piece : pieces) {
    unpack(*piece.block.layout, piece.block.address, piece.block.count, piece.begin, piece.begin + piece.length,
           packed);
    packed += piece.length;
  }
}

}  // namespace quadrille
