#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/arena.hpp"
#include "engine/task.hpp"
#include "layout/layout.hpp"
#include "run/plan.hpp"

namespace quadrille::engine {

class Context;

// Data to be moved within the buffers that hold it: any counts and displacements, in elements, by rank. All arrays are
// moved alike.
struct Move {
  struct Array {
    std::byte* data = nullptr;
    std::int64_t element_bytes = 1;
  };

  std::vector<std::int64_t> send_counts;
  std::vector<std::int64_t> send_at;
  std::vector<std::int64_t> receive_counts;  // none: what the others send, one after another
  std::vector<std::int64_t> receive_at;
  std::vector<Array> arrays;
  std::int64_t memory = 0;             // bytes that this rank may take; 0: by itself
  bool has_gaps = false;               // elements are not all data
  bool covered = true;                 // counts are those of all elements, if they should be
  std::int64_t elements = -1;          // that the arrays hold; -1: nobody knows
  std::optional<std::int64_t> nobody;  // a rank that there is not, to which an element is to go
  // Bytes it takes to make room for so many elements to be received, from the same budget; what makes it, or throws;
  // and what uses it and gives the arrays their addresses. Where there are none there is room.
  std::function<std::int64_t(std::int64_t elements)> growth;
  std::function<void(std::int64_t elements)> reserve;
  std::function<void(std::int64_t elements, std::span<Array> arrays)> grow;
};

// What came of it.
struct MoveResult {
  std::vector<std::int64_t> counts;  // received, by source
  std::int64_t peak_bytes = 0;       // taken beyond the caller's buffers, for data
};

// First ranks tell each other what they send, and whether anything is wrong: then all of them throw Error, and nothing
// has moved. `result` is filled in meanwhile.
Task::MakePlan plan_of(Context& context, const Move& move, const std::shared_ptr<MoveResult>& result);

// What a task of such a plan is said to run.
extern const Algorithm in_place_exchange;

}  // namespace quadrille::engine
