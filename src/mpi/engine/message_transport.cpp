#include "engine/message_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <quadrille/error.hpp>
#include <utility>

namespace quadrille::engine {

bool MessageTransport::cancel() {
  const bool may_be_read = ground_.requests->abandon(owner_);
  for (Message* message : held_) give_back(*message);
  held_.clear();
  unfinished_.clear();
  return may_be_read;
}

Message& MessageTransport::make(Token token, bool receiving, Rank peer, std::int32_t channel) {
  Message& made = ground_.requests->take();
  made.owner = &owner_;
  made.token = token;
  made.receiving = receiving;
  made.peer = peer;
  made.tag = first_tag_ + channel;
  made.bytes = made.posted = 0;
  made.foreign = false;
  made.open = 0;
  made.memory = made.staging = nullptr;
  made.may_be_read = false;
  made.pieces.clear();
  return made;
}

void MessageTransport::add_foreign(Token token, std::span<const MPI_Request> requests) {
  Message& made = make(token, false, self, 0);
  made.foreign = true;
  for (MPI_Request request : requests) ground_.requests->add(request, made, 0);
}

void MessageTransport::post(Message& message) {
  message.bytes = packed_bytes(message.pieces);
  message.memory = message.pieces.size() == 1 ? message.pieces.front().contiguous() : nullptr;
  launch(message);
}

void MessageTransport::launch(Message& message) {
  if (overtakes(message)) {
    held_.push_back(&message);
  } else {
    put_under_way(message);
  }
}

void MessageTransport::put_under_way(Message& message) {
  try {
    post_parts(message);
  } catch (...) {
    if (message.open == 0) give_back(message);
    throw;
  }
  if (message.posted < message.bytes) {
    unfinished_.push_back(&message);
  } else if (message.open == 0) {
    const Token token = message.token;
    give_back(message);
    user_.completed(token);
  }
}

// MPI matches messages of one stream in the order they are posted, part by part.
bool MessageTransport::overtakes(const Message& message) const {
  const auto same_stream = [&message](const Message* other) {
    return other->receiving == message.receiving && other->peer == message.peer && other->tag == message.tag;
  };
  return std::any_of(unfinished_.begin(), unfinished_.end(), same_stream);
}

void MessageTransport::launch_held(const Message& after) {
  std::erase(unfinished_, &after);
  // Each launch may hold back those behind it again, which then go to the end in their old order.
  for (std::size_t left = held_.size(); left > 0; --left) {
    Message* message = held_.front();
    held_.erase(held_.begin());
    launch(*message);
  }
}

// A few parts at a time where they are contiguous, else one: packing has room for one.
void MessageTransport::post_parts(Message& message) {
  constexpr int parts_in_flight = 4;
  const std::int64_t part = std::min(ground_.part, message.bytes);
  if (message.memory || message.bytes == 0) {
    do {
      post_part(message, message.memory + message.posted, std::min(part, message.bytes - message.posted));
    } while (message.posted < message.bytes && message.open < parts_in_flight);
    return;
  }
  if (!message.staging) message.staging = ground_.arena->allocate(part);
  const std::int64_t bytes = std::min(part, message.bytes - message.posted);
  if (!message.receiving) pack(message.pieces, message.posted, message.posted + bytes, message.staging);
  post_part(message, message.staging, bytes);
}

void MessageTransport::post_part(Message& message, std::byte* at, std::int64_t bytes) const {
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(bytes);
  if (message.receiving) {
    const int from = message.peer == anyone ? MPI_ANY_SOURCE : message.peer;
    check(PMPI_Irecv(at, count, MPI_BYTE, from, message.tag, ground_.comm, &request), "MPI_Irecv");
  } else {
    check(PMPI_Isend(at, count, MPI_BYTE, message.peer, message.tag, ground_.comm, &request), "MPI_Isend");
  }
  message.posted += bytes;
  // MPI sends the shortest ones at once: nothing to wait for.
  constexpr std::int64_t sent_at_once = 256;
  // The receive of an answer should be posted before it can come.
  if (!message.receiving && bytes == message.bytes && (bytes <= sent_at_once || ground_.answered)) {
    int done = 0;
    check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done) return;
  }
  ground_.requests->add(request, message, bytes);
}

void MessageTransport::ended(const Ended& ended) {
  Message& message = *ended.message;
  // Whatever goes wrong: a message without a request is in nobody's hands but ours.
  struct Cleanup {
    const MessageTransport& transport;
    Message* message;
    ~Cleanup() {
      if (message && message->open == 0) transport.give_back(*message);
    }
  } cleanup{*this, &message};
  check(ended.code, message.foreign     ? "a collective of the MPI's own or MPI_Rget"
                    : message.receiving ? "MPI_Irecv"
                                        : "MPI_Isend");
  if (ended.received != ended.bytes) {
    throw Error(MPI_ERR_TRUNCATE,
                fmt::format("{} sent {} bytes where {} were expected: do all ranks pass the same count and a "
                            "type of the same size?",
                            message.peer == anyone ? "a rank" : fmt::format("rank {}", message.peer), ended.received,
                            ended.bytes));
  }
  if (message.staging && message.receiving) {
    unpack(message.pieces, message.posted - ended.bytes, message.posted, message.staging);
  }
  if (message.posted < message.bytes) {
    post_parts(message);
    cleanup.message = nullptr;
    if (message.posted == message.bytes) launch_held(message);
    return;
  }
  cleanup.message = nullptr;
  if (message.open > 0) return;
  const Token token = message.token;
  give_back(message);
  user_.completed(token);
}

// Staging goes back to the arena, unless MPI may still send from it.
void MessageTransport::give_back(Message& message) const {
  if (message.staging) ground_.arena->release(message.staging, message.may_be_read);
  ground_.requests->give_back(message);
}

}  // namespace quadrille::engine
