#include "engine/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <quadrille/error.hpp>
#include <stdexcept>
#include <utility>

namespace quadrille::engine {

Exchange::Exchange(const Ground& ground, std::shared_ptr<const Program> program, const Posting& posting,
                   Listener& listener)
    : Exchange(ground, Phase{.program = std::move(program), .protocol = {}, .binding = {}}, posting, listener) {}

Exchange::Exchange(const Ground& ground, Phase phase, const Posting& posting, Listener& listener)
    : ground_(ground),
      program_(std::move(phase.program)),
      listener_(listener),
      binding_(std::move(phase.binding)),
      scratch_layout_(Layout::basic(1)) {
  if (program_) {
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
    lay_out_slots();
  } else {
    machine_ = phase.protocol(*this);
  }
}

void Exchange::lay_out_slots() {
  std::vector<std::int64_t> bytes;
  for (const std::int64_t units : schedule().slots) {
    const auto [first, last] = scratch_layout_.span(units);
    bytes.push_back(last - first);
  }
  slot_offsets_ = shared::slot_offsets(bytes);
}

bool Watch::look() {
  bool happened = false;
  // Whoever ends, or begins, changes the list.
  for (std::size_t i = 0; i < watched_.size();) {
    Exchange& exchange = *watched_[i];
    happened |= exchange.look();
    if (i < watched_.size() && watched_[i] == &exchange) ++i;
  }
  return happened;
}

// Runs what may fail in the middle of things: the listener hears of it, the caller does not.
template <class Work>
void Exchange::guarded(Work&& work) {
  if (std::exchange(inside_, true)) {
    throw Error(MPI_ERR_OTHER, "a function that a reduction calls must not call the library");
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
  if (uses_lane()) ground_.watch->remove(*this);
}

bool Exchange::look() {
  Listener& listener = listener_;  // who may do away with what has ended
  bool happened = false;
  guarded([&] { happened = machine_->advance(); });
  if (happened) listener.advanced();
  return happened;
}

void Exchange::sleep(const Runner::Awaited& awaited, std::chrono::nanoseconds most) const {
  ground_.shared.lanes->sleep(run_, ground_.shared.seats[static_cast<std::size_t>(awaited.owner)], awaited.counter,
                              awaited.value, most);
}

void Exchange::start(int first_tag, std::int64_t run) {
  first_tag_ = first_tag;
  run_ = run;
  running_ = true;
  if (uses_lane()) ground_.watch->add(*this);
  if (ground_.on_demand) {
    told_.assign(static_cast<std::size_t>(schedule().ranks), false);
    demands_.assign(static_cast<std::size_t>(schedule().ranks), Demand::unknown);
  }
  guarded([&] {
    reserve();
    machine_->start();
    machine_->advance();
  });
}

bool Exchange::cancel() {
  if (!running_) return may_be_read_;
  end();
  const bool may_be_read = may_be_read_ = ground_.requests->abandon(*this);
  for (Message* message : held_) abandon(*message);
  for (Message* message : undemanded_) abandon(*message);
  held_.clear();
  undemanded_.clear();
  unfinished_.clear();
  give_scratch_back(may_be_read);
  return may_be_read;
}

void Exchange::reserve() {
  if (brings_scratch_) return;
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    if (scratch_[i]) continue;
    const std::int64_t count = schedule().scratch[i];
    const auto [first, last] = scratch_layout_.span(count);
    scratch_[i] = ground_.arena->allocate(last - first);
    binding_.scratch[i] = {scratch_[i] - first, count, &scratch_layout_};
  }
}

void Exchange::forgo() {
  if (!running_) give_scratch_back();
}

void Exchange::give_scratch_back(bool may_be_read) {
  for (std::byte*& block : scratch_) {
    if (block) leave(block, may_be_read);
    block = nullptr;
  }
}

// Back to the arena, unless MPI may still send from it.
void Exchange::leave(std::byte* block, bool may_be_read) const {
  if (may_be_read) {
    ground_.arena->give_up(block);
  } else {
    ground_.arena->release(block);
  }
}

std::int64_t Exchange::units(Buffer buffer, Rank, std::int32_t block) {
  return binding_.units(buffer, block);
}

void Exchange::send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) {
  launch(message(token, false, to, channel, data));
}

void Exchange::receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) {
  launch(message(token, true, from, channel, data));
}

