#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <quadrille/detail/call.hpp>
#include <random>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "engine/agreement.hpp"
#include "engine/cache.hpp"
#include "engine/exchange.hpp"
#include "engine/process.hpp"
#include "engine/reduction.hpp"
#include "engine/settings.hpp"
#include "engine/task.hpp"
#include "select/guide.hpp"
#include "shared_memory/segment.hpp"
#include "topology/topology.hpp"

namespace quadrille::engine {

// A private communicator and all that runs on it. Made by all ranks of the parent together; afterwards everything but
// wait returns without waiting for anybody.
class Context {
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
  std::int32_t nodes() const;
  // What the table says for so many ranks and nodes.
  const Guide& guide() const { return guide_; }
  // Elements that a rank has room for in its node's memory, on every node; 0: there is none.
  std::int64_t room_for(const Layout& element) const;

  // What a call may take that asks for so many bytes: no more than the settings allow; 0: no bound.
  std::int64_t bounded(std::int64_t memory) const {
    const std::int64_t bound = settings_.memory;
    return memory == 0 ? bound : bound == 0 ? memory : std::min(bound, memory);
  }
  // Bytes that a collective of that shape may take on any rank, where the settings bound them, else 0. `layout` is that
  // of the elements it reduces, if it does.
  std::int64_t memory_for(const Shape& shape, const Layout& layout) const;

  // The task of an earlier call with this signature, bound to these addresses; null if there is none at hand.
  std::unique_ptr<Task> recall(const Signature& signature, const void* input, const void* output);
  // Calls with this signature have no rule in the table: the next one needs no second look either.
  void pass_by(const Signature& signature);
  bool passed_by(const Signature& signature) const;
  // A task of that shape, from the cache if there is one. Throws Error if the algorithm can't serve it.
  std::unique_ptr<Task> prepare(const Shape& shape);
  // A task that is its plan alone, of so many bytes at most, and what it is said to run.
  std::unique_ptr<Task> prepare(const Algorithm& shown, std::int64_t memory, Task::MakePlan plan);
  // The schedule of that shape, for a phase of a plan.
  std::shared_ptr<const Program> program(const Shape& shape);
  // The counts of all ranks, by a pointer that is the same for the same counts as long as something uses them.
  std::shared_ptr<const Shares> shares(const detail::Integers& counts);
  // Sets it going, in the order of calls, which must be the same on all ranks. Throws Error where it can't, on every
  // rank alike.
  void start(Task& task);
  // The same, but it begins only when `earlier`, of this communicator, has ended here. It has its place in the order
  // from now on.
  void start_after(Task& task, Task& earlier);
  // From now on, every start of `earlier` starts `task` as well, to follow it.
  void declare(Task& task, Task& earlier);
  // `then` is called after every run, in a call that waits or tests; see Process::call_back. If the last run has ended
  // already, `also_if_over` says whether it is called for that one.
  void set_callback(Task& task, std::function<void()> then, bool also_if_over);
  bool test(Task& task);
  void wait(Task& task);
  // The same for one that nobody will ask any more: what it threw is lost, what a callback threw is kept for others.
  void wait_quietly(Task& task);
  // Starts it, waits for it, and releases it.
  void run(std::unique_ptr<Task> task);
  // Back to the cache.
  void release(std::unique_ptr<Task> task);

  // Whether a collective has failed in the middle: nothing more can run.
  bool broken() const { return !broken_.empty(); }

  // Whether it would be refused for the memory it takes, on this and every rank.
  bool exceeds_memory(const Task& task) const;

  // Frees the communicator. At the latest when MPI ends; nothing can be started afterwards.
  void close();

  // Begins what is queued, as far as it can. Returns whether anything did.
  bool pump();

  // For people: what each collective in flight waits for.
  std::string in_flight() const;
  // Of collectives that have not advanced for as long as the settings say, each mentioned once: who has not called yet,
  // and what is awaited.
  std::string complaints(std::chrono::steady_clock::time_point now);

 private:
  friend class Task;

  std::int64_t part_for(const Shape& shape) const;
  Ground ground_for(const Shape& shape) const;
  void refuse_start(const Task& task) const;
  void enqueue(Task& task);
  void release_follower(Task& task);
  static void undeclare(Task& task);
  Schedule built(const Shape& shape) const;
  Posting posting(const Shape& shape);
  Problem problem(const Shape& shape) const;
  void settle();
  void share_memory(bool crowded);
  template <class Word>
  std::vector<Word> words_of_all(const Word& mine);
  bool has_lane(const Task& task);
  void check_fit(const Schedule& schedule, const Shape& shape) const;
  void begin(Task& task);
  void agreed(Task& task);
  void set_going(Task& task);
  void next_phase(Task& task);
  void end(Task& task, Task::State state);
  void fail_all(const std::exception_ptr& error);
  void rethrow_if_failed(Task& task);
  int first_tag(const Task& task) const;
  std::string described(const Task& task) const;
  std::string missing(const Task& task, double seconds) const;

  Process& process_;
  Settings settings_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank rank_ = 0;
  Rank ranks_ = 1;
  Ground ground_;
  std::optional<Topology> topology_;
  Guide guide_;
  std::vector<std::int32_t> seats_;  // by rank: its number on its node
  shared::Segment segment_;
  std::optional<shared::Lanes> lanes_;
  std::int64_t window_ = 1;  // sequence numbers that may be in flight at once
  std::mt19937_64 random_;
  std::shared_ptr<const Program> agreement_program_;
  Cache cache_;
  std::int64_t next_sequence_ = 0;
  std::int64_t users_first_ = 0;  // sequence number; those before it were the context's own
  std::int64_t reserved_ = 0;
  Task* oldest_ = nullptr;
  Task* newest_ = nullptr;
  Task* first_queued_ = nullptr;
  bool pumping_ = false;
  std::string broken_;
  bool littered_ = false;  // a collective failed: messages of it may be left
};

}  // namespace quadrille::engine
