#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "run/backend.hpp"
#include "schedule/schedule.hpp"

namespace quadrille::verify {

// One rank's operations with loops unrolled, in program order, loops iteration by iteration. Every local predecessor of
// an instance precedes it.
class Unrolled {
 public:
  // `iterations` is the number of iterations of each loop.
  Unrolled(const Schedule& schedule, std::vector<std::int64_t> iterations);

  const Schedule& schedule() const { return schedule_; }
  std::int32_t size() const { return size_; }
  Token token(std::int32_t instance) const {
    return places_.empty() ? Token{instance, 0} : tokens_[static_cast<std::size_t>(instance)];
  }
  const Operation& operation(std::int32_t instance) const {
    return schedule_.operations[static_cast<std::size_t>(token(instance).operation)];
  }
  std::int32_t instance(Token token) const {
    if (places_.empty()) return token.operation;
    const Place& place = places_[static_cast<std::size_t>(token.operation)];
    return place.first + static_cast<std::int32_t>(token.iteration) * place.stride;
  }

  // Calls visit(instance, posted_only) for what a run waits for before it posts this instance, except the limit on
  // messages in flight; false from visit stops. Left out is what follows from the rest: of a loop, iterations that the
  // last ones have waited for; and of the iteration that the loop's window waits for, all that others there wait for,
  // or who waits for another operation of its own iteration.
  template <class Visit>
  void for_each_predecessor(std::int32_t instance, Visit&& visit) const {
    const Token at = token(instance);
    const Operation& of = operation(instance);
    bool first_of_iteration = of.loop >= 0;
    for (const Dependency& dependency : schedule_.dependencies_of(of)) {
      const Operation& earlier = schedule_.operations[static_cast<std::size_t>(dependency.operation)];
      if (of.loop >= 0 && earlier.loop == of.loop) {
        const std::int64_t k = at.iteration - dependency.distance;
        if (k >= 0 && !visit(this->instance({dependency.operation, k}), dependency.posted)) return;
        first_of_iteration &= dependency.distance > 0;
        continue;
      }
      const std::int64_t count = earlier.loop < 0 ? 1 : iterations_[static_cast<std::size_t>(earlier.loop)];
      const std::int64_t window = earlier.loop < 0 ? 1 : schedule_.loops[static_cast<std::size_t>(earlier.loop)].window;
      for (std::int64_t k = count - 1; k >= std::max<std::int64_t>(0, count - window); --k) {
        if (!visit(this->instance({dependency.operation, k}), dependency.posted)) return;
      }
    }
    if (of.loop < 0 || at.iteration == 0) return;
    if (!visit(this->instance({at.operation, at.iteration - 1}), true)) return;
    const Loop& loop = schedule_.loops[static_cast<std::size_t>(of.loop)];
    if (at.iteration < loop.window || !first_of_iteration) return;
    for (const std::int32_t id : last_of_iteration_[static_cast<std::size_t>(of.loop)]) {
      if (!visit(this->instance({id, at.iteration - loop.window}), false)) return;
    }
  }

  // Whether the later instance is always posted after the earlier one is complete (or, `posted`, after it is posted).
  bool ordered(std::int32_t earlier, std::int32_t later, bool posted) const;

  // The flush that completes a put, the first one; -1 if there is none.
  std::int32_t flush_of(std::int32_t put) const;

 private:
  // An operation's instances.
  struct Place {
    std::int32_t first;
    std::int32_t stride;
  };

  const Schedule& schedule_;
  std::vector<std::int64_t> iterations_;
  std::int32_t size_ = 0;
  // Empty without loops, where an instance is an operation.
  std::vector<Token> tokens_;
  std::vector<Place> places_;
  std::vector<std::vector<std::int32_t>> last_of_iteration_;  // by loop: operations for which no other one waits
  mutable std::vector<std::int32_t> visited_;
  mutable std::vector<std::int32_t> stack_;
  mutable std::int32_t search_ = 0;
};

}  // namespace quadrille::verify