Message& Exchange::message(Token token, bool receiving, Rank peer, std::int32_t channel, std::span<const Piece> data) {
  Message& made = ground_.requests->take();
  made.exchange = this;
  made.token = token;
  made.receiving = receiving;
  made.peer = peer;
  made.tag = first_tag_ + channel;
  made.posted = 0;
  made.demand = false;
  made.open = 0;
  made.staging = nullptr;
  made.may_be_read = false;
  made.pieces.clear();
  for (const Piece& piece : data) made.pieces.push_back(placed(piece));
  made.bytes = packed_bytes(made.pieces);
  made.memory = made.pieces.size() == 1 ? made.pieces.front().contiguous() : nullptr;
  return made;
}

void Exchange::launch(Message& message) {
  if (overtakes(message)) {
    held_.push_back(&message);
  } else if (must_wait(message)) {
    undemanded_.push_back(&message);
  } else {
    put_under_way(message);
  }
}

// Asks for the peer's word, the first time.
bool Exchange::must_wait(const Message& message) {
  if (!ground_.on_demand || message.receiving) return false;
  Demand& demand = demands_[static_cast<std::size_t>(message.peer)];
  if (demand == Demand::unknown) {
    demand = Demand::awaited;
    if (sends_first(message.peer)) await_demand(message);
  }
  return demand == Demand::awaited;
}

void Exchange::await_demand(const Message& message) {
  Message& word = ground_.requests->take();
  word.exchange = this;
  word.demand = true;
  word.receiving = true;
  word.peer = message.peer;
  word.tag = first_tag_ + tag_of_demand;
  word.bytes = word.posted = 0;
  word.open = 0;
  word.staging = nullptr;
  word.may_be_read = false;
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Irecv(nullptr, 0, MPI_BYTE, word.peer, word.tag, ground_.comm, &request), "MPI_Irecv");
  ground_.requests->add(request, word, 0);
}

void Exchange::tell_demand(const Message& message) {
  const auto peer = static_cast<std::size_t>(message.peer);
  if (told_[peer]) return;
  told_[peer] = true;
  MPI_Request request = MPI_REQUEST_NULL;
  const int tag = first_tag_ + tag_of_demand;
  check(PMPI_Isend(nullptr, 0, MPI_BYTE, message.peer, tag, ground_.comm, &request), "MPI_Isend");
  check(PMPI_Request_free(&request), "MPI_Request_free");
}

void Exchange::demanded(Rank peer) {
  Demand& demand = demands_[static_cast<std::size_t>(peer)];
  if (std::exchange(demand, Demand::known) == Demand::known) return;
  const auto theirs = [peer](const Message* message) { return message->peer == peer; };
  for (auto next = std::find_if(undemanded_.begin(), undemanded_.end(), theirs); next != undemanded_.end();
       next = std::find_if(undemanded_.begin(), undemanded_.end(), theirs)) {
    Message& message = **next;
    undemanded_.erase(next);
    launch(message);
  }
}

void Exchange::put_under_way(Message& message) {
  try {
    post_parts(message);
    if (message.receiving && ground_.on_demand && !sends_first(message.peer)) tell_demand(message);
  } catch (...) {
    if (message.open == 0) abandon(message);
    throw;
  }
  if (message.posted < message.bytes) {
    unfinished_.push_back(&message);
  } else if (message.open == 0) {
    const Token token = message.token;
    abandon(message);
    machine_->complete(token);
  }
}

// MPI matches messages of one stream in the order they are posted, part by part.
bool Exchange::overtakes(const Message& message) const {
  const auto same_stream = [&message](const Message* other) {
    return other->receiving == message.receiving && other->peer == message.peer && other->tag == message.tag;
  };
  return std::any_of(unfinished_.begin(), unfinished_.end(), same_stream);
}

void Exchange::launch_held(const Message& after) {
  std::erase(unfinished_, &after);
  // Each launch may hold back those behind it again, which then go to the end in their old order.
  for (std::size_t left = held_.size(); left > 0; --left) {
    Message* message = held_.front();
    held_.erase(held_.begin());
    launch(*message);
  }
}

