#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <quadrille/detail/call.hpp>
#include <unordered_map>
#include <vector>

#include "engine/task.hpp"

namespace quadrille::engine {

// What the calls on a communicator have left for later ones like them: schedules, idle tasks, counts. Not thread-safe.
class Cache {
 public:
  // The schedule of that shape; `build` makes one that there is not.
  std::shared_ptr<const Program> program(const Shape& shape, const std::function<Schedule()>& build);
  // An idle task of that shape, bound to nothing; null if there is none.
  std::unique_ptr<Task> take(const Shape& shape);
  // An idle task, for the next call with its signature, or of its shape.
  void keep(std::unique_ptr<Task> task);

  // The task of an earlier call with this signature, bound to these addresses; null if there is none at hand.
  std::unique_ptr<Task> recall(const Signature& signature, const void* input, const void* output);
  // Calls that were seen to need no task.
  void pass_by(const Signature& signature);
  bool passed_by(const Signature& signature) const;

  // The counts of all ranks, by a pointer that is the same for the same counts as long as something uses them.
  std::shared_ptr<const Shares> shares(const detail::Integers& counts, Rank ranks);

 private:
  struct Entry {
    std::shared_ptr<const Program> program;
    std::vector<std::unique_ptr<Task>> idle;
    std::uint64_t last_used = 0;
  };
  struct ShapeHash {
    std::size_t operator()(const Shape& shape) const;
  };
  static std::size_t place_for(const Signature& signature);
  void forget_oldest();

  std::unordered_map<Shape, Entry, ShapeHash> entries_;
  std::array<std::unique_ptr<Task>, 64> recent_;     // by signature, as far as they don't displace each other
  std::vector<std::optional<Signature>> passed_by_;  // likewise; empty until there is one
  std::vector<std::shared_ptr<const Shares>> shares_;
  std::uint64_t clock_ = 0;
};

}  // namespace quadrille::engine
