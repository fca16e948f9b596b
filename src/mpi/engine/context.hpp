#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <quadrille/detail/call.hpp>
#include <quadrille/error.hpp>
#include <random>
#include <string>
#include <vector>

#include "engine/cache.hpp"
#include "engine/node_memory.hpp"
#include "engine/process.hpp"
#include "engine/settings.hpp"
#include "engine/shape.hpp"
#include "engine/task.hpp"
#include "engine/watchdog.hpp"
#include "engine/window.hpp"
#include "meet/meeting.hpp"
#include "run/order.hpp"
#include "select/memo.hpp"
#include "select/selector.hpp"
#include "topology/topology.hpp"

namespace quadrille::engine {

// A private communicator and all that runs on it. Made by all ranks of the parent together; afterwards everything but
// wait returns without waiting for anybody.
class Context final : public Resident, private Order::Gate {
 public:
  // Takes settings that all ranks agree on.
  Context(MPI_Comm parent, const Settings& settings);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  Rank rank() const { return rank_; }
  Rank ranks() const { return ranks_; }
  const Settings& settings() const { return settings_; }
  // Where its ranks are.
  const Topology& topology() const { return *topology_; }
  // What its calls are decided by, the same on every rank.
  const Selector& selector() const { return selector_; }
  Decision decide(const Case& asked, const Request& request);
  // What a call may take that sets such a limit.
  Budget budget(std::int64_t memory) const { return Budget(settings_.preferences.memory).within(Budget(memory)); }
  // Whether the ranks of its nodes share memory.
  bool shares_memory() const { return node_memory_ && node_memory_->slot_bytes() > 0; }

  // See Cache.
  Cache::Recalled recall(const CallKey& key, const void* input, const void* output);
  void keep_native(const CallKey& key, const Decision& decision);
  std::shared_ptr<const Shares> shares(const detail::Integers& counts);

  // A task of that shape, from the cache if there is one, for the call. Throws Error if the algorithm can't run it.
  std::unique_ptr<Task> prepare(const Shape& shape, const Case& asked, const Decision& decision);
  // A task that is its plan alone.
  std::unique_ptr<Task> prepare(const Case& asked, Budget budget, Task::MakePlan plan);
  // The schedule of that shape, for a phase of a plan.
  std::shared_ptr<const Program> program(const Shape& shape);
  // The same, built anew. Throws Error if the algorithm can't run it.
  Schedule built(const Shape& shape) const;
  // That of an allgather of so many bytes a rank; see meet::gather_words.
  std::shared_ptr<const Program> words_program(std::int64_t bytes);

  // Sets it going, in the order of calls, which must be the same on all ranks. Throws Error where it can't, on every
  // rank alike.
  void start(Task& task);
  // The same, but it begins only when `earlier`, of this communicator, has ended here. It has its place in the order
  // from now on.
  void start_after(Task& task, Task& earlier);
  // From now on, every start of `earlier` starts `task` as well, to follow it.
  void declare(Task& task, Task& earlier);
  // Registers a callback that runs after each completion, in a call that waits or tests; see Process::call_back. If the
  // last run has ended already, `also_if_over` says whether it runs for that one.
  void set_callback(Task& task, std::function<void()> callback, bool also_if_over);
  bool test(Task& task);
  void wait(Task& task);
  // The same for one that nobody will ask any more: what it threw is lost, what a callback threw is kept for others.
  void wait_quietly(Task& task);
  // Starts it, waits for it, and releases it.
  void run(std::unique_ptr<Task> task);
  // Back to the cache.
  void release(std::unique_ptr<Task> task);

  // A window over all its ranks, or one that only tells of its trouble: over memory of the caller's, or null: of its
  // own. All ranks make it, and later free it, in the same order; both wait for all of them inside MPI.
  std::shared_ptr<Window> make_window(void* memory, std::int64_t bytes);
  // Waits until nothing of it is in flight here, so that it can be freed once this is so on all ranks.
  void drain(const Window& window);
  void free_window(Window& window);

  // Whether a collective has failed in the middle: nothing more can run.
  bool broken() const { return !broken_.empty(); }

  void close() override;
  bool pump() override { return order_.pump(); }
  std::string in_flight() const override { return watchdog_.in_flight(order_); }
  std::string overdue(std::chrono::steady_clock::time_point now) override { return watchdog_.overdue(order_, now); }

 private:
  bool admits(const Ordered& one) override;
  void ended_below(std::int64_t sequence) override;

  // See settle.cpp.
  void settle(MPI_Comm parent);
  void make_selector();
  void meet_ranks(meet::Meeting::Own own, meet::Meeting::Result& result);
  void gather_leaders();

  bool admits_alone(const Task& one) const;
  void check_fit(const Schedule& schedule, const Shape& shape) const;
  void refuse_start(const Task& task) const;
  void require_own(const Task& task) const;
  void fail_all(const std::exception_ptr& error);
  std::unique_ptr<Plan> comparison(const Task& task) const;

  Process& process_;
  Settings settings_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm leaders_ = MPI_COMM_NULL;  // one rank of each node, where algorithms leave that level to the MPI
  Rank rank_ = 0;
  Rank ranks_ = 1;
  std::mt19937_64 random_;
  Order order_;
  TaskGround ground_;
  std::optional<Topology> topology_;
  bool crowded_ = false;  // more ranks than cores on some node
  std::optional<NodeMemory> node_memory_;
  Selector selector_;
  Memo memo_;
  Watchdog watchdog_;
  std::shared_ptr<const Program> agreement_program_;
  Cache cache_;
  std::vector<std::shared_ptr<Window>> windows_;
  std::string broken_;
  bool littered_ = false;  // a collective failed: messages of it may be left
};

}  // namespace quadrille::engine
