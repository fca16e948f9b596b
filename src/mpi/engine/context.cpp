#include "engine/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <numeric>
#include <quadrille/error.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "engine/agreement.hpp"
#include "engine/places.hpp"
#include "engine/words.hpp"
#include "machine/cores.hpp"

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

template <std::size_t length>
void put(std::string_view text, std::array<char, length>& into) {
  std::copy_n(text.begin(), std::min(text.size(), length - 1), into.begin());
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
  // By a split: it copies no attributes, so none of the user's callbacks run.
  int key = 0;
  check(PMPI_Comm_rank(parent, &key), "MPI_Comm_rank");
  check(PMPI_Comm_split(parent, 0, key, &comm_), "MPI_Comm_split");
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
    settle();
  } catch (...) {
    close();
    throw;
  }
  const std::span<const PlacedRule> rules =
      settings_.table ? std::span(*settings_.table) : std::span<const PlacedRule>();
  selector_ = Selector(settings_.preferences, rules, ranks_,
                       {.topology = &*topology_,
                        .slot_bytes = node_memory_ ? node_memory_->slot_bytes() : 0,
                        .offloads = settings_.offloads(),
                        .checked = settings_.check});
  selector_.set_model(settings_.model);
  watchdog_.count_from(order_.next_sequence());
}

// What every rank says, by rank. Collective.
template <class Word>
std::vector<Word> Context::words_of_all(Word mine) {
  std::vector<Word> all;
  const Case asked{.collective = Collective::allgather, .ranks = ranks_, .count = sizeof(Word)};
  const auto task = prepare(asked, {}, [&] {
    std::vector<Phase> phases;
    phases.push_back(gather_words(words_program(sizeof(Word)), mine, all));
    return std::make_unique<FixedPlan>(std::move(phases));
  });
  start(*task);
  // What a callback throws is for those who wait for collectives of their own.
  wait_quietly(*task);
  if (task->state() == Ordered::State::failed) std::rethrow_exception(task->error());
  return all;
}

// Finds out where the ranks are, and has those of a node share memory. Collective.
void Context::settle() {
  topology_.emplace(ranks_, std::vector<std::vector<std::int32_t>>{});
  if (ranks_ == 1) return;
  struct Word {
    Place place;
    bool oversubscribed = false;
    std::int32_t cores = 1;       // of the node
    std::int32_t of_machine = 1;  // and of all nodes that are parts of one machine
    std::array<char, 240> trouble = {};
  } mine;
  mine.oversubscribed = process_.crowded();
  mine.cores = std::max(1, static_cast<int>(machine::usable_cores()));
  mine.of_machine = std::max(1, static_cast<int>(machine::cores_of_all_nodes()));
  try {
    mine.place = own_place();
  } catch (const Error& error) {
    put(error.what(), mine.trouble);
  }
  std::vector<Place> places;
  bool oversubscribed = false;
  std::int32_t cores = mine.cores;
  std::int32_t of_machine = mine.of_machine;
  for (const Word& word : words_of_all(mine)) {
    if (word.trouble[0] != 0) throw Error(MPI_ERR_ARG, word.trouble.data());
    places.push_back(word.place);
    oversubscribed |= word.oversubscribed;
    cores = std::min(cores, word.cores);
    of_machine = std::min(of_machine, word.of_machine);
  }
  topology_ = topology_of(places);
  cost::Model& model = settings_.model;
  const bool together = std::all_of(places.begin(), places.end(),
                                    [&](const Place& one) { return one.machine == places.front().machine; });
  model.one_machine |= together && topology_->domains(topology_->levels() - 1) > 1;
  if (model.cores == 0) model.cores = model.one_machine ? of_machine : cores;
  if (settings_.offloads() && topology_->domains(topology_->levels() - 1) > 1) gather_leaders();
  if (settings_.shared_bytes(oversubscribed) != 0) share_memory(oversubscribed);
}

// The first rank of each node. Collective.
void Context::gather_leaders() {
  const int nodes = topology_->levels() - 1;
  const bool leads = topology_->domain(nodes, rank_)[0] == rank_;
  check(PMPI_Comm_split(comm_, leads ? 0 : MPI_UNDEFINED, rank_, &leaders_), "MPI_Comm_split");
  if (leads) check(PMPI_Comm_set_errhandler(leaders_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  ground_.ground.leaders = leaders_;
}

void Context::share_memory(bool oversubscribed) {
  node_memory_.emplace(*topology_, rank_, settings_.shared_bytes(oversubscribed), oversubscribed);
  const std::vector<NodeMemory::Word> created = words_of_all(node_memory_->create());
  const std::vector<NodeMemory::Word> opened = words_of_all(node_memory_->open(created));
  if (const std::optional<Rank> failed = node_memory_->settle(opened)) {
    static std::atomic<bool> warned = false;
    if (rank_ == 0 && !warned.exchange(true)) {
      fmt::print(stderr,
                 "quadrille: ranks of a node can't share memory and send messages instead (rank {}: {}); "
                 "QUADRILLE_SHARED=0 spares the attempt\n",
                 *failed, opened[static_cast<std::size_t>(*failed)].trouble.data());
    }
    node_memory_.reset();
    return;
  }
  ground_.ground.node = node_memory_->ground();
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
  // Messages that nobody has received would turn up in the next communicator that MPI gives the same number to.
  if (!littered_ && leaders_ != MPI_COMM_NULL) PMPI_Comm_free(&leaders_);
  if (!littered_) PMPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

void Context::check_fit(const Schedule& schedule, const Shape& shape) const {
  if (schedule.channels > (shape.swaps ? tag_of_demand : tags_per_collective)) {
    throw std::logic_error("a schedule takes more channels than a collective has tags");
  }
  if (schedule.counters == 0) return;
  const std::int64_t units = std::accumulate(schedule.slots.begin(), schedule.slots.end(), std::int64_t{0});
  const bool fits = shares_memory() && schedule.counters <= shared::Lanes::counters && units <= shape.room &&
                    std::ssize(schedule.slots) <= Requirements::most_slots;
  if (!fits) throw std::logic_error("a schedule takes more counters or slots than there are");
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
      .offloads = shape.offloads};
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
  return program({.variant = gathering_words(), .count = bytes});
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

// Every leader must call the MPI's own collectives in the same order: those of one collective at a time.
bool Context::admits_offload(const Task& one) const {
  for (const Ordered* earlier = order_.oldest(); earlier && earlier != &one; earlier = earlier->next()) {
    if (static_cast<const Task*>(earlier)->offloads()) return false;
  }
  return true;
}

// Whether its lane is free, if it uses one.
bool Context::admits(const Ordered& one) {
  if (leaders_ != MPI_COMM_NULL && static_cast<const Task&>(one).offloads() &&
      !admits_offload(static_cast<const Task&>(one))) {
    return false;
  }
  if (!static_cast<const Task&>(one).uses_lane() || node_memory_->lanes()->free_for(one.sequence())) return true;
  process_.starve(*this);
  return false;
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
