#pragma once

#include <functional>
#include <utility>

#include "quadrille/detail/handle.hpp"

namespace quadrille {

/// A persistent collective, as MPI_Allreduce_init makes one: set up once, started any number of times. Setting it up
/// moves no data. All ranks create and start their persistent collectives in the same order relative to all other
/// collectives on that communicator.
///
/// The buffers must be valid, and must not be used by the program, during each run. The destructor waits for a run in
/// progress and has no way to report an error. On a moved-from object wait() returns and test() returns true at once,
/// and all else throws. One object must not be used by two threads at a time.
class [[nodiscard]] Persistent {
 public:
  /// \cond
  explicit Persistent(detail::Handle handle) : handle_(std::move(handle)) {}
  /// \endcond

  /// Starts a run, and returns without waiting for other ranks. The previous run must be complete.
  void start() { handle_.start(); }
  /// Returns whether the run is complete. If it is not, first advances all pending collectives of this process. Throws
  /// the error if the run failed.
  bool test() { return handle_.test(); }
  /// Waits until the run is complete, and advances all pending collectives of this process meanwhile. Throws the error
  /// if the run failed.
  void wait() { handle_.wait(); }

  /// Registers a callback that runs after each completion from now on; it replaces the one registered before. It runs
  /// inside a later call that waits or tests, in whatever thread, or in the progress thread; never inside another
  /// callback, and not after a run that failed. wait() returns after it has run. What it throws is thrown by the next
  /// call that waits or tests. It must not destroy this object, nor start a collective whose order relative to others
  /// could differ between ranks: for that, use then(next).
  void then(std::function<void()> callback) { handle_.set_callback(std::move(callback), false); }
  /// Chains `next`, a collective of the same communicator: from now on each start of this one also starts `next`, which
  /// begins on each rank as soon as this one is complete there. Its position in the order of collectives is that of the
  /// start of this one, the same on all ranks. Each is waited for by itself. Chains may be longer; `next` can follow
  /// one collective only.
  void then(Persistent& next) { next.handle_.declare_after(handle_); }

 private:
  friend class Pending;
  detail::Handle handle_;
};

/// A non-blocking collective in progress, as MPI_Iallreduce starts one. The buffers must not be used until it is
/// complete; datatypes, operations and arrays of counts or displacements may be freed or changed as soon as the call
/// that started it has returned.
///
/// The destructor waits for completion and has no way to report an error. On a moved-from object wait() returns and
/// test() returns true at once, and then() throws. One object must not be used by two threads at a time.
class [[nodiscard]] Pending {
 public:
  /// One that is complete, to assign another to.
  Pending() = default;
  /// \cond
  explicit Pending(detail::Handle handle) : handle_(std::move(handle)) { handle_.start(); }
  /// \endcond

  /// Returns whether this collective is complete. If it is not, first advances all pending collectives of this process.
  /// Throws the error if it failed.
  bool test() { return handle_.test(); }
  /// Waits for completion, and advances all pending collectives of this process meanwhile. Throws the error if it
  /// failed.
  void wait() { handle_.wait(); }

  /// Registers a callback that runs once this collective is complete, also if it already is: see Persistent::then.
  void then(std::function<void()> callback) { handle_.set_callback(std::move(callback), true); }
  /// Starts `next`, a collective of the same communicator, which begins on each rank as soon as this one is complete
  /// there: see Persistent::then.
  void then(Persistent& next) { next.handle_.start_after(handle_); }

 private:
  detail::Handle handle_;
};

}  // namespace quadrille
