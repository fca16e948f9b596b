#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "quadrille/export.hpp"

namespace quadrille {

/// \cond
namespace engine {
class Context;
class Task;
}  // namespace engine

namespace detail {

// A collective that was made ready, and the communicator it belongs to, which lives at least as long.
class QUADRILLE_EXPORT Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<engine::Context> context, std::unique_ptr<engine::Task> task);
  Handle(Handle&& other) noexcept;
  Handle& operator=(Handle&& other) noexcept;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  // Waits, since the collective uses the caller's memory.
  ~Handle();

  void start();
  void start_after(const Handle& earlier);
  void declare_after(const Handle& earlier);
  void call_when_done(std::function<void()> function, bool also_if_over);
  bool test();
  void wait();

 private:
  void finish() noexcept;
  void require() const;

  std::shared_ptr<engine::Context> context_;
  engine::Task* task_ = nullptr;  // owned
};

}  // namespace detail
/// \endcond

/// A collective that is set up once and run as often as wanted. Making one moves no data; all ranks make it, and start
/// it, in the same order as their other collectives on that communicator.
class [[nodiscard]] Persistent {
 public:
  /// \cond
  explicit Persistent(detail::Handle handle) : handle_(std::move(handle)) {}
  /// \endcond

  /// Begins a run; the one before it must be over.
  void start() { handle_.start(); }
  /// Advances all pending collectives of this process; returns whether this one is done.
  bool test() { return handle_.test(); }
  /// Waits until the run is done.
  void wait() { handle_.wait(); }

  /// Has `function` called after every run from now on, in place of the one told before. It is called by a later call
  /// that waits or tests, or by the progress thread, never inside another such function and never if the run failed;
  /// wait() returns when it has been. What it throws, the next call that waits or tests throws. It must not destroy
  /// this object, nor start a collective that ranks may start in another order: for that, declare it with then(next).
  void then(std::function<void()> function) { handle_.call_when_done(std::move(function), false); }
  /// From now on every run is followed by one of `next`, of the same communicator, which begins on each rank as soon as
  /// this one has ended there. It takes its place in the order of collectives at the start of this one, so that ranks
  /// need not agree on anything. Both are waited for one by one. Chains may be longer; `next` can follow one only.
  void then(Persistent& next) { next.handle_.declare_after(handle_); }

 private:
  friend class Pending;
  detail::Handle handle_;
};

/// A collective on its way. The caller's memory belongs to it until it is done; its types and operations may be freed
/// right after the call that started it.
class [[nodiscard]] Pending {
 public:
  /// \cond
  explicit Pending(detail::Handle handle) : handle_(std::move(handle)) { handle_.start(); }
  /// \endcond

  /// Advances all pending collectives of this process; returns whether this one is done.
  bool test() { return handle_.test(); }
  /// Waits until it is done. The destructor does as well, but has nowhere to report an error.
  void wait() { handle_.wait(); }

  /// Has `function` called when it is done, or soon if it is already: see Persistent::then.
  void then(std::function<void()> function) { handle_.call_when_done(std::move(function), true); }
  /// Starts a run of `next`, of the same communicator, that begins when this one has ended here: see Persistent::then.
  void then(Persistent& next) { next.handle_.start_after(handle_); }

 private:
  detail::Handle handle_;
};

}  // namespace quadrille
