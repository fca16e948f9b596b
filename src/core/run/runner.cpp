#include "run/runner.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "run/text.hpp"

namespace quadrille {

Runner::Runner(const Program& program, Backend& backend, Posting posting)
    : program_(program),
      backend_(backend),
      posting_(posting),
      windows_(program, posting.window),
      single_file_(program.single_file() && !posting.observer && !posting.shuffle) {
  const auto count = static_cast<std::size_t>(program.operations());
  progress_.resize(count);
  std::size_t in_windows = 0;
  for (const Loop& loop : program.schedule().loops) {
    loops_.push_back({.first_unfinished = in_windows});
    in_windows += static_cast<std::size_t>(loop.window);
    for (std::int32_t id = loop.first; id < loop.last; ++id) {
      progress(id).counted = static_cast<std::int32_t>(iterations_.size());
      iterations_.emplace_back();
    }
  }
  unfinished_.resize(in_windows);
  ready_.resize(count);
  pieces_.reserve(static_cast<std::size_t>(program.most_regions()));
  std::size_t polled = 0;
  for (const Operation& operation : program.schedule().operations) {
    if (awaits(operation.kind)) polled += static_cast<std::size_t>(program.most_in_flight(operation));
  }
  polled_.reserve(polled);
}

void Runner::start() {
  if (single_file_) {
    remaining_ = program_.operations();
    return;
  }
  start_loops();
  windows_.start([&](std::int32_t loop) { return loops_[static_cast<std::size_t>(loop)].iterations; });
  ready_head_ = ready_count_ = 0;
  polled_.clear();
  if (loops_.empty()) {
    for (std::int32_t id : program_.first()) consider(id);
    return;
  }
  // A loop without iterations is done already, and nobody waits for it.
  for (std::int32_t id = 0; id < program_.operations(); ++id) {
    const Operation& operation = program_.operation(id);
    if (operation.loop < 0) {
      const auto dependencies = program_.schedule().dependencies_of(operation);
      const auto unmet = [&](const Dependency& dependency) { return !satisfied(operation, dependency, 0); };
      progress(id).unmet = static_cast<std::int32_t>(std::count_if(dependencies.begin(), dependencies.end(), unmet));
    }
    consider(id);
  }
}

void Runner::start_loops() {
  const Schedule& schedule = program_.schedule();
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    const Loop& loop = schedule.loops[i];
    LoopProgress& progress = loops_[i];
    progress.units = loop.chunk == 0 ? 0 : backend_.units(loop.over.buffer, loop.over.owner, loop.over.block);
    progress.chunk = loop.chunk == 0 ? 0 : std::min(loop.chunk, backend_.chunk(loop.over.block, loop.chunk));
    progress.iterations = loop.iterations_over(progress.units, progress.chunk);
    progress.oldest = 0;
    std::fill_n(unfinished_.begin() + static_cast<std::ptrdiff_t>(progress.first_unfinished), loop.window,
                loop.last - loop.first);
  }
  remaining_ = 0;
  for (std::int32_t id = 0; id < program_.operations(); ++id) {
    Progress& of = progress(id);
    std::int64_t times = 1;
    if (of.counted >= 0) {
      times = loops_[static_cast<std::size_t>(program_.operation(id).loop)].iterations;
      iterations_[static_cast<std::size_t>(of.counted)] = {.total = times};
    }
    of = {
        .unmet = program_.operation(id).dependencies, .counted = of.counted, .posted = times == 0, .done = times == 0};
    remaining_ += times;
  }
}

bool Runner::advance_in_file() {
  const std::int64_t before = remaining_;
  for (; remaining_ > 0; --remaining_) {
    const Token token{next_in_file(), 0};
    const Operation& operation = program_.operation(token.operation);
    if (operation.kind != Kind::wait) {
      perform(token, operation);
    } else if (!backend_.reached(token, operation.peer, operation.counter, operation.value)) {
      break;
    }
  }
  return remaining_ != before;
}

bool Runner::advance() {
  if (single_file_) return advance_in_file();
  bool happened = poll_counters();
  while (ready_count_ > 0) {
    post(dequeue());
    happened = true;
  }
  return happened;
}

bool Runner::satisfied(const Operation& operation, const Dependency& dependency, std::int64_t iteration) const {
  const Progress& earlier = progress(dependency.operation);
  const bool carried = operation.loop >= 0 && program_.operation(dependency.operation).loop == operation.loop;
  if (!carried) return dependency.posted ? earlier.posted : earlier.done;
  const std::int64_t wanted = iteration - dependency.distance;
  if (wanted < 0) return true;
  const Iterations& of = iterations_[static_cast<std::size_t>(earlier.counted)];
  return dependency.posted ? wanted < of.posted : of.is_done(wanted);
}

