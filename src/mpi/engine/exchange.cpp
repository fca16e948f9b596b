#include "engine/exchange.hpp"

#include <fmt/format.h>

#include <quadrille/error.hpp>
#include <stdexcept>
#include <utility>

namespace quadrille::engine {

Exchange::Exchange(const Ground& ground, std::shared_ptr<const Program> program, const Posting& posting,
                   Listener& listener)
    : Exchange(ground, Phase{.program = std::move(program), .protocol = {}, .binding = {}}, posting, listener) {}

Exchange::Exchange(const Ground& ground, Phase phase, const Posting& posting, Listener& listener)
    : watch_(ground.watch),
      leaders_(ground.leaders),
      arena_(ground.messages.arena),
      messages_(ground.messages, *this, *this),
      node_(ground.node),
      program_(std::move(phase.program)),
      listener_(listener),
      binding_(std::move(phase.binding)),
      element_(phase.element ? *phase.element : Layout::basic(1)) {
  if (!program_) {
    machine_ = phase.protocol(*this);
    return;
  }
  auto runner = std::make_unique<Runner>(*program_, *this, posting);
  runner_ = runner.get();
  machine_ = std::move(runner);
  binding_.unit = schedule().unit;
  brings_scratch_ = !binding_.scratch.empty();
  binding_.scratch.resize(schedule().scratch.size());
  for (std::size_t i = 0; brings_scratch_ && i < binding_.scratch.size(); ++i) {
    const bool enough = binding_.scratch[i].count >= schedule().scratch[i];
    if (!enough) throw std::logic_error("a phase brings less scratch than its schedule takes");
  }
  scratch_.resize(schedule().scratch.size());
  node_.lay_out(schedule(), element_, binding_.scale);
  window_.lay_out(schedule());
}

void Exchange::set_element(const Layout& layout) {
  element_ = layout;
  node_.lay_out(schedule(), element_, binding_.scale);
}

// Runs what may fail in the middle of things: the listener hears of it, the caller does not.
template <class Work>
void Exchange::guarded(Work&& work) {
  if (std::exchange(inside_, true)) {
    throw Error(MPI_ERR_OTHER, "the function of a reduction must not call the library");
  }
  try {
    work();
    inside_ = false;
  } catch (...) {
    inside_ = false;
    cancel();
    listener_.failed(*this, std::current_exception());
    return;
  }
  if (!running_ || !machine_->done()) return;
  end();
  give_scratch_back();
  listener_.done(*this);
}

void Exchange::end() {
  running_ = false;
  if (watched()) watch_->remove(*this);
}

bool Exchange::look() {
  Listener& listener = listener_;  // which may do away with what has ended
  bool happened = false;
  guarded([&] {
    if (window_.window()) window_.window()->look();
    happened = machine_->advance();
  });
  if (happened) listener.advanced();
  return happened;
}

void Exchange::sleep(const Runner::Awaited& awaited, std::chrono::nanoseconds most) const {
  node_.sleep(awaited, most);
}

namespace {

// Of blocks whose sizes are known only now. Such schedules count pieces, and have a counter's span in equal parts for
// the ranks that they meet: no more pieces than that fit between two of them.
void refuse_too_many_pieces(const Schedule& schedule, const Binding& binding) {
  for (const Loop& loop : schedule.loops) {
    if (loop.chunk == 0) continue;
    const std::int64_t pieces = loop.iterations_over(binding.units(loop.over.buffer, loop.over.block));
    if (pieces >= schedule.counter_span / schedule.ranks) throw too_long_for_shared_memory();
  }
}

}  // namespace

void Exchange::start(int first_tag, std::int64_t run) {
  running_ = true;
  messages_.start(first_tag);
  node_.start(run);
  window_.start(run);
  if (node_.scale() != binding_.scale) node_.lay_out(schedule(), element_, binding_.scale);
  if (watched()) watch_->add(*this);
  guarded([&] {
    if (uses_lane()) refuse_too_many_pieces(schedule(), binding_);
    reserve();
    machine_->start();
    machine_->advance();
  });
}

std::vector<std::string> Exchange::awaited() const {
  std::vector<std::string> all = machine_->awaited();
  if (binding_.scale == 1) return all;
  for (std::string& one : all) one += fmt::format(", all lengths times {}", binding_.scale);
  return all;
}

bool Exchange::cancel() {
  if (!running_) return may_be_read_;
  end();
  may_be_read_ = messages_.cancel();
  give_scratch_back(may_be_read_);
  return may_be_read_;
}

void Exchange::reserve() {
  if (brings_scratch_) return;
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    if (scratch_[i]) continue;
    const std::int64_t count = schedule().scratch[i] * binding_.scale;
    const auto [first, last] = element_.span(count);
    scratch_[i] = arena_->allocate(last - first);
    binding_.scratch[i] = {scratch_[i] - first, count, &element_};
  }
}

