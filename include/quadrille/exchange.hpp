#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "quadrille/pending.hpp"

namespace quadrille {

/// What alltoallv_in_place and redistribute return on each rank.
struct ExchangeResult {
  std::vector<std::int64_t> counts;  ///< number of elements received from each rank
  std::int64_t peak_bytes = 0;       ///< memory that this rank allocated beyond the data, growth of vectors included
};

/// A non-blocking alltoallv_in_place or redistribute in progress.
class [[nodiscard]] PendingExchange : public Pending {
 public:
  /// \cond
  PendingExchange(detail::Handle handle, std::shared_ptr<ExchangeResult> result)
      : Pending(std::move(handle)), result_(std::move(result)) {}
  /// \endcond

  /// Waits for completion as Pending::wait does, and returns the result.
  ExchangeResult wait() {
    Pending::wait();
    return result_ ? *result_ : ExchangeResult{};
  }

 private:
  std::shared_ptr<ExchangeResult> result_;
};

/// A persistent alltoallv_in_place.
class [[nodiscard]] PersistentExchange : public Persistent {
 public:
  /// \cond
  PersistentExchange(detail::Handle handle, std::shared_ptr<ExchangeResult> result)
      : Persistent(std::move(handle)), result_(std::move(result)) {}
  /// \endcond

  /// Waits for the run as Persistent::wait does, and returns its result.
  ExchangeResult wait() {
    Persistent::wait();
    return result_ ? *result_ : ExchangeResult{};
  }

 private:
  std::shared_ptr<ExchangeResult> result_;
};

}  // namespace quadrille
