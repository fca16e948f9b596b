#pragma once

#include <cstdint>
#include <string_view>

namespace quadrille {

// A collective as the order of its communicator sees it.
class Ordered {
 public:
  // queued: for its turn; waiting: it has had its turn, but what it follows has not ended; begun; then done or failed.
  enum class State : std::uint8_t { idle, queued, waiting, begun, done, failed };

  Ordered() = default;
  Ordered(const Ordered&) = delete;
  Ordered& operator=(const Ordered&) = delete;

  State state() const { return state_; }
  bool ended() const { return state_ == State::done || state_ == State::failed; }
  bool in_flight() const { return state_ != State::idle && !ended(); }
  // Its number on the communicator, the same on every rank.
  std::int64_t sequence() const { return sequence_; }
  // The one that it begins after; null if that has ended, or there is none.
  const Ordered* follows() const { return follows_; }
  // The one that every start of this one starts as well.
  Ordered* declared() const { return declared_; }
  // The next one in flight.
  Ordered* next() const { return next_; }

 protected:
  ~Ordered() = default;
  // What it may take of bounded memory; to be set before a start.
  void set_reserved(std::int64_t bytes) { reserved_ = bytes; }

 private:
  friend class Order;

  // It is its turn. It may end before this returns.
  virtual void begin() = 0;
  // It is no longer in flight.
  virtual void has_ended() = 0;
  // What it was to follow has failed: so does it.
  virtual void fail_like(const Ordered& earlier) = 0;

  State state_ = State::idle;
  bool followed_ = false;  // something was started to follow this run
  std::int64_t sequence_ = 0;
  std::int64_t reserved_ = 0;
  Ordered* follows_ = nullptr;   // begins when that one has ended
  Ordered* follower_ = nullptr;  // begins when this one has ended, in this run
  Ordered* declared_ = nullptr;  // is started with this one, to follow it, in every run
  Ordered* declared_by_ = nullptr;
  Ordered* previous_ = nullptr;  // those in flight, by sequence
  Ordered* next_ = nullptr;
};

// The order of the collectives on one communicator. Each start takes the next sequence number; what comes too early for
// tags, memory or shared memory is queued, so that a start never waits, and the oldest always has room. Collectives
// that follow others take their numbers and their share in their turn, the same on every rank, and begin when those
// others have ended on this one. Not thread-safe.
class Order {
 public:
  // What else it takes to begin.
  class Gate {
   public:
    virtual bool admits(const Ordered& one) = 0;
    // All with a lower number have ended here.
    virtual void ended_below(std::int64_t sequence) = 0;

   protected:
    ~Gate() = default;
  };

  explicit Order(Gate& gate) : gate_(gate) {}
  // At most so many numbers are in flight at once, and so many bytes reserved; 0: no limit.
  void set_limits(std::int64_t window, std::int64_t memory) {
    window_ = window;
    memory_ = memory;
  }
  std::int64_t window() const { return window_; }
  std::int64_t next_sequence() const { return next_sequence_; }
  // The oldest in flight; null: none.
  Ordered* oldest() const { return oldest_; }

  // Starts it, and those declared to follow it.
  void start(Ordered& one);
  // Starts it to follow `earlier`, which may have ended. If that has failed, so does it.
  void start_after(Ordered& one, Ordered& earlier);
  // From now on every start of `earlier` starts `one` as well.
  static void declare(Ordered& one, Ordered& earlier);
  static void undeclare(Ordered& one);
  // Why one can't follow the other; empty: it can. What other ranks don't know is not looked at.
  static std::string_view refusal_to_follow(const Ordered& earlier);
  static std::string_view refusal_to_declare(const Ordered& one, const Ordered& earlier);

  // Begins what is queued, in order, as far as it can. Returns whether anything did.
  bool pump();
  // One in flight has ended.
  void end(Ordered& one, bool failed);
  // To be called before the next start.
  static void reset(Ordered& one) { one.state_ = Ordered::State::idle; }
  // Nothing that is queued will begin any more.
  void close() { first_queued_ = nullptr; }

 private:
  void enqueue(Ordered& one);
  void release_follower(Ordered& one);

  Gate& gate_;
  std::int64_t window_ = 1;
  std::int64_t memory_ = 0;
  std::int64_t next_sequence_ = 0;
  std::int64_t reserved_ = 0;
  Ordered* oldest_ = nullptr;
  Ordered* newest_ = nullptr;
  Ordered* first_queued_ = nullptr;
  bool pumping_ = false;
};

}  // namespace quadrille