// What is met stays met, so each dependency of an iteration is seen to be met once, however often this is asked.
bool Runner::ready(std::int32_t id, std::int64_t iteration) {
  if (progress(id).counted < 0) return progress(id).unmet == 0;
  const Operation& operation = program_.operation(id);
  const Loop& loop = program_.schedule().loops[static_cast<std::size_t>(operation.loop)];
  if (iteration >= loops_[static_cast<std::size_t>(operation.loop)].oldest + loop.window) return false;
  const auto dependencies = program_.schedule().dependencies_of(operation);
  std::size_t& met = iterations_[static_cast<std::size_t>(progress(id).counted)].met;
  while (met < dependencies.size() && satisfied(operation, dependencies[met], iteration)) ++met;
  return met == dependencies.size();
}

// Puts the operation's next iteration in the queue if it may be posted. What the window holds back is considered again
// when the window reaches it.
void Runner::consider(std::int32_t id) {
  Progress& of = progress(id);
  if (of.queued || of.posted) return;
  const std::int64_t next = of.counted < 0 ? 0 : iterations_[static_cast<std::size_t>(of.counted)].posted;
  if (!ready(id, next)) return;
  const Kind kind = program_.operation(id).kind;
  if (is_message(kind) && !windows_.lets_in(kind, id, next)) return;
  of.queued = true;
  enqueue(id);
}

// Where the ring has its entry `index` places behind the head.
std::size_t Runner::ready_place(std::size_t index) const {
  const std::size_t place = ready_head_ + index;
  return place < ready_.size() ? place : place - ready_.size();
}

void Runner::enqueue(std::int32_t id) {
  ready_[ready_place(ready_count_++)] = id;
}

std::int32_t Runner::dequeue() {
  if (posting_.shuffle) {
    const std::size_t pick = (*posting_.shuffle)() % ready_count_;
    std::swap(ready_[ready_head_], ready_[ready_place(pick)]);
  }
  const std::int32_t id = ready_[ready_head_];
  ready_head_ = ready_place(1);
  --ready_count_;
  return id;
}

void Runner::post(std::int32_t id) {
  Progress& of = progress(id);
  Token token{id, 0};
  of.queued = false;
  if (of.counted < 0) {
    of.posted = true;
  } else {
    Iterations& iterations = iterations_[static_cast<std::size_t>(of.counted)];
    token.iteration = iterations.posted++;
    iterations.met = 0;
    of.posted = iterations.posted == iterations.total;
  }
  if (posting_.observer) posting_.observer->posted(token);
  const bool complete_now = perform(token, program_.operation(id));
  release(id, true);
  if (complete_now) complete(token);
  consider(id);
}

Piece Runner::resolve(const Region& region, const Operation& operation, std::int64_t iteration) {
  Piece piece{region.buffer, region.owner, region.block, region.offset_at(iteration), region.length};
  if (region.length == whole) {
    piece.length = backend_.units(region.buffer, region.owner, region.block) - piece.offset;
  } else if (region.clipped) {
    // What moves on with the chunks does so by their real length; a ring keeps its places.
    const LoopProgress& loop = loops_[static_cast<std::size_t>(operation.loop)];
    if (region.cycle == 0) piece.offset = region.offset + iteration * loop.chunk;
    piece.length = std::min({region.length, loop.chunk, loop.units - iteration * loop.chunk});
  }
  return piece;
}

// Returns whether the operation is complete at once.
bool Runner::perform(Token token, const Operation& operation) {
  pieces_.clear();
  // Both ends of a message know its length: one of length 0 is not sent. A signal has no data at all, and is.
  bool empty = operation.regions > 0;
  for (const Region& region : program_.schedule().regions_of(operation)) {
    pieces_.push_back(resolve(region, operation, token.iteration));
    empty &= pieces_.back().length == 0;
  }
  const std::int64_t value = operation.value + operation.value_stride * token.iteration;
  switch (operation.kind) {
    case Kind::send:
      if (!empty) backend_.send(token, operation.peer, operation.channel, pieces_);
      return empty;
    case Kind::receive:
      if (!empty) backend_.receive(token, operation.peer, operation.channel, pieces_);
      return empty;
    case Kind::copy:
      backend_.copy(token, pieces_[0], pieces_[1]);
      return true;
    case Kind::reduce:
      backend_.reduce(token, pieces_[0], pieces_[1], pieces_[2]);
      return true;
    case Kind::publish:
      backend_.publish(token, operation.counter, value);
      return true;
    case Kind::put:
      backend_.put(token, operation.peer, pieces_[0], pieces_[1]);
      return true;
    case Kind::flush:
      backend_.flush(token, operation.peer);
      return false;
    case Kind::get:
      if (!empty) backend_.get(token, operation.peer, pieces_[0], pieces_[1]);
      return empty;
    case Kind::notify:
      backend_.notify(token, operation.peer, operation.counter, value);
      return true;
    case Kind::deposit:
      backend_.deposit(token, operation.peer, pieces_[0], pieces_[1], value);
      return true;
    case Kind::offload:
      if (!empty) backend_.offload(token, pieces_);
      return empty;
    case Kind::wait:
    case Kind::await:
    case Kind::collect:
      polled_.push_back(token);
      return false;
    case Kind::join:
      return true;
  }
  return true;
}

