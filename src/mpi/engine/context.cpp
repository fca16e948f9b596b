#include "engine/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <numeric>
#include <quadrille/error.hpp>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include "engine/budget.hpp"
#include "engine/places.hpp"

namespace quadrille::engine {

namespace {

// Tags of one collective: the channels of its schedule, and above them those of checked mode. Tags are reused every
// window_ collectives. That is safe: a rank starts a collective only when it has ended the one that had its tags, so
// on each stream all messages of the older one are posted before any of the newer, at both ends.
constexpr std::int32_t tags_per_collective = 64;
constexpr std::int32_t first_agreement_tag = tags_per_collective - agreement_channels;
constexpr std::int64_t most_in_flight = 512;

// Of a bound on memory, a sixteenth is the longest packed part, and two of them may be under way in each direction.
constexpr std::int64_t parts_in_memory = 16;
constexpr std::int64_t staged_in_flight = 2;

// Of a schedule that uses shared memory.
constexpr std::int64_t most_slots = 4;

std::string number_and_name(std::int64_t sequence, const Algorithm& algorithm) {
  return fmt::format("collective number {}, {} ({})", sequence, name(algorithm.collective), algorithm.name);
}

}  // namespace

Context::Context(MPI_Comm parent, const Settings& settings)
    : process_(Process::get()), settings_(settings), random_(settings.shuffle) {
  if (settings.progress) process_.start_progress();
  // By a split: it copies no attributes, so none of the user's callbacks run.
  int key = 0;
  check(PMPI_Comm_rank(parent, &key), "MPI_Comm_rank");
  check(PMPI_Comm_split(parent, 0, key, &comm_), "MPI_Comm_split");
  check(PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(PMPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(PMPI_Comm_size(comm_, &ranks_), "MPI_Comm_size");
  const int* greatest_tag = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&greatest_tag), &found), "MPI_Comm_get_attr");
  const std::int64_t tags = found ? std::int64_t{*greatest_tag} + 1 : 32768;
  window_ = std::min(most_in_flight, tags / tags_per_collective);
  ground_ = {.comm = comm_,
             .part = settings_.part,
             .requests = &process_.requests(),
             .arena = &process_.arena(),
             .watch = &process_.watch(),
             .shared = {}};
  if (settings_.check) agreement_program_ = std::make_shared<const Program>(agreement_schedule(rank_, ranks_));
  {
    const auto locked = process_.lock();
    process_.enter(*this);
  }
  try {
    settle();
  } catch (...) {
    close();
    throw;
  }
  if (settings_.table) guide_ = Guide(*settings_.table, ranks_, nodes());
  users_first_ = next_sequence_;
}

// What every rank says, by rank. Collective.
template <class Word>
std::vector<Word> Context::words_of_all(const Word& mine) {
  static_assert(std::is_trivially_copyable_v<Word>);
  std::vector<Word> words(static_cast<std::size_t>(ranks_));
  auto task = prepare({.algorithm = find_algorithm(Collective::allgather, "bruck"), .count = sizeof(Word)});
  task->input_layouts().assign(1, Layout::basic(1));
  task->output_layouts() = task->input_layouts();
  Word copy = mine;
  task->binding().input = {{reinterpret_cast<std::byte*>(&copy), sizeof(Word), task->input_layouts().data()}};
  task->binding().output = {{reinterpret_cast<std::byte*>(words.data()),
                             ranks_ * static_cast<std::int64_t>(sizeof(Word)), task->output_layouts().data()}};
  start(*task);
  wait_quietly(*task);
  rethrow_if_failed(*task);
  release(std::move(task));
  return words;
}

// Finds out where the ranks are, and has those of a node share memory. Collective.
void Context::settle() {
  topology_.emplace(ranks_, std::vector<std::vector<std::int32_t>>{});
  if (ranks_ == 1) return;
  struct Word {
    Place place;
    bool crowded = false;
    std::array<char, 240> complaint = {};
  } mine;
  mine.crowded = process_.crowded();
  try {
    mine.place = own_place();
  } catch (const Error& error) {
    const std::string_view text = error.what();
    std::copy_n(text.begin(), std::min(text.size(), mine.complaint.size() - 1), mine.complaint.begin());
  }
  std::vector<Place> places;
  bool crowded = false;
  for (const Word& word : words_of_all(mine)) {
    if (word.complaint[0] != 0) throw Error(MPI_ERR_ARG, word.complaint.data());
    places.push_back(word.place);
    crowded |= word.crowded;
  }
  topology_ = topology_of(places);
  seats_.resize(static_cast<std::size_t>(ranks_));
  const int nodes = topology_->levels() - 1;
  for (const Rank first : topology_->first_of_domains(nodes)) {
    const Group node = topology_->domain(nodes, first);
    for (Rank seat = 0; seat < node.size(); ++seat) seats_[static_cast<std::size_t>(node[seat])] = seat;
  }
  if (settings_.shared_bytes(crowded) != 0) share_memory(crowded);
}

