#include "engine/node_transport.hpp"

#include <mpi.h>

namespace quadrille::engine {

Error too_long_for_shared_memory() {
  return {MPI_ERR_COUNT, "the data is too long to go through shared memory in pieces: raise QUADRILLE_SHARED"};
}

void NodeTransport::lay_out(const Schedule& schedule, const Layout& element, std::int64_t scale) {
  scale_ = scale;
  slot_offsets_.assign(1, 0);
  for (const std::int64_t units : schedule.slots) {
    const auto [first, last] = element.span(units * scale);
    slot_offsets_.push_back(shared::next_slot(slot_offsets_.back(), last - first));
  }
}

Placed NodeTransport::placed(const Schedule& schedule, const Layout& element, const Piece& piece) const {
  const Rank owner = piece.owner == self ? schedule.rank : piece.owner;
  const auto block = static_cast<std::size_t>(piece.block);
  std::byte* const slots = ground_.lanes->slots(run_, seat(owner), slot_offsets_.back());
  const std::int64_t units = schedule.slots[block] * scale_;
  Placed placed =
      place({slots + slot_offsets_[block] - element.span(units).first, units, &element}, schedule.unit, piece);
  placed.begin *= scale_;
  placed.length *= scale_;
  return placed;
}

}  // namespace quadrille::engine
