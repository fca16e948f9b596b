#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "engine/agreement.hpp"
#include "engine/exchange.hpp"
#include "engine/process.hpp"
#include "engine/reduction.hpp"
#include "run/plan.hpp"

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
  std::int32_t window = 0;  // segments under way; 0: as many as problems have
  std::int64_t room = 0;    // units of shared memory, see Problem
  std::int64_t memory = 0;  // bytes that it may take, the same on every rank; 0: no bound
  bool in_place = false;
  bool commutative = true;
  bool fixed_order = false;
  bool staged = false;  // under a bound on memory: this rank's data has gaps, its messages must be packed
  bool swaps = false;   // in place, in chunks that fit the bound, which is this rank's own affair

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
  // Phases that come first, in every run: what they find out may go into the binding. Only what all ranks throw alike
  // may be thrown by them.
  using MakePlan = std::function<std::unique_ptr<Plan>()>;
  void set_plan(MakePlan make) { make_plan_ = std::move(make); }
  // For a plan: takes the memory that the schedule behind it needs. Returns false if it can't be had.
  bool reserve();
  // Handles that must live as long as the task is bound.
  void keep(Kept kept) { kept_ = std::move(kept); }
  // Lets the next call with this signature have the task as it is; see Context::recall.
  void remember_as(const Signature& signature) { signature_ = signature; }
  const std::optional<Signature>& signature() const { return signature_; }
  // Forgets the call that it was for.
  void unbind();
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
  // What is under way.
  const Exchange& current() const;

  Context& context_;
  Shape shape_;
  std::vector<Layout> input_layouts_;
  std::vector<Layout> output_layouts_;
  Kept kept_;
  std::optional<Signature> signature_;
  MakePlan make_plan_;
  std::unique_ptr<Plan> plan_;                     // of this run, as long as it has phases
  std::vector<std::unique_ptr<Exchange>> phases_;  // of this run
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

}  // namespace quadrille::engine
