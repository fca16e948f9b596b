#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "run/backend.hpp"
#include "run/program.hpp"

namespace quadrille {

// Is told of everything a run does, in the order it happens.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void posted(Token token) = 0;
  virtual void completed(Token token) = 0;
};

// How a run posts. The window bounds the messages in flight in each direction: message number j (in program order) is
// posted only when all messages up to j - window are complete. So the oldest message always has its place, and what
// makes progress with window 1 makes progress with any.
struct Posting {
  std::int64_t window = std::numeric_limits<std::int64_t>::max() / 2;
  std::mt19937_64* shuffle = nullptr;  // tests: post ready operations in random order
  Observer* observer = nullptr;
};

// The state machine that advances one schedule. Everything it needs is allocated when it is made; starting and
// advancing allocate nothing. Not thread-safe.
class Runner {
 public:
  // The program and the backend must outlive the runner.
  Runner(const Program& program, Backend& backend, Posting posting = {});

  // Begins a run; the one before it, if any, must be done.
  void start();

  // Posts what is ready and looks at counters. Returns whether anything happened.
  bool advance();

  // The backend's word that a message or a flush has ended.
  void complete(Token token);

  bool done() const { return remaining_ == 0; }

  // Calls visit(token) for each operation that is posted and not complete.
  template <class Visit>
  void for_each_in_flight(Visit&& visit) const {
    for (std::int32_t id = 0; id < program_.operations(); ++id) {
      const Progress& progress = progress_[static_cast<std::size_t>(id)];
      for (std::int64_t k = progress.done; k < progress.posted; ++k) {
        if (!is_done(id, k)) visit(Token{id, k});
      }
    }
  }

  const Program& program() const { return program_; }

 private:
  struct Progress {
    std::int64_t iterations = 0;
    std::int64_t posted = 0;       // iterations posted
    std::int64_t done = 0;         // all iterations below are complete
    std::uint64_t done_after = 0;  // bit i: iteration done + i is complete
    std::int32_t unmet = 0;        // outside loops: dependencies that still hold it back
    bool queued = false;
  };
  struct LoopProgress {
    std::int64_t iterations = 0;
    std::int64_t units = 0;                                     // of the block that a chunk loop runs over
    std::int64_t oldest = 0;                                    // all iterations below are complete
    std::array<std::int32_t, max_loop_window> unfinished = {};  // operations, by iteration modulo window
  };
  // The messages of one direction: a window that slides over their numbers.
  struct Direction {
    std::vector<std::int64_t> segment_base;  // number of a segment's first message
    std::int64_t base = 0;                   // all messages below are complete
    std::vector<bool> done_after;            // by number modulo its size, which is the window's
  };
  struct Parked {
    std::int64_t number;
    std::int32_t operation;
  };

  bool is_done(std::int32_t id, std::int64_t iteration) const;
  bool satisfied(const Operation& operation, const Dependency& dependency, std::int64_t iteration) const;
  bool ready(std::int32_t id, std::int64_t iteration) const;
  void consider(std::int32_t id);
  void release(std::int32_t earlier, bool posted, bool finished);
  void enqueue(std::int32_t id);
  std::int32_t dequeue();
  void post(std::int32_t id);
  bool perform(Token token, const Operation& operation);
  Piece resolve(const Region& region, const Operation& operation, std::int64_t iteration);
  void start_loops();
  void start_windows();
  std::int64_t message_number(std::int32_t id, std::int64_t iteration) const;
  Direction& direction(Kind kind) { return directions_[kind == Kind::send ? 0 : 1]; }
  const Direction& direction(Kind kind) const { return directions_[kind == Kind::send ? 0 : 1]; }
  std::vector<Parked>& parked(Kind kind) { return parked_[kind == Kind::send ? 0 : 1]; }
  void slide_window(Kind kind, std::int64_t number);
  void finish_in_loop(std::int32_t loop, std::int64_t iteration);
  bool poll_counters();

  const Program& program_;
  Backend& backend_;
  Posting posting_;
  std::int64_t remaining_ = 0;
  std::vector<Progress> progress_;
  std::vector<LoopProgress> loops_;
  std::array<Direction, 2> directions_;
  std::array<std::vector<Parked>, 2> parked_;  // heaps: ready but beyond the window
  std::vector<std::int32_t> ready_;            // a ring; an operation is in it at most once
  std::size_t ready_head_ = 0;
  std::size_t ready_count_ = 0;
  std::vector<Token> polled_;
  std::vector<Piece> pieces_;
};

}  // namespace quadrille
