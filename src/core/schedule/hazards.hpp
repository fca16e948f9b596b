#pragma once

#include <cstdint>
#include <vector>

#include "schedule/data.hpp"
#include "schedule/index.hpp"

namespace quadrille {

// Tracks the last writers and subsequent readers of each range of each block. Operations are added in program order; an
// access reports the earlier ones it conflicts with. The builder derives dependencies from it, the proof checks them.
class Hazards {
 public:
  using Id = std::int32_t;

  // Calls conflict(id) for each earlier access of `range` that `id` conflicts with: the writers, and for a write the
  // readers since. Then records the access. With `keep`, earlier writers are kept beside this one until forget_before
  // (accesses of a loop's operations, whose ranges span all iterations).
  template <class Conflict>
  void access(const Region& block, Range range, bool write, Id id, bool keep, Conflict&& conflict) {
    if (range.empty()) return;
    Block& of = block_of(block);
    const bool overwrite = write && !keep;
    std::int64_t at = range.begin;
    Place place = seek(of, range.begin, write);
    while (piece(place).begin < range.end) {
      if (piece(place).end > range.end) place = split(place, range.end);
      for_each(piece(place).writers, conflict);
      if (write) for_each(piece(place).readers, conflict);
      if (overwrite) {
        place = erase(of, place);
        continue;
      }
      if (at < piece(place).begin) insert(place, {at, piece(place).begin}, write, id);
      at = piece(place).end;
      add(write ? piece(place).writers : piece(place).readers, id);
      place = piece(place).next;
    }
    if (at < range.end) insert(place, {at, range.end}, write, id);
    of.last_access(write) = piece(place).previous;
  }

  // Drops accesses before `id` of a range, after a write that depends on all of them.
  void forget_before(const Region& block, Range range, Id id);

  // Drops everything.
  void clear();

 private:
  // Linked lists of ids, by their first entry; -1: empty.
  using Chain = std::int32_t;
  struct Entry {
    Id id;
    Chain next;
  };
  // The pieces of a block form a sorted ring, closed by an empty end piece beyond all others. A piece keeps its end as
  // long as it exists.
  using Place = std::int32_t;
  struct Piece {
    std::int64_t begin;
    std::int64_t end;
    Place previous;
    Place next;
    Chain writers = -1;
    Chain readers = -1;
  };
  struct Block {
    Place end;
    Place last_read;  // the next one is usually nearby
    Place last_write;
    std::vector<Place> marks = {};  // some pieces of many, in order: where a search begins that has far to go

    Place& last_access(bool write) { return write ? last_write : last_read; }
  };

  template <class Visit>
  void for_each(Chain chain, Visit&& visit) const {
    for (; chain >= 0; chain = entries_[static_cast<std::size_t>(chain)].next)
      visit(entries_[static_cast<std::size_t>(chain)].id);
  }

  Piece& piece(Place place) { return pieces_[static_cast<std::size_t>(place)]; }
  Block& block_of(const Region& region);
  // The first piece after `at`; a piece that contains `at` is split.
  Place seek(Block& block, std::int64_t at, bool write);
  // The first piece that ends after `at`.
  Place find(Block& block, std::int64_t at, bool write);
  Place find_far(Block& block, std::int64_t at);
  std::vector<Place>::iterator first_mark_after(Block& block, std::int64_t at);
  // Splits a piece; returns its first part.
  Place split(Place place, std::int64_t at);
  // Inserts a new piece before another.
  Place insert_before(Place place, const Range& range);
  void insert(Place place, const Range& range, bool write, Id id);
  // Returns the next one.
  Place erase(Block& block, Place place);
  void add(Chain& chain, Id id);
  Chain copy(Chain chain);
  void release(Chain chain);
  void erase_before(Chain& chain, Id id);

  Index<3> numbers_;  // of blocks
  std::vector<Block> blocks_;
  std::vector<Piece> pieces_;
  std::vector<Entry> entries_;
  Place unused_piece_ = -1;  // the first of a free list
  Chain unused_entry_ = -1;  // likewise
};

}  // namespace quadrille