// A few parts at a time where they lie one after another, else one: packing has room for one.
void Exchange::post_parts(Message& message) {
  constexpr int parts_in_flight = 4;
  const std::int64_t part = std::min(ground_.part, message.bytes);
  if (message.memory || message.bytes == 0) {
    do {
      post(message, message.memory + message.posted, std::min(part, message.bytes - message.posted));
    } while (message.posted < message.bytes && message.open < parts_in_flight);
    return;
  }
  if (!message.staging) message.staging = ground_.arena->allocate(part);
  const std::int64_t bytes = std::min(part, message.bytes - message.posted);
  if (!message.receiving) pack(message.pieces, message.posted, message.posted + bytes, message.staging);
  post(message, message.staging, bytes);
}

void Exchange::post(Message& message, std::byte* at, std::int64_t bytes) const {
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(bytes);
  if (message.receiving) {
    check(PMPI_Irecv(at, count, MPI_BYTE, message.peer, message.tag, ground_.comm, &request), "MPI_Irecv");
  } else {
    check(PMPI_Isend(at, count, MPI_BYTE, message.peer, message.tag, ground_.comm, &request), "MPI_Isend");
  }
  message.posted += bytes;
  // MPI sends the shortest ones at once: nothing to wait for.
  constexpr std::int64_t sent_at_once = 256;
  // On demand the next receive should be posted before an answer can come.
  if (!message.receiving && bytes == message.bytes && (bytes <= sent_at_once || ground_.on_demand)) {
    int done = 0;
    check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done) return;
  }
  ground_.requests->add(request, message, bytes);
}

void Exchange::part_ended(const Ended& ended) {
  Message& message = *ended.message;
  if (!running_) {
    if (message.open == 0) abandon(message);
    return;
  }
  if (message.demand) {
    guarded([&] {
      const Rank peer = message.peer;
      abandon(message);
      check(ended.code, "MPI_Irecv");
      demanded(peer);
      machine_->advance();
    });
    return;
  }
  guarded([&] {
    // Whatever goes wrong: a message without a request is in nobody's hands but ours.
    struct Cleanup {
      const Exchange& exchange;
      Message* message;
      ~Cleanup() {
        if (message && message->open == 0) exchange.abandon(*message);
      }
    } cleanup{*this, &message};
    check(ended.code, message.receiving ? "MPI_Irecv" : "MPI_Isend");
    if (ended.received != ended.bytes) {
      throw Error(MPI_ERR_TRUNCATE,
                  fmt::format("rank {} sent {} bytes where {} were expected: do all ranks pass the same count and a "
                              "type of the same size?",
                              message.peer, ended.received, ended.bytes));
    }
    if (message.staging && message.receiving) {
      unpack(message.pieces, message.posted - ended.bytes, message.posted, message.staging);
    }
    listener_.advanced();
    if (message.receiving && ground_.on_demand) demanded(message.peer);
    if (message.posted < message.bytes) {
      post_parts(message);
      cleanup.message = nullptr;
      if (message.posted == message.bytes) launch_held(message);
      machine_->advance();
      return;
    }
    cleanup.message = nullptr;
    if (message.open > 0) return;
    const Token token = message.token;
    abandon(message);
    machine_->complete(token);
    machine_->advance();
  });
}

void Exchange::abandon(Message& message) const {
  if (message.staging) leave(message.staging, message.may_be_read);
  ground_.requests->give_back(message);
}

void Exchange::copy(Token, const Piece& source, const Piece& target) {
  quadrille::copy(placed(source), placed(target));
}

void Exchange::reduce(Token, const Piece& left, const Piece& right, const Piece& target) {
  quadrille::reduce(binding_, placed(left), placed(right), placed(target));
}

Placed Exchange::placed(const Piece& piece) const {
  if (piece.buffer != Buffer::slot) return place(binding_, piece);
  const Rank owner = piece.owner == self ? schedule().rank : piece.owner;
  const auto block = static_cast<std::size_t>(piece.block);
  std::byte* const slots =
      ground_.shared.lanes->slots(run_, ground_.shared.seats[static_cast<std::size_t>(owner)], slot_offsets_.back());
  const std::int64_t units = schedule().slots[block];
  return place({slots + slot_offsets_[block] - scratch_layout_.span(units).first, units, &scratch_layout_},
               binding_.unit, piece);
}

void Exchange::publish(Token, std::int32_t counter, std::int64_t value) {
  ground_.shared.lanes->publish(run_, counter, value);
}

bool Exchange::reached(Token, Rank owner, std::int32_t counter, std::int64_t value) {
  return ground_.shared.lanes->reached(run_, ground_.shared.seats[static_cast<std::size_t>(owner)], counter, value);
}

}  // namespace quadrille::engine
