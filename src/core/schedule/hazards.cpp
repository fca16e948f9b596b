#include "schedule/hazards.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace quadrille {

namespace {

constexpr std::int32_t nearby = 32;  // steps

}  // namespace

Hazards::Block& Hazards::block_of(const Region& region) {
  const auto number =
      static_cast<std::size_t>(numbers_.add({region.owner, static_cast<std::int64_t>(region.buffer), region.block}));
  if (number == blocks_.size()) {
    constexpr std::int64_t beyond = std::numeric_limits<std::int64_t>::max();
    const auto end = static_cast<Place>(pieces_.size());
    pieces_.push_back({.begin = beyond, .end = beyond, .previous = end, .next = end});
    blocks_.push_back({end, end, end});
  }
  return blocks_[number];
}

Hazards::Place Hazards::seek(Block& block, std::int64_t at, bool write) {
  const Place place = find(block, at, write);
  if (piece(place).begin < at) split(place, at);
  return place;
}

Hazards::Place Hazards::find(Block& block, std::int64_t at, bool write) {
  Place place = block.last_access(write);
  std::int32_t steps = 0;
  for (; piece(place).end <= at && steps < nearby; ++steps) place = piece(place).next;
  for (; steps < nearby; ++steps) {
    const Place before = piece(place).previous;
    if (before == block.end || piece(before).end <= at) return place;
    place = before;
  }
  return find_far(block, at);
}

// Back from the next mark. A long way gets a mark in its middle, so that there are few long ways.
Hazards::Place Hazards::find_far(Block& block, std::int64_t at) {
  const auto mark = first_mark_after(block, at);
  Place place = mark != block.marks.end() ? *mark : block.end;
  Place middle = place;
  std::int32_t steps = 0;
  for (Place before = piece(place).previous; before != block.end && piece(before).end > at;
       before = piece(place).previous) {
    place = before;
    if (++steps % 2 == 0) middle = piece(middle).previous;
  }
  if (steps > 2 * nearby) block.marks.insert(mark, middle);
  return place;
}

std::vector<Hazards::Place>::iterator Hazards::first_mark_after(Block& block, std::int64_t at) {
  return std::partition_point(block.marks.begin(), block.marks.end(),
                              [&](Place mark) { return piece(mark).end <= at; });
}

Hazards::Place Hazards::split(Place place, std::int64_t at) {
  const Place first = insert_before(place, {piece(place).begin, at});
  piece(first).writers = copy(piece(place).writers);
  piece(first).readers = copy(piece(place).readers);
  piece(place).begin = at;
  return first;
}

Hazards::Place Hazards::insert_before(Place place, const Range& range) {
  Place fresh = unused_piece_;
  if (fresh >= 0) {
    unused_piece_ = piece(fresh).next;
  } else {
    fresh = static_cast<Place>(pieces_.size());
    pieces_.emplace_back();
  }
  const Place previous = std::exchange(piece(place).previous, fresh);
  piece(previous).next = fresh;
  piece(fresh) = {.begin = range.begin, .end = range.end, .previous = previous, .next = place};
  return fresh;
}

void Hazards::insert(Place place, const Range& range, bool write, Id id) {
  const Place fresh = insert_before(place, range);
  add(write ? piece(fresh).writers : piece(fresh).readers, id);
}

Hazards::Place Hazards::erase(Block& block, Place place) {
  release(piece(place).writers);
  release(piece(place).readers);
  const Place previous = piece(place).previous;
  const Place next = std::exchange(piece(place).next, unused_piece_);
  unused_piece_ = place;
  for (Place* finger : {&block.last_read, &block.last_write}) {
    if (*finger == place) *finger = next;
  }
  if (!block.marks.empty()) {
    const auto mark = first_mark_after(block, piece(place).end - 1);
    if (mark != block.marks.end() && *mark == place) block.marks.erase(mark);
  }
  piece(previous).next = next;
  piece(next).previous = previous;
  return next;
}

void Hazards::add(Chain& chain, Id id) {
  if (chain >= 0 && entries_[static_cast<std::size_t>(chain)].id == id) return;
  Chain fresh = unused_entry_;
  if (fresh >= 0) {
    unused_entry_ = entries_[static_cast<std::size_t>(fresh)].next;
  } else {
    fresh = static_cast<Chain>(entries_.size());
    entries_.emplace_back();
  }
  entries_[static_cast<std::size_t>(fresh)] = {id, chain};
  chain = fresh;
}

Hazards::Chain Hazards::copy(Chain chain) {
  Chain copied = -1;
  for (; chain >= 0; chain = entries_[static_cast<std::size_t>(chain)].next)
    add(copied, entries_[static_cast<std::size_t>(chain)].id);
  return copied;
}

void Hazards::release(Chain chain) {
  while (chain >= 0) {
    const Chain next = std::exchange(entries_[static_cast<std::size_t>(chain)].next, unused_entry_);
    unused_entry_ = std::exchange(chain, next);
  }
}

void Hazards::erase_before(Chain& chain, Id id) {
  Chain kept = -1;
  for (Chain at = chain; at >= 0; at = entries_[static_cast<std::size_t>(at)].next) {
    if (entries_[static_cast<std::size_t>(at)].id >= id) add(kept, entries_[static_cast<std::size_t>(at)].id);
  }
  release(std::exchange(chain, kept));
}

void Hazards::forget_before(const Region& block, Range range, Id id) {
  for (Place place = seek(block_of(block), range.begin, true); piece(place).begin < range.end;
       place = piece(place).next) {
    erase_before(piece(place).writers, id);
    erase_before(piece(place).readers, id);
  }
}

void Hazards::clear() {
  numbers_.clear();
  blocks_.clear();
  pieces_.clear();
  entries_.clear();
  unused_piece_ = unused_entry_ = -1;
}

}  // namespace quadrille
