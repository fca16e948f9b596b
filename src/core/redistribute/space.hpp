#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "redistribute/settle.hpp"
#include "run/backend.hpp"

namespace quadrille::redistribute {

// Blocks of a buffer by rank, in elements. Blocks of one direction are disjoint, in any order.
struct Blocks {
  std::span<const std::int64_t> counts;
  std::span<const std::int64_t> displacements;

  // The number of blocks that are not empty.
  std::int64_t used() const {
    return static_cast<std::int64_t>(counts.size()) - std::count(counts.begin(), counts.end(), 0);
  }
};

// The writable places: those of the receive blocks ordered by address, then the extra ones.
class Space {
 public:
  // Elements have their layout in the buffer, which must outlive the space, and are packed in the extra memory.
  Space(const Blocks& receive, std::byte* data, std::span<std::byte> extra, const Layout& element);

  std::int64_t size() const { return areas_.back().place + areas_.back().length; }
  std::int64_t extra_begin() const { return areas_.back().place; }
  std::size_t areas() const { return areas_.size(); }

  // The number of places below an address of the buffer, in elements.
  std::int64_t below(std::int64_t address) const;
  // The length of the first part of [address, end) that consists only of places, or of none.
  std::int64_t alike(std::int64_t address, std::int64_t end, bool& places) const;

  // The places from this one on that follow one another in memory.
  Run run(std::int64_t place) const;
  // The places as a region of a message.
  Piece piece(std::int64_t place, std::int64_t length) const;
  // From places to places, which must not overlap.
  void copy(std::int64_t from, std::int64_t to, std::int64_t length) const;
  // From the buffer, outside the places.
  void copy_in(std::int64_t address, std::int64_t to, std::int64_t length) const;

 private:
  // Adjacent receive blocks; the last area is the extra memory.
  struct Area {
    std::int64_t place = 0;
    std::int64_t address = 0;
    std::int64_t length = 0;
  };
  const Area& area(std::int64_t place) const;

  std::vector<Area> areas_;
  Elements data_;
  Elements extra_;
  std::int64_t bytes_;  // of a packed element
};

}  // namespace quadrille::redistribute
