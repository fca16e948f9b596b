#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "engine/exchange.hpp"
#include "engine/process.hpp"
#include "engine/reduction.hpp"
#include "engine/settings.hpp"
#include "engine/shape.hpp"
#include "run/order.hpp"
#include "run/plan.hpp"
#include "select/case.hpp"
#include "select/decision.hpp"

namespace quadrille::engine {

// Tags of one collective: the channels of its schedules. They are used again every window of the order. That is safe: a
// rank starts a collective only when it has ended the one that had its tags, so on each stream all messages of the
// older one are posted before any of the newer, at both ends. The same holds for the phases of one collective, which
// share tags.
inline constexpr std::int32_t tags_per_collective = 64;
// Of these the last are for what is received from anyone, and no schedule's: an order of messages there is only between
// ranks that have heard of each other in the same collective.
inline constexpr std::int32_t first_open_channel = 62;

class Task;

// What tasks have of the communicator that they run on.
struct TaskGround {
  Process& process;
  Order& order;
  Ground ground;
  const Settings& settings;
  std::mt19937_64& random;
  // Checked mode: what a run begins with; none: it is off.
  std::function<std::unique_ptr<Plan>(const Task&)> compare;
  // A run has failed in the middle: nothing more can run.
  std::function<void(const std::exception_ptr&)> fail_all;
};

// One rank's part in a collective, as often as it is started. A run is a sequence of phases, each an exchange: first
// those of plans (checked mode's comparison, then what the collective has to find out), then the schedule itself.
class Task final : public Ordered, private Exchange::Listener {
 public:
  // The ground must outlive it.
  Task(TaskGround& ground, const Shape& shape, std::shared_ptr<const Program> program);
  // Of one in flight: its communicator can't be used any more.
  ~Task();

  // The call that it runs next.
  void assign(const Case& asked, const Decision& decision);
  const Case& asked() const { return asked_; }
  const Decision& decision() const { return decision_; }

  // What the schedule's names stand for. To be filled in before a start; layouts must be kept here: one, or one for
  // each block.
  Binding& binding() { return main_.binding(); }
  const Binding& binding() const { return main_.binding(); }
  std::vector<Layout>& input_layouts() { return input_layouts_; }
  std::vector<Layout>& output_layouts() { return output_layouts_; }
  // That of the elements of a reduction.
  void use_element(const Layout& layout) { main_.set_element(layout); }
  void use_operation(const Exchange::Operation& operation) { main_.set_operation(operation); }
  // Phases that come first, in every run: what they find out may go into the binding. Only what all ranks throw alike
  // may be thrown by them.
  using MakePlan = std::function<std::unique_ptr<Plan>()>;
  void set_plan(MakePlan make) { make_plan_ = std::move(make); }
  // For a plan: takes the memory that the schedule behind it needs. Returns false if it can't be allocated.
  bool reserve();
  // Handles that must live as long as the task is bound.
  void keep(Kept kept) { kept_ = std::move(kept); }
  // What a call's counts come to: elements of its buffers, units of the case, and the scale of its schedule.
  struct Sizes {
    std::int64_t input = 0;
    std::int64_t output = 0;
    std::int64_t count = 0;
    std::int64_t largest = 0;
    std::int64_t scale = 1;
  };
  Sizes sizes() const;
  // Where a cache has it from, as long as that has not forgotten anything since; and where its bytes are counted.
  struct Home {
    const void* known = nullptr;
    std::uint64_t epoch = 0;
    std::uint64_t entry = 0;
  };
  Home& home() { return home_; }
  // The call that it is bound for but for the addresses, if another like it can have it as it is; see Cache.
  void set_key(const CallKey& key) { key_ = key; }
  const std::optional<CallKey>& key() const { return key_; }
  // Binds it for another call that differs in counts and addresses alone.
  void rebind(const CallKey& key, const Sizes& sizes, const Decision& decision);
  void set_addresses(const void* input, const void* output);
  // Forgets the call that it was for.
  void unbind();
  // Runs after each completion, in a call that waits or tests; null: none.
  void set_callback(std::shared_ptr<Callback> callback) { callback_ = std::move(callback); }
  const std::shared_ptr<Callback>& callback() const { return callback_; }

  bool runs_on(const TaskGround& ground) const { return &ground == &ground_; }
  const Shape& shape() const { return shape_; }
  bool uses_lane() const { return main_.uses_lane(); }
  // The window that its data lies in; null: none.
  const Window* window() const { return window_.get(); }
  void use_window(std::shared_ptr<Window> window) {
    window_ = std::move(window);
    main_.set_window(window_.get());
  }
  // Whether it runs collectives of the MPI's own.
  bool offloads() const { return !main_.schedule().offload.empty(); }
  // Why the last run failed.
  const std::exception_ptr& error() const { return error_; }
  // Bytes of memory that it takes, and its schedule, by estimate.
  std::int64_t bytes() const { return bytes_; }

  // Fails a run that is in flight, in mid-collective: nobody knows what has arrived where.
  void fail(const std::exception_ptr& error);

  // For people. What is under way.
  const Exchange& current() const { return *current_; }
  // Whether that is checked mode's comparison.
  bool comparing() const { return state() == State::begun && plan_number_ == 1 && ground_.compare; }
  // When it last advanced; only where somebody wants to know.
  std::chrono::steady_clock::time_point last_advance() const { return advanced_; }
  // What has been said about this run.
  struct Reported {
    bool missing = false;
    bool waiting = false;
  };
  Reported& reported() { return reported_; }

 private:
  void begin() override;
  void has_ended() override;
  void fail_like(const Ordered& earlier) override;
  void advanced() override;
  void done(Exchange& exchange) override;
  void failed(Exchange& exchange, std::exception_ptr error) override;

  int first_tag() const { return static_cast<int>(sequence() % ground_.order.window()) * tags_per_collective; }
  void proceed();
  bool next_phase();
  std::unique_ptr<Plan> next_plan();
  void end(bool failed);

  TaskGround& ground_;
  Shape shape_;
  Case asked_;
  Decision decision_;
  std::vector<Layout> input_layouts_;
  std::vector<Layout> output_layouts_;
  Kept kept_;
  std::shared_ptr<Window> window_;
  std::optional<CallKey> key_;
  Home home_;
  MakePlan make_plan_;
  std::unique_ptr<Plan> plan_;  // of this run, as long as it has phases
  int plan_number_ = 0;         // plans of this run so far
  // Of this run. Those that have ended are kept until the next: one of them may be calling.
  std::vector<std::unique_ptr<Exchange>> phases_;
  Exchange main_;
  Exchange* current_ = &main_;
  std::shared_ptr<Callback> callback_;
  std::exception_ptr error_;
  std::chrono::steady_clock::time_point advanced_;
  Reported reported_;
  std::int64_t bytes_;
};

}  // namespace quadrille::engine
