#pragma once

#include <cstdint>
#include <span>

#include "schedule/data.hpp"

namespace quadrille {

// A region of one iteration, with its length known.
struct Piece {
  Buffer buffer = Buffer::input;
  Rank owner = self;
  std::int32_t block = 0;
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

// As the sender of a message that is received: whoever sends first. A channel is received either so or by sender.
inline constexpr Rank anyone = -2;

// One operation in one iteration.
struct Token {
  std::int32_t operation = 0;
  std::int64_t iteration = 0;

  friend bool operator==(const Token&, const Token&) = default;
};

// What a run needs of the world around it. Nothing here waits for another rank's program, unless MPI makes a flush
// wait. send, receive, flush, get and offload end by a call of Machine::complete with their token, which may come
// before they return; the others are done when they return (a put, as far as the run is concerned: it has arrived when
// a later flush of that peer completes).
class Backend {
 public:
  virtual ~Backend() = default;

  // Units of a block, for regions that reach to its end.
  virtual std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) = 0;

  // Units of a chunk of that block, where the schedule says how many there may be at most: both ends of a swap may have
  // agreed on less.
  virtual std::int64_t chunk(std::int32_t block, std::int64_t most);

  virtual void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) = 0;
  virtual void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) = 0;
  virtual void copy(Token token, const Piece& source, const Piece& target) = 0;
  virtual void reduce(Token token, const Piece& left, const Piece& right, const Piece& target) = 0;

  // Counters and slots. A backend of messages alone leaves them: they throw std::logic_error.
  virtual void publish(Token token, std::int32_t counter, std::int64_t value);
  virtual bool reached(Token token, Rank owner, std::int32_t counter, std::int64_t value);

  // Windows, likewise. Notifications of one rank to one notice arrive in order.
  virtual void put(Token token, Rank to, const Piece& source, const Piece& target);
  virtual void flush(Token token, Rank to);
  virtual void get(Token token, Rank from, const Piece& source, const Piece& target);
  virtual void notify(Token token, Rank to, std::int32_t notice, std::int64_t value);
  // Whether a notice of this rank's own has reached a value.
  virtual bool noticed(Token token, std::int32_t notice, std::int64_t value);
  // A deposit has read its source when it returns; the value is its number. Collects it if it is there.
  virtual void deposit(Token token, Rank to, const Piece& source, const Piece& box, std::int64_t value);
  virtual bool collect(Token token, const Piece& box, const Piece& target, std::int64_t value);

  // A collective of the MPI's own among the ranks that the schedule names: an allreduce of a piece, or a barrier. Where
  // there is none it throws std::logic_error.
  virtual void offload(Token token, std::span<const Piece> data);
};

}  // namespace quadrille
