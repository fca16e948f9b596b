#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <quadrille/call.hpp>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "engine/agreement.hpp"
#include "engine/exchange.hpp"
#include "engine/process.hpp"
#include "engine/reduction.hpp"
#include "engine/settings.hpp"
#include "select/guide.hpp"
#include "shared/segment.hpp"
#include "topology/topology.hpp"

namespace quadrille::engine {

class Context;

// All that a rank's schedule depends on besides the communicator, and so what it is cached by. Sizes, never handles:
// a handle may be freed and its value used again.
struct Shape {
  const Algorithm* algorithm = nullptr;
  std::int32_t width = 0;
  Rank root = 0;
  std::int64_t count = 0;                  // units; 0 for collectives whose blocks are separate
  std::shared_ptr<const Shares> shares{};  // where counts differ; see Context::shares
  std::int64_t segment = 0;
  std::int64_t room = 0;    // units of shared memory, see Problem
  std::int64_t memory = 0;  // bytes that it may take, the same on every rank; 0: no bound
  bool in_place = false;
  bool commutative = true;
  bool fixed_order = false;
  bool staged = false;  // under a bound on memory: this rank's data has gaps, its messages must be packed

  friend bool operator==(const Shape&, const Shape&) = default;
};

// What tells a call from others, but for the addresses: a call with the same signature as an earlier one needs no
// second look. Only calls whose handles are all MPI's own have one, since those are never freed; and only those with
// one block on each side.
struct Signature {
  Collective collective = Collective::barrier;
  bool input_in_place = false;
  bool output_in_place = false;
  bool fixed_order = false;
  int root = 0;
  std::int32_t width = 0;
  const Algorithm* algorithm = nullptr;  // that was wished for
  std::int64_t memory = 0;
  std::int64_t input_count = 0;
  std::int64_t output_count = 0;
  std::int64_t input_element = 0;  // bytes, where there is no type
  std::int64_t output_element = 0;
  MPI_Datatype input_type = MPI_DATATYPE_NULL;
  MPI_Datatype output_type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;

  friend bool operator==(const Signature&, const Signature&) = default;
};

// One rank's part in a collective, as often as it is started.
class Task final : private Listener {
 public:
  Task(Context& context, const Shape& shape, std::shared_ptr<const Program> program);
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  // Of one in flight: its communicator can't be used any more.
  ~Task() override;

  // What the schedule's names stand for. To be filled in before a start; layouts must be kept here: one, or one for
  // each block.
  Binding& binding() { return main_.binding(); }
  std::vector<Layout>& input_layouts() { return input_layouts_; }
  std::vector<Layout>& output_layouts() { return output_layouts_; }
  // That of the elements of a reduction.
  void use_element(const Layout& layout) { main_.set_scratch_layout(layout); }
  // Handles that must live as long as the task is bound.
  void keep(Kept kept) { kept_ = std::move(kept); }
  // Lets the next call with this signature have the task as it is; see Context::recall.
  void remember_as(const Signature& signature) { signature_ = signature; }
  // What a reduction reduces by, to be compared in checked mode; see Reduction.
  void set_operation(std::int32_t code) { operation_ = code; }

  const Shape& shape() const { return shape_; }
  bool ended() const { return state_ == State::done || state_ == State::failed; }
  bool in_flight() const { return state_ != State::idle && !ended(); }

 private:
  friend class Context;
  // queued: for tags and memory; waiting: has them, but not the end of the one it follows.
  enum class State : std::uint8_t { idle, queued, waiting, agreeing, running, done, failed };

  void advanced() override;
  void done(Exchange& exchange) override;
  void failed(Exchange& exchange, std::exception_ptr error) override;

  Context& context_;
  Shape shape_;
  std::vector<Layout> input_layouts_;
  std::vector<Layout> output_layouts_;
  Kept kept_;
  std::optional<Signature> signature_;
  Exchange main_;
  std::optional<Exchange> agreement_;
  Opinion mine_;
  Opinion all_;
  Layout opinion_layout_;
  State state_ = State::idle;
  std::int32_t operation_ = -1;
  std::chrono::steady_clock::time_point advanced_;  // last; only if somebody wants to know
  bool named_missing_ = false;
  bool told_ = false;
  std::int64_t sequence_ = 0;
  std::int64_t reserved_ = 0;
  Task* follows_ = nullptr;   // begins when that one has ended
  Task* follower_ = nullptr;  // begins when this one has ended, in this run
  Task* declared_ = nullptr;  // is started with this one, to follow it, in every run
  Task* declared_by_ = nullptr;
  bool followed_ = false;  // something was started to follow this run
  std::shared_ptr<Callback> then_;
  std::exception_ptr error_;
  Task* previous_ = nullptr;  // those in flight, by sequence
  Task* next_ = nullptr;
};

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

  struct Entry {
    std::shared_ptr<const Program> program;
    std::vector<std::unique_ptr<Task>> idle;
    std::uint64_t last_used = 0;
  };
  struct ShapeHash {
    std::size_t operator()(const Shape& shape) const;
  };

  static std::size_t place_for(const Signature& signature);
  std::int64_t part_for(const Shape& shape) const;
  Ground ground_for(const Shape& shape) const;
  void refuse_start(const Task& task) const;
  void enqueue(Task& task);
  void release_follower(Task& task);
  static void undeclare(Task& task);
  Entry& entry(const Shape& shape);
  void forget_oldest_entry();
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
  std::unordered_map<Shape, Entry, ShapeHash> cache_;
  std::array<std::unique_ptr<Task>, 64> recent_;     // by signature, as far as they don't displace each other
  std::vector<std::optional<Signature>> passed_by_;  // likewise; empty until there is one
  std::vector<std::shared_ptr<const Shares>> shares_;
  std::uint64_t clock_ = 0;
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