void Exchange::forgo() {
  if (!running_) give_scratch_back();
}

void Exchange::give_scratch_back(bool may_be_read) {
  for (std::byte*& block : scratch_) {
    if (block) arena_->release(block, may_be_read);
    block = nullptr;
  }
}

std::int64_t Exchange::units(Buffer buffer, Rank, std::int32_t block) {
  return binding_.units(buffer, block);
}

void Exchange::send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) {
  message(token, false, to, channel, data);
}

void Exchange::receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) {
  message(token, true, from, channel, data);
}

void Exchange::message(Token token, bool receiving, Rank peer, std::int32_t channel, std::span<const Piece> data) {
  Message& made = messages_.make(token, receiving, peer, channel);
  for (const Piece& piece : data) made.pieces.push_back(placed(piece));
  messages_.post(made);
}

void Exchange::part_ended(const Ended& ended) {
  if (!running_) {
    if (ended.message->open == 0) messages_.give_back(*ended.message);
    return;
  }
  guarded([&] {
    listener_.advanced();
    messages_.ended(ended);
    machine_->advance();
  });
}

void Exchange::copy(Token, const Piece& source, const Piece& target) {
  quadrille::copy(placed(source), placed(target));
}

void Exchange::reduce(Token, const Piece& left, const Piece& right, const Piece& target) {
  quadrille::reduce(binding_, placed(left), placed(right), placed(target));
}

void Exchange::offload(Token token, std::span<const Piece> data) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (data.empty()) {
    check(PMPI_Ibarrier(leaders_, &request), "MPI_Ibarrier");
  } else {
    const Placed own = placed(data.front());
    if (own.elements() > max_int_count) throw std::logic_error("a schedule offloads more than an int counts");
    check(PMPI_Iallreduce(MPI_IN_PLACE, own.first_element(), static_cast<int>(own.elements()), operation_.type,
                          operation_.op, leaders_, &request),
          "MPI_Iallreduce");
  }
  messages_.add_foreign(token, {&request, 1});
}

Placed Exchange::placed(const Piece& piece) const {
  if (piece.buffer == Buffer::staging) return window_.staged(piece);
  return piece.buffer == Buffer::slot ? node_.placed(schedule(), element_, piece) : place(binding_, piece);
}

void Exchange::publish(Token, std::int32_t counter, std::int64_t value) {
  node_.publish(counter, value);
}

bool Exchange::reached(Token, Rank owner, std::int32_t counter, std::int64_t value) {
  return node_.reached(owner, counter, value);
}

void Exchange::put(Token, Rank to, const Piece& source, const Piece& target) {
  if (target.buffer == Buffer::staging) return window_.put_staging(to, placed(source), target);
  window_.put(to, placed(source), window_.place(binding_, target));
}

// MPI has no flush that returns at once: where it must wait for the target's program, so must the caller.
void Exchange::flush(Token token, Rank to) {
  window_.flush(to);
  machine_->complete(token);
}

void Exchange::get(Token token, Rank from, const Piece& source, const Piece& target) {
  messages_.add_foreign(token, window_.get(from, window_.place(binding_, source), placed(target)));
}

void Exchange::notify(Token, Rank to, std::int32_t notice, std::int64_t value) {
  window_.notify(to, notice, value);
}

bool Exchange::noticed(Token, std::int32_t notice, std::int64_t value) {
  return window_.noticed(notice, value);
}

void Exchange::deposit(Token, Rank to, const Piece& source, const Piece& box, std::int64_t) {
  window_.deposit(to, placed(source), box.block);
}

bool Exchange::collect(Token, const Piece& box, const Piece& target, std::int64_t) {
  return window_.collect(box.block, placed(target));
}

}  // namespace quadrille::engine
