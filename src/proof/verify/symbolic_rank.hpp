#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "run/runner.hpp"
#include "verify/execution.hpp"

namespace quadrille::verify {

// What is wrong with a schedule.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class SymbolicRank;

// What the ranks of a run have in common.
struct Common {
  const Subject& subject;
  Expressions& expressions;
  std::vector<std::unique_ptr<SymbolicRank>> ranks = {};
  std::int64_t clock = 0;
  // Ranks that wait for a counter, by the rank whose counter it is: to be woken when one of its is set.
  std::vector<std::vector<Rank>> watching = {};
  std::vector<Rank> with_counters_set = {};
  bool opening = false;               // nobody hears of a notice yet
  bool signals = false;               // notices are all that is sent: each is a step
  std::vector<Written> written = {};  // if requested
  // Operands of the current operation.
  struct Operands {
    std::vector<Held> left, right, result;
  };
  Operands operands = {};

  SymbolicRank& at(Rank rank) { return *ranks[static_cast<std::size_t>(rank)]; }
  // Units of a block; -1 if the rank has no such block.
  std::int64_t units(Rank rank, Buffer buffer, std::int32_t block) const;
  // result = left op right, for so many units.
  void combine(std::int64_t units);
};

// A message posted by one end. Each rank has at most one in each direction.
struct Half {
  bool open = false;
  Rank peer = 0;
  std::int32_t channel = 0;
  Token token = {};
  std::vector<Piece> pieces;
  std::vector<Held> data;  // of a send
  std::int64_t units = 0;

  void begin(Token of, Rank with, std::int32_t on, std::span<const Piece> parts) {
    open = true;
    peer = with;
    channel = on;
    token = of;
    pieces.assign(parts.begin(), parts.end());
    data.clear();
    units = 0;
  }
};

// A collective of the MPI's own, posted by one of its ranks.
struct Offloaded {
  Token token;
  std::vector<Piece> pieces;
};

// One rank of the run: performs its operations and records their events.
class SymbolicRank final : public Backend, public Observer {
 public:
  SymbolicRank(Common& common, Rank rank, const Schedule& schedule, Keep keep);

  void start() { runner_.start(); }
  // Advances as far as possible without other ranks.
  void advance();
  bool done() const { return runner_.done(); }
  Half& sending() { return sending_; }
  Half& receiving() { return receiving_; }
  // Those that not all of its ranks have posted, the oldest first.
  std::deque<Offloaded>& offloading() { return offloading_; }
  const Schedule& schedule() const { return program_.schedule(); }
  const Event& event(Token token) const { return events_[static_cast<std::size_t>(unrolled_.instance(token))]; }
  std::int32_t instance(Token token) const { return unrolled_.instance(token); }
  std::string describe(Token token) const;
  std::string waiting() const;
  void finish_message(Half& half, std::int64_t step);
  // What its piece holds; and the oldest ends, with this result.
  void contribution(const Offloaded& one, std::vector<Held>& into);
  void finish_offload(std::span<const Held> result, std::int64_t step);
  // The step in which a counter of this rank reached a value; -1 if not yet.
  std::int64_t reached_at(Board board, std::int32_t counter, std::int64_t value) const;
  void raise(Board board, std::int32_t counter, std::int64_t value, std::int64_t step);
  void collect(Execution& result);

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override;
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override;
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override;
  void copy(Token token, const Piece& source, const Piece& target) override;
  void reduce(Token token, const Piece& left, const Piece& right, const Piece& target) override;
  void publish(Token token, std::int32_t counter, std::int64_t value) override;
  bool reached(Token token, Rank owner, std::int32_t counter, std::int64_t value) override;
  void put(Token token, Rank to, const Piece& source, const Piece& target) override;
  void flush(Token token, Rank to) override;
  void get(Token token, Rank from, const Piece& source, const Piece& target) override;
  void notify(Token token, Rank to, std::int32_t notice, std::int64_t value) override;
  bool noticed(Token token, std::int32_t notice, std::int64_t value) override;
  void deposit(Token token, Rank to, const Piece& source, const Piece& box, std::int64_t value) override;
  bool collect(Token token, const Piece& box, const Piece& target, std::int64_t value) override;
  void offload(Token token, std::span<const Piece> data) override;

  void posted(Token token) override;
  void completed(Token token) override;

  void store(Token token, const Piece& piece, std::span<const Held> pieces);
  void carry(Token token, std::span<const Held> data);

 private:
  std::vector<std::int64_t> loop_lengths();
  Event& event_of(Token token) { return events_[static_cast<std::size_t>(unrolled_.instance(token))]; }
  Memory::Block& block(Buffer buffer, std::int32_t number);
  Memory::Block& block_of(const Piece& piece);
  // Appends the piece's data, its first unit at offset `at`.
  void load(Token token, const Piece& piece, std::int64_t at, std::vector<Held>& into);
  Memory::Block& check_bounds(Token token, const Piece& piece);
  void check_operands(Token token, std::initializer_list<Piece> pieces, int count);
  void check_apart(Token token, std::span<const Piece> pieces) const;
  void move(Token token, const Piece& source, const Piece& target);
  // Whether a counter of a rank has reached a value; if not, this rank is to be woken when one is set.
  bool saw(Token token, const SymbolicRank& of, Board board, std::int32_t counter, std::int64_t value);
  bool finish_flushes();
  void take_step(Token token, Kind direction);
  std::int64_t& direction_step(Kind direction) { return direction_step_[direction == Kind::send ? 0 : 1]; }

  Common& common_;
  Rank rank_;
  Program program_;
  Runner runner_;
  Unrolled unrolled_;
  std::vector<Event> events_;
  std::vector<std::vector<Held>> carried_;
  Memory memory_;
  Half sending_;
  Half receiving_;
  std::deque<Offloaded> offloading_;
  std::vector<Token> flushing_;  // and getting
  std::array<std::int64_t, 2> direction_step_ = {0, 0};
  // Values with their steps.
  std::map<std::pair<Board, std::int32_t>, std::vector<std::pair<std::int64_t, std::int64_t>>> counters_;
};

}  // namespace quadrille::verify
