#include "engine/task.hpp"

#include <algorithm>
#include <new>
#include <quadrille/error.hpp>
#include <utility>

namespace quadrille::engine {

namespace {

// Messages travel in parts where memory is limited, since one may have to be packed at either end.
Ground ground_for(const TaskGround& ground, const Shape& shape) {
  Ground own = ground.ground;
  const std::int64_t longest = ground.settings.preferences.part;
  own.messages.part = shape.swaps ? longest : shape.budget.part(longest);
  own.messages.answered = shape.swaps;
  return own;
}

Posting posting_for(const TaskGround& ground, const Shape& shape) {
  const std::int64_t window = ground.settings.in_flight;
  const bool in_turn = shape.packed && !shape.swaps;
  return {.window = in_turn ? std::min(window, Budget::packed_in_flight) : window,
          .shuffle = ground.settings.shuffle != 0 ? &ground.random : nullptr};
}

}  // namespace

Task::Task(TaskGround& ground, const Shape& shape, std::shared_ptr<const Program> program)
    : ground_(ground),
      shape_(shape),
      main_(ground_for(ground, shape), std::move(program), posting_for(ground, shape), *this) {
  // Of the state that a run keeps for each operation.
  constexpr std::int64_t for_operation = 96;
  bytes_ = static_cast<std::int64_t>(sizeof(Task)) + for_operation * std::ssize(main_.schedule().operations);
}

Task::~Task() {
  const auto locked = ground_.process.lock();
  Order::undeclare(*this);
  if (!in_flight()) return;
  ground_.fail_all(std::make_exception_ptr(Error(MPI_ERR_OTHER, "a collective in flight was dropped")));
}

void Task::assign(const Case& asked, const Decision& decision) {
  asked_ = asked;
  decision_ = decision;
  const std::int64_t most = shape_.swaps ? shape_.budget.bytes() : decision.needed;
  set_reserved(ground_.settings.preferences.memory > 0 ? most : 0);
}

bool Task::reserve() {
  try {
    main_.reserve();
    return true;
  } catch (const std::bad_alloc&) {
    main_.forgo();
    return false;
  }
}

void Task::unbind() {
  key_.reset();
  home_ = {};
  keep({});
  use_window(nullptr);
  set_plan({});
  phases_.clear();
  current_ = &main_;
  binding().chunks.clear();
  binding().reduce = nullptr;
  binding().combine = nullptr;
}

Task::Sizes Task::sizes() const {
  const auto elements = [](const std::vector<Typed>& blocks) { return blocks.empty() ? 0 : blocks.front().count; };
  return {.input = elements(binding().input),
          .output = elements(binding().output),
          .count = asked_.count,
          .largest = asked_.largest,
          .scale = binding().scale};
}

void Task::rebind(const CallKey& key, const Sizes& sizes, const Decision& decision) {
  key_ = key;
  asked_.count = sizes.count;
  asked_.largest = sizes.largest;
  decision_ = decision;
  binding().scale = sizes.scale;
  if (!binding().input.empty()) binding().input.front().count = sizes.input;
  if (!binding().output.empty()) binding().output.front().count = sizes.output;
}

void Task::set_addresses(const void* input, const void* output) {
  const auto set = [](std::vector<Typed>& blocks, const void* address) {
    if (!blocks.empty()) blocks.front().address = static_cast<std::byte*>(const_cast<void*>(address));
  };
  set(binding().input, input);
  set(binding().output, output);
}

void Task::advanced() {
  if (ground_.settings.watched()) advanced_ = std::chrono::steady_clock::now();
}

void Task::begin() {
  error_ = nullptr;
  reported_ = {};
  plan_number_ = 0;
  advanced();
  if (ground_.compare || make_plan_) {
    phases_.clear();
    proceed();
    return;
  }
  current_ = &main_;
  main_.start(first_tag(), sequence());
}

std::unique_ptr<Plan> Task::next_plan() {
  if (plan_number_++ == 0 && ground_.compare) return ground_.compare(*this);
  if (plan_number_ <= 1 + (ground_.compare ? 1 : 0) && make_plan_) return make_plan_();
  return nullptr;
}

// Makes the next phase of the plans; false: there are no more.
bool Task::next_phase() {
  for (;;) {
    if (!plan_ && !(plan_ = next_plan())) return false;
    Phase phase;
    if (!plan_->next(phase)) {
      plan_ = nullptr;
      continue;
    }
    Ground ground = ground_.ground;
    ground.messages.answered = phase.swaps;
    // What is packed keeps to the memory limit that all ranks have; the call's own may differ between them. Chunks of
    // data are short enough. Of a protocol whose messages are packed the ranks have agreed on a part.
    const Preferences& preferences = ground_.settings.preferences;
    const bool may_pack = phase.program && !phase.swaps;
    ground.messages.part = may_pack         ? Budget(preferences.memory).part(preferences.part)
                           : phase.part > 0 ? std::min(phase.part, preferences.part)
                                            : preferences.part;
    // Parts of what anyone may send would mix.
    constexpr std::int64_t longest_from_anyone = 64;
    if (phase.open_channel >= 0) ground.messages.part = std::max(ground.messages.part, longest_from_anyone);
    Listener& listener = *this;
    phases_.push_back(std::make_unique<Exchange>(ground, std::move(phase), posting_for(ground_, {}), listener));
    return true;
  }
}

void Task::proceed() {
  try {
    current_ = next_phase() ? phases_.back().get() : &main_;
  } catch (const Error&) {
    error_ = std::current_exception();
    plan_ = nullptr;
    end(true);
    return;
  } catch (...) {
    ground_.fail_all(std::current_exception());
    return;
  }
  current_->start(first_tag(), sequence());
}

void Task::done(Exchange& exchange) {
  if (&exchange == &main_) {
    end(false);
  } else {
    proceed();
  }
}

void Task::failed(Exchange&, std::exception_ptr error) {
  ground_.fail_all(error);
}

void Task::fail_like(const Ordered& earlier) {
  error_ = static_cast<const Task&>(earlier).error_;
  end(true);
}

void Task::fail(const std::exception_ptr& error) {
  main_.cancel();
  bool may_be_read = false;
  for (const auto& phase : phases_) may_be_read |= phase->cancel();
  // A plan may own memory that MPI still sends from.
  if (may_be_read) [[maybe_unused]]
    auto* left = plan_.release();
  error_ = error;
  end(true);
}

void Task::end(bool failed) {
  if (failed) main_.forgo();
  ground_.order.end(*this, failed);
}

void Task::has_ended() {
  if (callback_ && state() == State::done) ground_.process.call_back(callback_);
}

}  // namespace quadrille::engine
