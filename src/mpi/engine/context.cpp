#include "engine/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <quadrille/error.hpp>
#include <stdexcept>
#include <utility>

#include "engine/agreement.hpp"
#include "engine/private_communicator.hpp"
#include "knowledge/library.hpp"
#include "meet/words.hpp"

namespace quadrille::engine {

namespace {

constexpr std::int64_t most_in_flight = 512;

std::int64_t tags_of_mpi() {
  constexpr std::int64_t promised = 32768;
  const int* greatest = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&greatest), &found), "MPI_Comm_get_attr");
  return found ? std::int64_t{*greatest} + 1 : promised;
}

}  // namespace

Context::Context(MPI_Comm parent, const Settings& settings)
    : process_(Process::get()),
      settings_(settings),
      random_(settings.shuffle),
      order_(*this),
      ground_{.process = process_,
              .order = order_,
              .ground = {},
              .settings = settings_,
              .random = random_,
              .compare = {},
              .fail_all = [this](const std::exception_ptr& error) { fail_all(error); }},
      watchdog_(settings_) {
  if (settings.progress) process_.start_progress();
  comm_ = private_communicator(parent, process_.threads());
  check(PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(PMPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(PMPI_Comm_size(comm_, &ranks_), "MPI_Comm_size");
  order_.set_limits(std::min(most_in_flight, tags_of_mpi() / tags_per_collective), settings_.preferences.memory);
  ground_.ground.messages = {
      .comm = comm_, .part = settings_.preferences.part, .requests = &process_.requests(), .arena = &process_.arena()};
  ground_.ground.watch = &process_.watch();
  watchdog_.set_place(rank_, ranks_);
  if (settings_.check) {
    agreement_program_ = std::make_shared<const Program>(agreement_schedule(rank_, ranks_));
    ground_.compare = [this](const Task& task) { return comparison(task); };
  }
  {
    const auto locked = process_.lock();
    process_.enter(*this, {.watched = settings_.watched(),
                           .keeps_blocks = settings_.preferences.memory == 0,
                           .signal = settings_.signal});
  }
  try {
    settle(parent);
    make_selector();
  } catch (...) {
    close();
    throw;
  }
  watchdog_.count_from(order_.next_sequence());
}

void Context::make_selector() {
  const std::span<const PlacedRule> rules =
      settings_.table ? std::span(*settings_.table) : std::span<const PlacedRule>();
  selector_ = Selector(settings_.preferences, rules, ranks_,
                       {.topology = &*topology_,
                        .slot_bytes = node_memory_ ? node_memory_->slot_bytes() : 0,
                        .offloads = settings_.offloads(),
                        .crowded = crowded_,
                        .checked = settings_.check});
  selector_.set_model(settings_.model,
                      knowledge::native_price(settings_.usual_mpi ? knowledge::library_of(mpi_name()) : nullptr));
}

Context::~Context() {
  if (Process::alive()) close();
}

void Context::close() {
  const auto locked = process_.lock();
  if (comm_ == MPI_COMM_NULL) return;
  broken_ = "the communicator is closed: MPI was finalised before this call";
  if (order_.oldest()) fail_all(std::make_exception_ptr(Error(MPI_ERR_COMM, broken_)));
  process_.leave(*this);
  if (!littered_) {
    for (const auto& window : windows_) window->free();
  }
  windows_.clear();
  // Messages that nobody has received would turn up in the next communicator that MPI gives the same number to.
  if (!littered_ && leaders_ != MPI_COMM_NULL) PMPI_Comm_free(&leaders_);
  if (!littered_) PMPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

namespace {

void check_window(const Schedule& schedule, std::int64_t staging_place) {
  if (!schedule.one_sided()) return;
  std::int64_t words = 0;
  for (const std::int64_t units : schedule.boxes) words += Window::words(units);
  const bool fits = schedule.unit == Unit::bytes && schedule.notices <= Window::notices_of_a_peer * schedule.ranks &&
                    words <= Window::words(Window::box_bytes);
  const auto& staging = schedule.staging;
  const bool staged =
      std::ssize(staging) <= Window::staging_blocks(schedule.ranks) &&
      std::all_of(staging.begin(), staging.end(), [&](std::int64_t place) { return place == staging_place; });
  if (!fits || !staged) throw std::logic_error("a schedule takes more notices, boxes or staging than a window has");
  if (schedule.notice_span >= most_counter_span) {
    throw Error(MPI_ERR_COUNT, "the data is too long to go through a window in segments: raise QUADRILLE_SEGMENT");
  }
}

}  // namespace

void Context::check_fit(const Schedule& schedule, const Shape& shape) const {
  if (schedule.channels > first_open_channel) {
    throw std::logic_error("a schedule takes more channels than a collective has tags");
  }
  check_window(schedule, shape.staging);
  if (schedule.counters == 0) return;
  const std::int64_t units = std::accumulate(schedule.slots.begin(), schedule.slots.end(), std::int64_t{0});
  const bool fits = shares_memory() && schedule.counters <= shared::Lanes::counters && units <= shape.room &&
                    std::ssize(schedule.slots) <= Requirements::most_slots;
  if (!fits) throw std::logic_error("a schedule takes more counters or slots than there are");
  const auto here = [&](Rank other) { return topology_->same_node(rank_, other); };
  if (const std::string why = beyond_shared_memory(schedule, here); !why.empty()) throw std::logic_error(why);
  if (schedule.counter_span >= most_counter_span) {
    throw too_long_for_shared_memory();
  }
}

Schedule Context::built(const Shape& shape) const {
  const Variant& variant = shape.variant;
  const Problem problem{
      .rank = rank_,
      .ranks = ranks_,
      .root = shape.root,
      .count = shape.count,
      .shares = shape.shares.get(),
      .in_place = shape.in_place,
      .commutative = shape.commutative,
      .fixed_order = shape.fixed_order,
      .segment = variant.segment == 0 ? 0 : std::max<std::int64_t>(1, variant.segment / shape.unit_bytes),
      .window = variant.window > 0 ? variant.window : Problem{}.window,
      .width = variant.width,
      .topology = &*topology_,
      .room = shape.room,
      .unit_bytes = shape.unit_bytes,
      .crowded = crowded_,
      .offloads = shape.offloads,
      .exposed = shape.exposed,
      .pulls = shape.pulls,
      .box = shape.box,
      .staging = shape.staging};
  const Algorithm& algorithm = variant.algorithm();
  if (const std::string why = refusal(algorithm, problem); !why.empty()) throw Error(MPI_ERR_ARG, why);
  Schedule schedule = build(algorithm, problem);
  check_fit(schedule, shape);
  return schedule;
}

std::unique_ptr<Task> Context::prepare(const Shape& shape, const Case& asked, const Decision& decision) {
  const auto locked = process_.lock();
  std::unique_ptr<Task> task = cache_.take(shape);
  if (!task) task = std::make_unique<Task>(ground_, shape, program(shape));
  task->assign(asked, decision);
  return task;
}

std::unique_ptr<Task> Context::prepare(const Case& asked, Budget budget, Task::MakePlan plan) {
  const auto locked = process_.lock();
  Schedule nothing;
  nothing.rank = rank_;
  nothing.ranks = ranks_;
  const Shape shape{.variant = variant_of(in_place_exchange), .budget = budget, .swaps = true};
  auto task = std::make_unique<Task>(ground_, shape, std::make_shared<const Program>(std::move(nothing)));
  Decision decision;
  decision.variant = shape.variant;
  task->assign(asked, decision);
  task->set_plan(std::move(plan));
  return task;
}

std::shared_ptr<const Program> Context::program(const Shape& shape) {
  const auto locked = process_.lock();
  return cache_.program(shape, [&] { return built(shape); });
}

std::shared_ptr<const Program> Context::words_program(std::int64_t bytes) {
  return program({.variant = meet::gathering_words(), .count = bytes});
}

Decision Context::decide(const Case& asked, const Request& request) {
  const auto locked = process_.lock();
  return memo_.decide(selector_, asked, request);
}

void Context::keep_native(const CallKey& key, const Decision& decision) {
  const auto locked = process_.lock();
  cache_.keep_native(key, decision);
}

Cache::Recalled Context::recall(const CallKey& key, const void* input, const void* output) {
  const auto locked = process_.lock();
  return cache_.recall(key, input, output);
}

std::shared_ptr<const Shares> Context::shares(const detail::Integers& counts) {
  const auto locked = process_.lock();
  return cache_.shares(counts, ranks_);
}

void Context::run(std::unique_ptr<Task> task) {
  start(*task);
  try {
    wait(*task);
  } catch (...) {
    release(std::move(task));
    throw;
  }
  release(std::move(task));
}

void Context::release(std::unique_ptr<Task> task) {
  const auto locked = process_.lock();
  if (task->in_flight()) return;
  task->set_callback(nullptr);
  Order::undeclare(*task);
  if (task->state() == Ordered::State::failed) return;
  Order::reset(*task);
  cache_.keep(std::move(task));
}

// Nothing that was refused has a place in the order.
void Context::refuse_start(const Task& task) const {
  if (!broken_.empty()) throw Error(MPI_ERR_COMM, broken_);
  if (task.in_flight()) throw Error(MPI_ERR_REQUEST, "the operation was started again before it had ended: wait first");
  if (task.window() && !task.window()->usable()) throw Error(MPI_ERR_WIN, "the operation's window is freed");
  if (!task.decision().fits) {
    throw Error(
        MPI_ERR_NO_MEM,
        fmt::format("{} ({}) may take {} bytes a rank, and the bound is {}: raise QUADRILLE_MEMORY or the call's own "
                    "bound, or choose an algorithm with less scratch ('quadrille list --json' shows it)",
                    name(task.asked().collective), task.decision().variant.algorithm().name, task.decision().needed,
                    task.asked().memory));
  }
  if (task.declared()) refuse_start(static_cast<const Task&>(*task.declared()));
}

void Context::start(Task& task) {
  const auto locked = process_.lock();
  refuse_start(task);
  order_.start(task);
  process_.wake();
}

void Context::require_own(const Task& task) const {
  if (task.runs_on(ground_)) return;
  throw Error(MPI_ERR_ARG, "a collective can only follow one of the same communicator");
}

void Context::start_after(Task& task, Task& earlier) {
  const auto locked = process_.lock();
  require_own(earlier);
  if (const auto why = Order::refusal_to_follow(earlier); !why.empty()) throw Error(MPI_ERR_ARG, std::string(why));
  refuse_start(task);
  order_.start_after(task, earlier);
  process_.wake();
}

void Context::declare(Task& task, Task& earlier) {
  const auto locked = process_.lock();
  require_own(earlier);
  const auto why = Order::refusal_to_declare(task, earlier);
  if (!why.empty()) throw Error(MPI_ERR_ARG, std::string(why));
  Order::declare(task, earlier);
}

void Context::set_callback(Task& task, std::function<void()> callback, bool also_if_over) {
  const auto locked = process_.lock();
  task.set_callback(callback ? std::make_shared<Callback>(Callback{std::move(callback)}) : nullptr);
  if (also_if_over && task.callback() && task.state() == Ordered::State::done) process_.call_back(task.callback());
}

// Every leader must call the MPI's own collectives in the same order, and what goes through a window is told by notices
// that one collective sets after another: one at a time.
bool Context::admits_alone(const Task& one) const {
  if (!one.offloads() && !one.window()) return true;
  for (const Ordered* other = order_.oldest(); other && other != &one; other = other->next()) {
    const auto& earlier = static_cast<const Task&>(*other);
    if ((one.offloads() && earlier.offloads()) || (one.window() && earlier.window() == one.window())) return false;
  }
  return true;
}

// Whether its lane is free, if it uses one.
bool Context::admits(const Ordered& one) {
  if (!admits_alone(static_cast<const Task&>(one))) return false;
  if (!static_cast<const Task&>(one).uses_lane() || node_memory_->lanes()->free_for(one.sequence())) return true;
  process_.starve(*this);
  return false;
}

std::shared_ptr<Window> Context::make_window(void* memory, std::int64_t bytes) {
  const auto locked = process_.lock();
  if (!broken_.empty()) throw Error(MPI_ERR_COMM, broken_);
  auto made = std::make_shared<Window>(comm_, memory, bytes, settings_.staging);
  if (!made->usable()) return made;
  return windows_.emplace_back(std::move(made));
}

void Context::drain(const Window& window) {
  process_.wait([&] {
    const Ordered* one = order_.oldest();
    while (one && static_cast<const Task*>(one)->window() != &window) one = one->next();
    return !one;
  });
}

void Context::free_window(Window& window) {
  const auto locked = process_.lock();
  const auto place =
      std::find_if(windows_.begin(), windows_.end(), [&](const auto& known) { return known.get() == &window; });
  if (place == windows_.end()) return;
  if (!littered_) window.free();
  windows_.erase(place);
}

void Context::ended_below(std::int64_t sequence) {
  if (node_memory_ && node_memory_->lanes()) node_memory_->lanes()->ended_below(sequence);
}

// After an error in mid-collective nobody knows what has arrived where: nothing more can run here.
void Context::fail_all(const std::exception_ptr& error) {
  if (broken_.empty()) broken_ = "an earlier collective on this communicator failed: make a new communicator";
  littered_ = true;
  order_.close();
  while (order_.oldest()) static_cast<Task*>(order_.oldest())->fail(error);
}

std::unique_ptr<Plan> Context::comparison(const Task& task) const {
  const std::shared_ptr<const Shares>& shares = task.shape().shares;
  return std::make_unique<CompareCalls>(agreement_program_,
                                        Opinion::Camp{.asked = task.asked(),
                                                      .variant = task.decision().variant,
                                                      .shares = shares ? shares->mark() : 0,
                                                      .first = rank_,
                                                      .ranks = 1},
                                        watchdog_.number(task));
}

bool Context::test(Task& task) {
  {
    const auto locked = process_.lock();
    process_.look();  // also for one that has ended: others may wait for this call to advance them
  }
  process_.run_callbacks();
  {
    const auto locked = process_.lock();
    if (task.in_flight() || !process_.called_back(task.callback().get())) return false;
  }
  process_.rethrow_from_callback();
  if (task.state() == Ordered::State::failed) std::rethrow_exception(task.error());
  return true;
}

void Context::wait_quietly(Task& task) {
  process_.run_callbacks();
  process_.wait([&] { return !task.in_flight() && process_.called_back(task.callback().get()); });
}

void Context::wait(Task& task) {
  wait_quietly(task);
  process_.rethrow_from_callback();
  if (task.state() == Ordered::State::failed) std::rethrow_exception(task.error());
}

}  // namespace quadrille::engine