void Context::share_memory(bool crowded) {
  const Group node = topology_->domain(topology_->levels() - 1, rank_);
  const std::int64_t slot_bytes = settings_.shared_bytes(crowded);
  const std::int64_t bytes = shared::Lanes::bytes(node.size(), slot_bytes);
  struct Word {
    shared::Segment::Address address;
    std::array<char, 112> trouble = {};
  } mine;
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const std::system_error& error) {
      const std::string_view text = error.what();
      std::copy_n(text.begin(), std::min(text.size(), mine.trouble.size() - 1), mine.trouble.begin());
    }
  };
  attempt([&] {
    if (node[0] == rank_) segment_ = shared::Segment::create(bytes);
    mine.address = segment_.address();
  });
  const Word leaders = words_of_all(mine)[static_cast<std::size_t>(node[0])];
  attempt([&] {
    if (node[0] != rank_ && leaders.trouble[0] == 0) segment_ = shared::Segment::open(leaders.address, bytes);
  });
  // All do, or none.
  const std::vector<Word> words = words_of_all(mine);
  segment_.close_door();
  const auto failed = std::find_if(words.begin(), words.end(), [](const Word& word) { return word.trouble[0] != 0; });
  if (failed != words.end()) {
    segment_ = {};
    static std::atomic<bool> told = false;
    if (rank_ == 0 && !told.exchange(true)) {
      fmt::print(stderr,
                 "quadrille: ranks of a node can't share memory and send messages instead (rank {}: {}); "
                 "QUADRILLE_SHARED=0 spares the attempt\n",
                 failed - words.begin(), failed->trouble.data());
    }
    return;
  }
  lanes_.emplace(segment_.memory(), seats_[static_cast<std::size_t>(rank_)], node.size(), slot_bytes,
                 crowded ? shared::Lanes::Waits::asleep : shared::Lanes::Waits::awake);
  ground_.shared = {&*lanes_, seats_};
}

std::int32_t Context::nodes() const {
  return static_cast<std::int32_t>(topology_->first_of_domains(topology_->levels() - 1).size());
}

std::int64_t Context::room_for(const Layout& element) const {
  if (!lanes_ || element.extent() <= 0) return 0;
  // Each of a few slots is rounded up, and may begin before its first byte or end behind its last.
  constexpr std::int64_t lost_by_rounding = 16;
  const auto [first, last] = element.span(1);
  const std::int64_t lost =
      most_slots * (lost_by_rounding + std::max<std::int64_t>(0, last - first - element.extent()));
  return std::max<std::int64_t>(0, (lanes_->slot_bytes() - lost) / element.extent());
}

Context::~Context() {
  if (Process::alive()) close();
}

