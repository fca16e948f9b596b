#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "schedule/data.hpp"

namespace quadrille {

// Who last wrote and who has since read each range of each block. Operations come in program order; an access reports
// the earlier ones it must not overtake. The builder derives dependencies from it, the proof checks them by it.
class Hazards {
 public:
  using Id = std::int32_t;

  // Calls conflict(id) for each earlier access of `range` that `id` must come after: the writers, and for a write the
  // readers since. Then records the access. With `keep`, earlier writers stay on record beside this one (accesses of
  // a loop's operations, whose ranges are wider than any one iteration's), until forget_before.
  template <class Conflict>
  void access(const Region& block, Range range, bool write, Id id, bool keep, Conflict&& conflict) {
    if (range.empty()) return;
    auto& pieces = blocks_[key(block)];
    split(pieces, range.begin);
    split(pieces, range.end);
    for (auto it = pieces.lower_bound(range.begin); it != pieces.end() && it->first < range.end; ++it) {
      for (Id writer : it->second.writers) conflict(writer);
      if (write) {
        for (Id reader : it->second.readers) conflict(reader);
      }
    }
    record(pieces, range, write, id, keep);
  }

  // Drops accesses before `id` of a range that was written by someone who came after all of them.
  void forget_before(const Region& block, Range range, Id id);

 private:
  struct Piece {
    std::int64_t end;
    std::vector<Id> writers;
    std::vector<Id> readers;
  };
  using Pieces = std::map<std::int64_t, Piece>;  // by begin
  using Key = std::tuple<Rank, Buffer, std::int32_t>;

  static Key key(const Region& region) { return {region.owner, region.buffer, region.block}; }
  static void split(Pieces& pieces, std::int64_t at);
  static void record(Pieces& pieces, Range range, bool write, Id id, bool keep);

  std::map<Key, Pieces> blocks_;
};

}  // namespace quadrille
