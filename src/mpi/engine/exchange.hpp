#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/message_transport.hpp"
#include "engine/node_transport.hpp"
#include "engine/requests.hpp"
#include "engine/watch.hpp"
#include "engine/window_transport.hpp"
#include "run/memory.hpp"
#include "run/plan.hpp"
#include "run/program.hpp"
#include "run/runner.hpp"

namespace quadrille::engine {

// What the exchanges of a communicator run over.
struct Ground {
  MessageGround messages;
  NodeGround node;
  Watch* watch = nullptr;
  MPI_Comm leaders = MPI_COMM_NULL;  // of nodes, for collectives of the MPI's own; see Kind::offload
};

// One schedule run over MPI, the memory of the node and windows, as often as wanted, or a protocol, once. Not
// thread-safe.
class Exchange final : public Backend, private MessageTransport::User, private MessageOwner, private Watched {
 public:
  // Hears how it fares.
  class Listener {
   public:
    virtual void advanced() = 0;
    virtual void done(Exchange& exchange) = 0;
    virtual void failed(Exchange& exchange, std::exception_ptr error) = 0;

   protected:
    ~Listener() = default;
  };

  Exchange(const Ground& ground, std::shared_ptr<const Program> program, const Posting& posting, Listener& listener);
  // A phase's protocol, which brings all its memory along, or its schedule, which may bring its scratch.
  Exchange(const Ground& ground, Phase phase, const Posting& posting, Listener& listener);

  // To be filled in before a start. Scratch is the exchange's own affair, but for its layout, unless a phase brings it.
  Binding& binding() { return binding_; }
  const Binding& binding() const { return binding_; }
  // The type of scratch and slots, where a schedule reduces.
  void set_element(const Layout& layout);
  // What the MPI reduces by, where a schedule leaves that to it. Predefined, since those are never freed.
  struct Operation {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  void set_operation(const Operation& operation) { operation_ = operation; }
  // That its output lies in, of a schedule that is one-sided.
  void set_window(Window* window) { window_.use(window); }
  Window* window() const { return window_.window(); }

  // Takes the memory of the next run in advance, or throws std::bad_alloc; gives it back, if there is to be none.
  void reserve();
  void forgo();
  // The listener may hear of the end before this returns. Channel c travels under tag first_tag + c; a schedule with
  // counters has the lane of that run (see Lanes), one with notices their values of that run.
  void start(int first_tag, std::int64_t run = 0);
  bool uses_lane() const { return runner_ && schedule().counters > 0; }

  // Null: a protocol.
  const Runner* runner() const { return runner_; }
  const Schedule& schedule() const { return program_->schedule(); }
  // For people.
  std::vector<std::string> awaited() const;

  // Gives up a run, if there is one; the listener does not hear of it. Returns whether MPI may still read what was
  // being sent.
  bool cancel();

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override;
  std::int64_t chunk(std::int32_t block, std::int64_t most) override { return binding_.chunk(block, most); }
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

 private:
  // What the transports, requests and waits call.
  void completed(Token token) override { machine_->complete(token); }
  void part_ended(const Ended& ended) override;
  void abandon(Message& message) override { messages_.give_back(message); }
  bool look() override;
  bool needs_mpi() const override { return schedule().one_sided(); }
  std::optional<Runner::Awaited> awaits_one() const override { return runner_->awaits_one(); }
  void sleep(const Runner::Awaited& awaited, std::chrono::nanoseconds most) const override;

  // Whether it waits for what no message tells of.
  bool watched() const { return uses_lane() || (runner_ && schedule().one_sided()); }
  void message(Token token, bool receiving, Rank peer, std::int32_t channel, std::span<const Piece> data);
  Placed placed(const Piece& piece) const;
  void end();
  void give_scratch_back(bool may_be_read = false);
  template <class Work>
  void guarded(Work&& work);

  Watch* watch_;
  MPI_Comm leaders_;
  Arena* arena_;
  MessageTransport messages_;
  NodeTransport node_;
  WindowTransport window_;
  std::shared_ptr<const Program> program_;
  Listener& listener_;
  Binding binding_;
  Layout element_;  // of scratch and slots
  Operation operation_;
  std::vector<std::byte*> scratch_;
  bool brings_scratch_ = false;
  std::unique_ptr<Machine> machine_;
  Runner* runner_ = nullptr;  // the machine, if it runs a schedule
  bool running_ = false;
  bool may_be_read_ = false;  // MPI may still send from what a run that was given up had
  bool inside_ = false;       // one of its operations is under way
};

}  // namespace quadrille::engine
