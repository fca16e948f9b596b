#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "run/machine.hpp"
#include "run/message_windows.hpp"
#include "run/program.hpp"

namespace quadrille {

// Observes everything a run does, in the order it happens.
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
class Runner final : public Machine {
 public:
  // The program and the backend must outlive the runner.
  Runner(const Program& program, Backend& backend, Posting posting = {});

  void start() override;
  // Looks at counters, too.
  bool advance() override;
  void complete(Token token) override;
  bool done() const override { return remaining_ == 0; }
  std::vector<std::string> awaited() const override;

  // Where a counter has to get to.
  struct Awaited {
    Rank owner = 0;
    std::int32_t counter = 0;
    std::int64_t value = 0;
  };
  // The counter it waits for, if all that it waits for is one: the least value of it that lets it go on.
  std::optional<Awaited> awaits_one() const;

  // Calls visit(token) for each operation that is posted and not complete.
  template <class Visit>
  void for_each_in_flight(Visit&& visit) const {
    if (single_file_) {
      if (!done()) visit(Token{next_in_file(), 0});
      return;
    }
    for (std::int32_t id = 0; id < program_.operations(); ++id) {
      const Progress& progress = progress_[static_cast<std::size_t>(id)];
      if (progress.counted < 0) {
        if (progress.posted && !progress.done) visit(Token{id, 0});
        continue;
      }
      const Iterations& of = iterations_[static_cast<std::size_t>(progress.counted)];
      for (std::int64_t k = of.done; k < of.posted; ++k) {
        if (!of.is_done(k)) visit(Token{id, k});
      }
    }
  }

  const Program& program() const { return program_; }

 private:
  struct Progress {
    std::int32_t unmet = 0;     // outside loops: dependencies that still hold it back
    std::int32_t counted = -1;  // inside: where its iterations are
    bool queued = false;
    bool posted = false;  // all of it
    bool done = false;    // likewise
  };
  // Of an operation in a loop.
  struct Iterations {
    std::int64_t total = 0;
    std::int64_t posted = 0;
    std::int64_t done = 0;         // all below are complete
    std::uint64_t done_after = 0;  // bit i: iteration done + i is complete
    std::size_t met = 0;           // so many dependencies of the next one, from the first on

    bool is_done(std::int64_t iteration) const {
      const std::int64_t after = iteration - done;
      return after < 0 || (after < max_loop_window && ((done_after >> after) & 1U) != 0);
    }
  };
  struct LoopProgress {
    std::int64_t iterations = 0;
    std::int64_t units = 0;            // of the block that a chunk loop runs over
    std::int64_t chunk = 0;            // likewise: of a chunk
    std::int64_t oldest = 0;           // all iterations below are complete
    std::size_t first_unfinished = 0;  // in unfinished_, one for each iteration of the window
  };
  Progress& progress(std::int32_t id) { return progress_[static_cast<std::size_t>(id)]; }
  const Progress& progress(std::int32_t id) const { return progress_[static_cast<std::size_t>(id)]; }
  bool satisfied(const Operation& operation, const Dependency& dependency, std::int64_t iteration) const;
  bool ready(std::int32_t id, std::int64_t iteration);
  void consider(std::int32_t id);
  void release(std::int32_t earlier, bool posted);
  std::size_t ready_place(std::size_t index) const;
  void enqueue(std::int32_t id);
  std::int32_t dequeue();
  void post(std::int32_t id);
  bool perform(Token token, const Operation& operation);
  Piece resolve(const Region& region, const Operation& operation, std::int64_t iteration);
  void start_loops();
  void finish_in_loop(std::int32_t loop, std::int64_t iteration);
  bool poll_counters();
  bool arrived(Token token, const Operation& operation);
  bool advance_in_file();
  std::int32_t next_in_file() const { return program_.operations() - static_cast<std::int32_t>(remaining_); }

  const Program& program_;
  Backend& backend_;
  Posting posting_;
  MessageWindows windows_;
  bool single_file_;  // see Program; whoever watches, or mixes the order, sees each operation
  std::int64_t remaining_ = 0;
  std::vector<Progress> progress_;
  std::vector<Iterations> iterations_;
  std::vector<LoopProgress> loops_;
  std::vector<std::int32_t> unfinished_;  // operations of each loop, by iteration modulo window
  std::vector<std::int32_t> ready_;       // a ring; an operation is in it at most once
  std::size_t ready_head_ = 0;
  std::size_t ready_count_ = 0;
  std::vector<Token> polled_;
  std::vector<Piece> pieces_;
};

}  // namespace quadrille
