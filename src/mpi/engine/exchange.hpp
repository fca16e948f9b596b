#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "engine/arena.hpp"
#include "engine/requests.hpp"
#include "run/memory.hpp"
#include "run/plan.hpp"
#include "run/program.hpp"
#include "run/runner.hpp"
#include "shared_memory/lanes.hpp"

namespace quadrille::engine {

// Hears how an exchange fares.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void advanced() = 0;
  virtual void done(Exchange& exchange) = 0;
  virtual void failed(Exchange& exchange, std::exception_ptr error) = 0;
};

// The memory of a node, as the exchanges of one communicator use it.
struct SharedMemory {
  shared::Lanes* lanes = nullptr;
  std::span<const std::int32_t> seats;  // by rank: its number on this node
};

// Exchanges under way that wait for counters in shared memory, which nobody tells them of.
class Watch {
 public:
  void add(Exchange& exchange) { watched_.push_back(&exchange); }
  void remove(Exchange& exchange) { std::erase(watched_, &exchange); }
  bool empty() const { return watched_.empty(); }
  // Lets them look at their counters. Returns whether anything happened.
  bool look();
  // The one there is, if there is but one.
  Exchange* only() const { return watched_.size() == 1 ? watched_.front() : nullptr; }

 private:
  std::vector<Exchange*> watched_;
};

// Of an exchange on demand, the tag of words that a receive is posted: above those of the data.
inline constexpr int tag_of_demand = 32;

// Where an exchange takes place.
struct Ground {
  MPI_Comm comm = MPI_COMM_NULL;
  std::int64_t part = max_int_count;  // longer messages travel in parts; the same on every rank
  // The lower one of two ranks sends first, when the other has posted a receive, which a word tells; the other one when
  // something has come. From then on the schedule lets no more go than comes. So MPI has nothing to keep for a rank
  // that is late, and no more than a window's messages, for a moment, of one that is not. The same on every rank.
  bool on_demand = false;
  Requests* requests = nullptr;
  Arena* arena = nullptr;
  Watch* watch = nullptr;
  SharedMemory shared;
};

// One schedule run over messages of MPI, as often as wanted, or a protocol, once. All bytes travel as MPI_BYTE: what
// they mean is known to the layouts at both ends. Not thread-safe.
class Exchange final : public Backend {
 public:
  Exchange(const Ground& ground, std::shared_ptr<const Program> program, const Posting& posting, Listener& listener);
  // A phase's protocol, which brings all its memory along, or its schedule, which may bring its scratch.
  Exchange(const Ground& ground, Phase phase, const Posting& posting, Listener& listener);

  // To be filled in before a start. Scratch is the exchange's own affair, but for its layout, unless a phase brings it.
  Binding& binding() { return binding_; }
  // The type of scratch and slots, where a schedule reduces.
  void set_scratch_layout(const Layout& layout) {
    scratch_layout_ = layout;
    lay_out_slots();
  }
  const Layout& scratch_layout() const { return scratch_layout_; }

  // Takes the memory of the next run in advance, or throws std::bad_alloc; gives it back, if there is to be none.
  void reserve();
  void forgo();
  // The listener may be told before this returns. Channel c travels under tag first_tag + c; a schedule with counters
  // has the lane of that run (see Lanes).
  void start(int first_tag, std::int64_t run = 0);
  bool uses_lane() const { return runner_ && schedule().counters > 0; }

  // Null: a protocol.
  const Runner* runner() const { return runner_; }
  const Schedule& schedule() const { return program_->schedule(); }
  // For people.
  std::vector<std::string> awaited() const { return machine_->awaited(); }

  // Gives up a run, if there is one; the listener is not told. Returns whether MPI may still read what was being sent.
  bool cancel();

  // For Watch: returns whether anything happened.
  bool look();
  // Sleeps until a counter is set that the runner waits for, but not for longer than so long.
  void sleep(const Runner::Awaited& awaited, std::chrono::nanoseconds most) const;
  // For Requests.
  void part_ended(const Ended& ended);
  void abandon(Message& message) const;

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override;
  std::int64_t chunk(std::int32_t block, std::int64_t most) override { return binding_.chunk(block, most); }
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override;
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override;
  void copy(Token token, const Piece& source, const Piece& target) override;
  void reduce(Token token, const Piece& left, const Piece& right, const Piece& target) override;
  void publish(Token token, std::int32_t counter, std::int64_t value) override;
  bool reached(Token token, Rank owner, std::int32_t counter, std::int64_t value) override;

 private:
  Message& message(Token token, bool receiving, Rank peer, std::int32_t channel, std::span<const Piece> data);
  void launch(Message& message);
  void put_under_way(Message& message);
  bool overtakes(const Message& message) const;
  void launch_held(const Message& after);
  void post_parts(Message& message);
  void post(Message& message, std::byte* at, std::int64_t bytes) const;
  bool sends_first(Rank peer) const { return schedule().rank < peer; }
  bool must_wait(const Message& message);
  void await_demand(const Message& message);
  void tell_demand(const Message& message);
  void demanded(Rank peer);
  void end();
  void lay_out_slots();
  Placed placed(const Piece& piece) const;
  void give_scratch_back(bool may_be_read = false);
  void leave(std::byte* block, bool may_be_read) const;
  template <class Work>
  void guarded(Work&& work);

  Ground ground_;
  std::shared_ptr<const Program> program_;
  Listener& listener_;
  Binding binding_;
  Layout scratch_layout_;
  std::vector<std::byte*> scratch_;
  bool brings_scratch_ = false;
  std::unique_ptr<Machine> machine_;
  Runner* runner_ = nullptr;  // the machine, if it runs a schedule
  // Messages that have parts to post yet, and those of the same stream that must not overtake them.
  std::vector<Message*> unfinished_;
  std::vector<Message*> held_;
  // On demand, by rank: whether it was told that a receive is posted here, and whether it will receive.
  enum class Demand : std::uint8_t { unknown, awaited, known };
  std::vector<bool> told_;
  std::vector<Demand> demands_;
  std::vector<Message*> undemanded_;  // sends to those who have posted no receive, as far as known
  int first_tag_ = 0;
  std::int64_t run_ = 0;
  std::vector<std::int64_t> slot_offsets_;  // and behind them what they take
  bool running_ = false;
  bool may_be_read_ = false;  // MPI may still send from what a run that was given up had
  bool inside_ = false;       // one of its operations is under way
};

}  // namespace quadrille::engine
