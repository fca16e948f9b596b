#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "quadrille/detail/call.hpp"
#include "quadrille/detail/export.h"
#include "quadrille/detail/handle.hpp"
#include "quadrille/detail/in_place_exchange.hpp"
#include "quadrille/detail/range_call.hpp"
#include "quadrille/exchange.hpp"
#include "quadrille/options.hpp"
#include "quadrille/pending.hpp"

/// \cond
namespace quadrille::detail {

class Exposed;

/// What Communicator is made of: the part that is compiled into the library. Every collective becomes a Call, a
/// RangeCall or an InPlaceExchange, and is run (blocking), started (non-blocking) or initialised (persistent) here.
class QUADRILLE_EXPORT CommunicatorCore {
 public:
  explicit CommunicatorCore(MPI_Comm comm);

  int rank() const;
  int size() const;
  static std::int64_t peak_bytes();

  void run(const Call& call, const Options& options);
  Pending start(const Call& call, const Options& options) { return Pending(prepare(call, options)); }
  Persistent init(const Call& call, const Options& options) { return Persistent(prepare(call, options)); }

  void run(const RangeCall& call, const Options& options) { run(checked(call), options); }
  Pending start(const RangeCall& call, const Options& options) { return start(checked(call), options); }
  Persistent init(const RangeCall& call, const Options& options) { return init(checked(call), options); }

  ExchangeResult run(const InPlaceExchange& exchange, const Options& options);
  PendingExchange start(const InPlaceExchange& exchange, const Options& options) {
    return prepared<PendingExchange>(exchange, options);
  }
  PersistentExchange init(const InPlaceExchange& exchange, const Options& options) {
    return prepared<PersistentExchange>(exchange, options);
  }
  /// What a Window is made of; see there.
  std::unique_ptr<Exposed> expose(void* memory, std::int64_t bytes);

  /// Bytes that an exchange in place of so much data may allocate.
  std::int64_t in_place_budget(std::int64_t data_bytes, const Options& options) const;

 private:
  /// Checks the ranges' lengths, and finds out whether the data is in place.
  /// Refers to what the call owns.
  Call checked(const RangeCall& call) const;
  Handle prepare(const Call& call, const Options& options);
  Handle prepare(const InPlaceExchange& exchange, const Options& options,
                 const std::shared_ptr<ExchangeResult>& result);

  template <class Form>
  Form prepared(const InPlaceExchange& exchange, const Options& options) {
    auto result = std::make_shared<ExchangeResult>();
    return Form(prepare(exchange, options, result), result);
  }

  std::shared_ptr<engine::Context> context_;
};

/// Base of a class that holds a family of collectives and is itself a base of Communicator.
template <class Family>
class CollectiveFamily {
 protected:
  CollectiveFamily() = default;
  /// Of the Communicator that this is a base of. Defined in communicator.hpp, where that is complete.
  CommunicatorCore& core();
};

}  // namespace quadrille::detail
/// \endcond