std::vector<std::string> Runner::awaited() const {
  std::vector<std::string> all;
  for_each_in_flight([&](Token token) { all.push_back(to_text(program_.schedule(), token)); });
  return all;
}

std::optional<Runner::Awaited> Runner::awaits_one() const {
  std::optional<Awaited> one;
  bool several = false;
  const auto add = [&](Token token) {
    const Operation& operation = program_.operation(token.operation);
    const std::int64_t value = operation.value + operation.value_stride * token.iteration;
    several |= operation.kind != Kind::wait;
    if (!one) one = {operation.peer, operation.counter, value};
    several |= one->owner != operation.peer || one->counter != operation.counter;
    one->value = std::min(one->value, value);
  };
  if (!single_file_) {
    for (Token token : polled_) add(token);
  } else if (!done()) {
    add({next_in_file(), 0});
  }
  return several ? std::nullopt : one;
}

bool Runner::arrived(Token token, const Operation& operation) {
  const std::int64_t value = operation.value + operation.value_stride * token.iteration;
  if (operation.kind == Kind::wait) return backend_.reached(token, operation.peer, operation.counter, value);
  if (operation.kind == Kind::await) return backend_.noticed(token, operation.counter, value);
  const auto regions = program_.schedule().regions_of(operation);
  return backend_.collect(token, resolve(regions[0], operation, 0), resolve(regions[1], operation, 0), value);
}

// Those that have arrived together are complete in the order in which they were posted.
bool Runner::poll_counters() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < polled_.size(); ++i) {
    const Token token = polled_[i];
    if (arrived(token, program_.operation(token.operation))) {
      complete(token);
    } else {
      polled_[kept++] = token;
    }
  }
  const bool happened = kept < polled_.size();
  polled_.resize(kept);
  return happened;
}

void Runner::complete(Token token) {
  if (posting_.observer) posting_.observer->completed(token);
  Progress& of = progress(token.operation);
  if (of.counted < 0) {
    of.done = true;
  } else {
    Iterations& iterations = iterations_[static_cast<std::size_t>(of.counted)];
    iterations.done_after |= std::uint64_t{1} << (token.iteration - iterations.done);
    const int run = std::countr_one(iterations.done_after);
    iterations.done += run;
    iterations.done_after = run == 64 ? 0 : iterations.done_after >> run;
    of.done = iterations.done == iterations.total;
  }
  --remaining_;

  const Operation& operation = program_.operation(token.operation);
  if (is_message(operation.kind)) {
    windows_.complete(operation.kind, token.operation, token.iteration, [&](std::int32_t id) { consider(id); });
  }
  if (operation.loop >= 0) finish_in_loop(operation.loop, token.iteration);
  release(token.operation, false);
}

// Looks at what waits for the posting, or the completion, of an operation. Outside loops all iterations are waited for.
void Runner::release(std::int32_t earlier, bool posted) {
  const bool finished = posted ? progress(earlier).posted : progress(earlier).done;
  for (std::int32_t successor : program_.successors(earlier, posted)) {
    Progress& later = progress(successor);
    if (later.counted >= 0 || (finished && --later.unmet == 0)) consider(successor);
  }
}

void Runner::finish_in_loop(std::int32_t id, std::int64_t iteration) {
  const Loop& loop = program_.schedule().loops[static_cast<std::size_t>(id)];
  LoopProgress& progress = loops_[static_cast<std::size_t>(id)];
  const auto unfinished = [&](std::int64_t k) -> std::int32_t& {
    return unfinished_[progress.first_unfinished + static_cast<std::size_t>(k % loop.window)];
  };
  if (--unfinished(iteration) > 0 || iteration != progress.oldest) return;
  while (progress.oldest < progress.iterations && unfinished(progress.oldest) == 0) {
    unfinished(progress.oldest++) = loop.last - loop.first;
  }
  for (std::int32_t operation = loop.first; operation < loop.last; ++operation) consider(operation);
}

}  // namespace quadrille
