#include "engine/node_transport.hpp"

namespace quadrille::engine {

void NodeTransport::lay_out(const Schedule& schedule, const Layout& element) {
  std::vector<std::int64_t> bytes;
  for (const std::int64_t units : schedule.slots) {
    const auto [first, last] = element.span(units);
    bytes.push_back(last - first);
  }
  slot_offsets_ = shared::slot_offsets(bytes);
}

Placed NodeTransport::placed(const Schedule& schedule, const Layout& element, const Piece& piece) const {
  const Rank owner = piece.owner == self ? schedule.rank : piece.owner;
  const auto block = static_cast<std::size_t>(piece.block);
  std::byte* const slots = ground_.lanes->slots(run_, seat(owner), slot_offsets_.back());
  const std::int64_t units = schedule.slots[block];
  return place({slots + slot_offsets_[block] - element.span(units).first, units, &element}, schedule.unit, piece);
}

}  // namespace quadrille::engine
