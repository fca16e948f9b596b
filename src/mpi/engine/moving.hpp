#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <quadrille/exchange.hpp>
#include <span>
#include <vector>

#include "engine/complaint.hpp"
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
    Layout element = Layout::basic(1);  // within its own extent, which is positive

    bool has_gaps() const { return !element.is_contiguous(); }
  };

  std::vector<std::int64_t> send_counts;
  std::vector<std::int64_t> send_at;
  std::vector<std::int64_t> receive_counts;  // none: what the others send, one after another
  std::vector<std::int64_t> receive_at;
  std::vector<Array> arrays;
  std::int64_t memory = 0;     // bytes that this rank may take; 0: by itself
  std::int64_t elements = -1;  // that the arrays hold; -1: nobody knows
  std::int64_t taken = 0;      // bytes that the caller needed to make it ready, and has given back
  Complaint complaint;         // what the caller knows to be wrong already
  // Bytes it takes to make room for so many elements to be received, from the same budget; what makes it, or throws;
  // what uses it and gives the arrays their addresses; and what makes them as long as what was received. Where there
  // are none there is room.
  std::function<std::int64_t(std::int64_t elements)> growth;
  std::function<void(std::int64_t elements)> reserve;
  std::function<void(std::int64_t elements, std::span<Array> arrays)> grow;
  std::function<void(std::int64_t elements)> shrink;
};

// First ranks tell each other what they send, and whether anything is wrong: then all of them throw Error, and nothing
// has moved. `result` is filled in by every run.
Task::MakePlan plan_of(Context& context, const Move& move, const std::shared_ptr<ExchangeResult>& result);

}  // namespace quadrille::engine
