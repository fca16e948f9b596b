#pragma once

#include <functional>
#include <memory>

#include "quadrille/detail/export.h"

/// \cond
namespace quadrille {

namespace engine {
class Context;
class Task;
}  // namespace engine

namespace detail {

/// A collective that is ready to start, and a share in the communicator that it belongs to. What Pending, Persistent
/// and the requests of C are made of.
class QUADRILLE_EXPORT Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<engine::Context> context, std::unique_ptr<engine::Task> task);
  Handle(Handle&& other) noexcept;
  Handle& operator=(Handle&& other) noexcept;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// Waits, since the collective uses the caller's memory.
  ~Handle();

  void start();
  void start_after(const Handle& earlier);
  void declare_after(const Handle& earlier);
  /// `also_if_complete`: if the last run is complete already, the callback runs for that one, too.
  void set_callback(std::function<void()> callback, bool also_if_complete);
  bool test();
  void wait();
  /// Whether it has begun, and its collective has failed.
  bool failed() const;

 private:
  void finish() noexcept;
  void require() const;

  std::shared_ptr<engine::Context> context_;
  engine::Task* task_ = nullptr;  // owned
};

}  // namespace detail

}  // namespace quadrille
/// \endcond