void Context::close() {
  const auto locked = process_.lock();
  if (comm_ == MPI_COMM_NULL) return;
  broken_ = "the communicator is closed: MPI was finalised before this call";
  if (oldest_) fail_all(std::make_exception_ptr(Error(MPI_ERR_COMM, broken_)));
  process_.leave(*this);
  // Messages that nobody has received would turn up in the next communicator that MPI gives the same number to.
  if (!littered_) PMPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

Problem Context::problem(const Shape& shape) const {
  return {.rank = rank_,
          .ranks = ranks_,
          .root = shape.root,
          .count = shape.count,
          .shares = shape.shares.get(),
          .in_place = shape.in_place,
          .commutative = shape.commutative,
          .fixed_order = shape.fixed_order,
          .segment = shape.segment,
          .window = shape.window > 0 ? shape.window : Problem{}.window,
          .width = shape.width,
          .topology = &*topology_,
          .room = shape.room};
}

// Longer messages travel in parts; both ends must cut alike.
std::int64_t Context::part_for(const Shape& shape) const {
  if (shape.memory == 0 || shape.swaps) return settings_.part;
  return std::clamp(shape.memory / parts_in_memory, std::int64_t{1}, settings_.part);
}

Ground Context::ground_for(const Shape& shape) const {
  Ground ground = ground_;
  ground.part = part_for(shape);
  ground.on_demand = shape.swaps;
  return ground;
}

Posting Context::posting(const Shape& shape) {
  const std::int64_t window = settings_.in_flight;
  const bool in_turn = shape.staged && !shape.swaps;
  return {.window = in_turn ? std::min(window, staged_in_flight) : window,
          .shuffle = settings_.shuffle != 0 ? &random_ : nullptr};
}

void Context::check_fit(const Schedule& schedule, const Shape& shape) const {
  if (schedule.channels > first_agreement_tag) {
    throw std::logic_error("a schedule takes more channels than a collective has tags");
  }
  if (schedule.counters == 0) return;
  const std::int64_t units = std::accumulate(schedule.slots.begin(), schedule.slots.end(), std::int64_t{0});
  const bool fits = lanes_ && schedule.counters <= shared::Lanes::counters && units <= shape.room &&
                    std::ssize(schedule.slots) <= most_slots;
  if (!fits) throw std::logic_error("a schedule takes more counters or slots than there are");
  if (schedule.counter_span >= shared::Lanes::most_span) {
    throw Error(MPI_ERR_COUNT, "the data is too long to go through shared memory in pieces: raise QUADRILLE_SHARED");
  }
}

Schedule Context::built(const Shape& shape) const {
  const Problem problem = this->problem(shape);
  if (const std::string why = refusal(*shape.algorithm, problem); !why.empty()) throw Error(MPI_ERR_ARG, why);
  Schedule schedule = build(*shape.algorithm, problem);
  check_fit(schedule, shape);
  return schedule;
}

std::unique_ptr<Task> Context::prepare(const Shape& shape) {
  const auto locked = process_.lock();
  if (std::unique_ptr<Task> task = cache_.take(shape)) return task;
  return std::make_unique<Task>(*this, shape, program(shape));
}

std::unique_ptr<Task> Context::prepare(const Algorithm& shown, std::int64_t memory, Task::MakePlan plan) {
  const auto locked = process_.lock();
  Schedule nothing;
  nothing.rank = rank_;
  nothing.ranks = ranks_;
  const Shape shape{.algorithm = &shown, .memory = memory, .swaps = true};
  auto task = std::make_unique<Task>(*this, shape, std::make_shared<const Program>(std::move(nothing)));
  task->set_plan(std::move(plan));
  return task;
}

std::shared_ptr<const Program> Context::program(const Shape& shape) {
  const auto locked = process_.lock();
  return cache_.program(shape, [&] { return built(shape); });
}

void Context::pass_by(const Signature& signature) {
  const auto locked = process_.lock();
  cache_.pass_by(signature);
}

bool Context::passed_by(const Signature& signature) const {
  const auto locked = process_.lock();
  return cache_.passed_by(signature);
}

std::unique_ptr<Task> Context::recall(const Signature& signature, const void* input, const void* output) {
  const auto locked = process_.lock();
  return cache_.recall(signature, input, output);
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
  task->then_ = nullptr;
  undeclare(*task);
  if (task->state_ == Task::State::failed) return;
  task->state_ = Task::State::idle;
  cache_.keep(std::move(task));
}

// The same on every rank, so that they choose and refuse alike: the most that any rank may take.
std::int64_t Context::memory_for(const Shape& shape, const Layout& layout) const {
  if (shape.memory == 0) return 0;
  // Swaps are cut so that they fit, if they can be; where blocks differ, ranks find out together.
  if (shape.swaps) {
    const bool fits = shape.segment > 0 || traits(shape.algorithm->collective).separate_blocks;
    return fits ? shape.memory : std::max(shape.memory + 1, least_to_swap);
  }
  const Algorithm& algorithm = *shape.algorithm;
  // Whether it is in place is for each rank to say, or for the root alone.
  Problem problem = this->problem(shape);
  problem.rank = shape.root;
  problem.in_place = false;
  std::int64_t units = scratch_units(algorithm, problem);
  problem.in_place = true;
  if (traits(algorithm.collective).may_be_in_place) units = std::max(units, scratch_units(algorithm, problem));
  const auto [first, last] = traits(algorithm.collective).reduces ? layout.span(units) : std::pair{units * 0, units};
  // Scratch may be several blocks, each rounded up.
  const std::int64_t scratch = units == 0 ? 0 : (last - first) / 8 * 9 + 8 * Arena::taken_for(1);
  return scratch + 2 * staged_in_flight * Arena::taken_for(part_for(shape));
}

bool Context::exceeds_memory(const Task& task) const {
  return memory_for(task.shape_, task.main_.scratch_layout()) > task.shape_.memory;
}

// Nothing that was refused has a place in the order.
void Context::refuse_start(const Task& task) const {
  if (!broken_.empty()) throw Error(MPI_ERR_COMM, broken_);
  if (task.in_flight()) throw Error(MPI_ERR_REQUEST, "the operation was started again before it had ended: wait first");
  const std::int64_t needed = memory_for(task.shape_, task.main_.scratch_layout());
  if (needed > task.shape_.memory) {
    throw Error(
        MPI_ERR_NO_MEM,
        fmt::format("{} ({}) may take {} bytes a rank, and the bound is {}: raise QUADRILLE_MEMORY or the call's own "
                    "bound, or choose an algorithm with less scratch ('quadrille list --json' shows it)",
                    name(task.shape_.algorithm->collective), task.shape_.algorithm->name, needed, task.shape_.memory));
  }
  if (task.declared_) refuse_start(*task.declared_);
}

void Context::enqueue(Task& task) {
  task.reserved_ = settings_.memory > 0 ? memory_for(task.shape_, task.main_.scratch_layout()) : 0;
  task.sequence_ = next_sequence_++;
  task.state_ = Task::State::queued;
  task.error_ = nullptr;
  task.named_missing_ = task.told_ = false;
  task.followed_ = task.declared_ != nullptr;
  task.previous_ = newest_;
  task.next_ = nullptr;
  (newest_ ? newest_->next_ : oldest_) = &task;
  newest_ = &task;
  if (!first_queued_) first_queued_ = &task;
  if (!task.declared_) return;
  task.declared_->follows_ = &task;
  task.follower_ = task.declared_;
  enqueue(*task.declared_);
}

void Context::start(Task& task) {
  const auto locked = process_.lock();
  refuse_start(task);
  enqueue(task);
  pump();
  process_.wake();
}

void Context::start_after(Task& task, Task& earlier) {
  const auto locked = process_.lock();
  if (&earlier.context_ != this) throw Error(MPI_ERR_ARG, "a collective can only follow one of the same communicator");
  // Whether the earlier one has ended here other ranks don't know: what is refused must not depend on it.
  if (earlier.followed_) throw Error(MPI_ERR_ARG, "another collective follows this one already");
  refuse_start(task);
  earlier.followed_ = true;
  if (earlier.in_flight()) {
    task.follows_ = &earlier;
    earlier.follower_ = &task;
  }
  enqueue(task);
  if (earlier.state_ == Task::State::failed) {
    task.error_ = earlier.error_;
    end(task, Task::State::failed);
    return;
  }
  pump();
  process_.wake();
}

void Context::declare(Task& task, Task& earlier) {
  const auto locked = process_.lock();
  if (&earlier.context_ != this) throw Error(MPI_ERR_ARG, "a collective can only follow one of the same communicator");
  for (const Task* one = &task; one; one = one->declared_) {
    if (one == &earlier) throw Error(MPI_ERR_ARG, "a chain of collectives can't lead back to its beginning");
  }
  if (earlier.declared_) throw Error(MPI_ERR_ARG, "another collective follows this one already");
  if (task.declared_by_) throw Error(MPI_ERR_ARG, "the collective follows another one already");
  earlier.declared_ = &task;
  task.declared_by_ = &earlier;
}

void Context::set_callback(Task& task, std::function<void()> then, bool also_if_over) {
  const auto locked = process_.lock();
  task.then_ = then ? std::make_shared<Callback>(Callback{std::move(then)}) : nullptr;
  if (also_if_over && task.then_ && task.state_ == Task::State::done) process_.call_back(task.then_);
}

// Whether its lane is free, if it uses one.
bool Context::has_lane(const Task& task) {
  if (!task.main_.uses_lane() || lanes_->free_for(task.sequence_)) return true;
  process_.starve(*this);
  return false;
}

// Begins what is queued, in order, as far as tags, memory and lanes reach. What follows another gets them in its turn,
// on every rank alike, and begins when the other has ended.
bool Context::pump() {
  if (std::exchange(pumping_, true)) return false;
  bool happened = false;
  while (first_queued_) {
    Task& task = *first_queued_;
    if (task.sequence_ - oldest_->sequence_ >= window_) break;
    if (reserved_ > 0 && reserved_ + task.reserved_ > settings_.memory) break;
    if (!has_lane(task)) break;
    happened = true;
    first_queued_ = task.next_;
    reserved_ += task.reserved_;
    task.state_ = Task::State::waiting;
    if (!task.follows_) begin(task);
  }
  pumping_ = false;
  return happened;
}

// What was to follow one that failed fails as well.
void Context::release_follower(Task& task) {
  Task* follower = std::exchange(task.follower_, nullptr);
  if (!follower) return;
  follower->follows_ = nullptr;
  if (task.state_ == Task::State::failed) {
    follower->error_ = task.error_;
    end(*follower, Task::State::failed);
  } else if (follower->state_ == Task::State::waiting) {
    begin(*follower);
  }
}

void Context::undeclare(Task& task) {
  if (task.declared_) task.declared_->declared_by_ = nullptr;
  if (task.declared_by_) task.declared_by_->declared_ = nullptr;
  task.declared_ = task.declared_by_ = nullptr;
}

int Context::first_tag(const Task& task) const {
  return static_cast<int>(task.sequence_ % window_) * tags_per_collective;
}

void Context::begin(Task& task) {
  task.advanced();
  if (!task.agreement_) {
    set_going(task);
    return;
  }
  task.state_ = Task::State::agreeing;
  task.mine_ = {};
  const bool own_memory = task.shape_.swaps && traits(task.shape_.algorithm->collective).separate_blocks;
  task.mine_.lowest = {.algorithm = place_of(*task.shape_.algorithm),
                       .root = task.shape_.root,
                       .width = task.shape_.swaps ? 0 : task.shape_.width,
                       .count = task.shape_.shares ? task.shape_.shares->total() : task.shape_.count,
                       .shares = task.shape_.shares ? task.shape_.shares->mark() : 0,
                       .memory = own_memory ? 0 : task.shape_.memory,
                       .commutative = task.shape_.commutative,
                       .fixed_order = task.shape_.fixed_order,
                       .element_bytes = task.main_.scratch_layout().size(),
                       .operation = task.operation_,
                       .first = rank_,
                       .ranks = 1};
  task.agreement_->start(first_tag(task) + first_agreement_tag);
}

void Context::agreed(Task& task) {
  if (task.all_.unanimous()) {
    set_going(task);
    return;
  }
  task.error_ = std::make_exception_ptr(Error(MPI_ERR_OTHER, disagreement(task.all_, task.sequence_ - users_first_)));
  end(task, Task::State::failed);
}

void Context::set_going(Task& task) {
  task.state_ = Task::State::running;
  if (!task.make_plan_) {
    task.main_.start(first_tag(task), task.sequence_);
    return;
  }
  task.phases_.clear();
  try {
    task.plan_ = task.make_plan_();
  } catch (...) {
    fail_all(std::current_exception());
    return;
  }
  next_phase(task);
}

// Phases share tags: on each stream all messages of one are posted before any of the next, at both ends. Those that
// have ended are kept until the next run: one of them may be calling.
void Context::next_phase(Task& task) {
  Phase phase;
  bool more = false;
  try {
    more = task.plan_->next(phase);
    Listener& listener = task;
    Ground ground = ground_;
    ground.on_demand = phase.on_demand;
    if (more) task.phases_.push_back(std::make_unique<Exchange>(ground, std::move(phase), posting({}), listener));
  } catch (const Error&) {
    task.error_ = std::current_exception();
    task.plan_ = nullptr;
    end(task, Task::State::failed);
    return;
  } catch (...) {
    fail_all(std::current_exception());
    return;
  }
  if (!more) {
    task.plan_ = nullptr;
    task.main_.start(first_tag(task), task.sequence_);
    return;
  }
  task.phases_.back()->start(first_tag(task), task.sequence_);
}

void Context::end(Task& task, Task::State state) {
  if (task.state_ != Task::State::queued) reserved_ -= task.reserved_;
  if (first_queued_ == &task) first_queued_ = task.next_;
  task.state_ = state;
  if (state == Task::State::failed) task.main_.forgo();
  (task.previous_ ? task.previous_->next_ : oldest_) = task.next_;
  (task.next_ ? task.next_->previous_ : newest_) = task.previous_;
  if (lanes_) lanes_->ended_below(oldest_ ? oldest_->sequence_ : next_sequence_);
  if (task.follows_) std::exchange(task.follows_, nullptr)->follower_ = nullptr;
  if (task.then_ && state == Task::State::done) process_.call_back(task.then_);
  release_follower(task);
  pump();
}

// After an error in mid-collective nobody knows what has arrived where: nothing more can run here.
void Context::fail_all(const std::exception_ptr& error) {
  if (broken_.empty()) broken_ = "an earlier collective on this communicator failed: make a new communicator";
  littered_ = true;
  first_queued_ = nullptr;
  while (oldest_) {
    Task& task = *oldest_;
    task.main_.cancel();
    bool may_be_read = false;
    for (const auto& phase : task.phases_) may_be_read |= phase->cancel();
    // A plan may own memory that MPI still sends from.
    if (may_be_read) [[maybe_unused]]
      auto* left = task.plan_.release();
    if (task.agreement_) task.agreement_->cancel();
    task.error_ = error;
    end(task, Task::State::failed);
  }
}

void Context::rethrow_if_failed(Task& task) {
  if (task.state_ == Task::State::failed) std::rethrow_exception(task.error_);
}

bool Context::test(Task& task) {
  {
    const auto locked = process_.lock();
    if (task.in_flight()) process_.look();
  }
  process_.run_callbacks();
  {
    const auto locked = process_.lock();
    if (task.in_flight() || !process_.called_back(task.then_.get())) return false;
  }
  process_.rethrow_from_callback();
  rethrow_if_failed(task);
  return true;
}

void Context::wait_quietly(Task& task) {
  process_.run_callbacks();
  process_.wait([&] { return !task.in_flight() && process_.called_back(task.then_.get()); });
}

void Context::wait(Task& task) {
  wait_quietly(task);
  process_.rethrow_from_callback();
  rethrow_if_failed(task);
}

std::string Context::described(const Task& task) const {
  std::string text = fmt::format("quadrille: rank {} of {}: {}", rank_, ranks_,
                                 number_and_name(task.sequence_ - users_first_, *task.shape_.algorithm));
  if (task.state_ == Task::State::queued) return text + ": queued behind older ones\n";
  if (task.state_ == Task::State::waiting) {
    return text +
           fmt::format(": begins after number {}\n", task.follows_ ? task.follows_->sequence_ - users_first_ : -1);
  }
  const bool agreeing = task.state_ == Task::State::agreeing;
  text += agreeing ? ", compares calls first and waits for\n" : ", waits for\n";
  for (const std::string& one : task.current().awaited()) text += fmt::format("    {}\n", one);
  return text;
}

std::string Context::in_flight() const {
  std::string text;
  for (const Task* task = oldest_; task; task = task->next_) text += described(*task);
  return text;
}

std::string Context::missing(const Task& task, double seconds) const {
  std::string text;
  const Exchange& exchange = *task.agreement_;
  exchange.runner()->for_each_in_flight([&](Token token) {
    const Operation& operation = exchange.schedule().operations[static_cast<std::size_t>(token.operation)];
    if (operation.kind != Kind::receive || operation.channel != arrival_channel) return;
    text += fmt::format("quadrille: rank {} of {} has not called {}, for which rank {} has been waiting {:.1f} s\n",
                        operation.peer, ranks_, number_and_name(task.sequence_ - users_first_, *task.shape_.algorithm),
                        rank_, seconds);
  });
  return text;
}

std::string Context::complaints(std::chrono::steady_clock::time_point now) {
  std::string text;
  if (!settings_.watched()) return text;
  for (Task* task = oldest_; task && task->state_ != Task::State::queued; task = task->next_) {
    if (task->state_ == Task::State::waiting) continue;
    const double idle = std::chrono::duration<double>(now - task->advanced_).count();
    const bool agreeing = task->state_ == Task::State::agreeing;
    if (agreeing && idle > settings_.patience && !std::exchange(task->named_missing_, true)) {
      text += missing(*task, idle);
    }
    if (settings_.watchdog > 0 && idle > settings_.watchdog && !std::exchange(task->told_, true)) {
      text += described(*task);
    }
  }
  return text;
}

}  // namespace quadrille::engine
