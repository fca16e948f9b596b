#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "redistribute/settle.hpp"
#include "run/backend.hpp"

namespace quadrille::redistribute {

// Blocks of a buffer by rank, in elements. Those of one direction don't overlap; they come in any order.
struct Blocks {
  std::span<const std::int64_t> counts;
  std::span<const std::int64_t> displacements;
};

// The places that may be written: those of the receive blocks in the order of their addresses, then the extra ones.
// Where no block of a rank's is misplaced, places 0, 1, ... hold what the blocks are to hold.
class Space {
 public:
  Space(const Blocks& receive, std::byte* data, std::span<std::byte> extra, std::int64_t element_bytes);

  std::int64_t size() const { return areas_.back().place + areas_.back().length; }
  std::int64_t extra_begin() const { return areas_.back().place; }
  std::size_t areas() const { return areas_.size(); }

  // How many places lie below an address of the buffer, in elements. So what it is from one address to another are the
  // places between the two.
  std::int64_t below(std::int64_t address) const;
  // Of addresses [address, end) the length of the first part that is all places, or none of which is one.
  std::int64_t alike(std::int64_t address, std::int64_t end, bool& places) const;

  // Places that lie together in memory, from this one on.
  Run run(std::int64_t place) const;
  // They as a message names them.
  Piece piece(std::int64_t place, std::int64_t length) const;
  // From places to places; the two don't overlap.
  void copy(std::int64_t from, std::int64_t to, std::int64_t length) const;
  // From the buffer, from what is no place.
  void copy_in(std::int64_t address, std::int64_t to, std::int64_t length) const;

 private:
  // Receive blocks that follow one another; the last is the extra memory.
  struct Area {
    std::int64_t place = 0;
    std::int64_t address = 0;
    std::int64_t length = 0;
  };
  const Area& area(std::int64_t place) const;
  std::byte* memory(const Area& area, std::int64_t place) const;

  std::vector<Area> areas_;
  std::byte* data_;
  std::byte* extra_;
  std::int64_t bytes_;
};

}  // namespace quadrille::redistribute
