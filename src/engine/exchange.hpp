#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>

#include "engine/arena.hpp"
#include "engine/requests.hpp"
#include "run/memory.hpp"
#include "run/program.hpp"
#include "run/runner.hpp"

namespace quadrille::engine {

// Hears how an exchange fares.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void advanced() = 0;
  virtual void done(Exchange& exchange) = 0;
  virtual void failed(Exchange& exchange, std::exception_ptr error) = 0;
};

// Where an exchange takes place.
struct Ground {
  MPI_Comm comm = MPI_COMM_NULL;
  std::int64_t part = max_int_count;  // longer messages travel in parts; the same on every rank
  Requests* requests = nullptr;
  Arena* arena = nullptr;
};

// One schedule run over messages of MPI, as often as wanted. All bytes travel as MPI_BYTE: what they mean is known to
// the layouts at both ends. Not thread-safe.
class Exchange final : public Backend {
 public:
  Exchange(const Ground& ground, std::shared_ptr<const Program> program, const Posting& posting, Listener& listener);

  // To be filled in before a start. Scratch is the exchange's own affair, but for its layout.
  Binding& binding() { return binding_; }
  // The type of scratch, where a schedule reduces.
  void set_scratch_layout(const Layout& layout) { scratch_layout_ = layout; }
  const Layout& scratch_layout() const { return scratch_layout_; }

  // The listener may be told before this returns. Channel c travels under tag first_tag + c.
  void start(int first_tag);

  const Runner& runner() const { return runner_; }
  const Schedule& schedule() const { return program_->schedule(); }

  // Gives up a run, if there is one; the listener is not told.
  void cancel();

  // For Requests.
  void part_ended(const Ended& ended);
  void abandon(Message& message) const;

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override;
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override;
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override;
  void copy(Token token, const Piece& source, const Piece& target) override;
  void reduce(Token token, const Piece& left, const Piece& right, const Piece& target) override;

 private:
  Message& message(Token token, bool receiving, Rank peer, std::int32_t channel, std::span<const Piece> data);
  void launch(Message& message);
  bool overtakes(const Message& message) const;
  void launch_held(const Message& after);
  void post_parts(Message& message);
  void post(Message& message, std::byte* at, std::int64_t bytes) const;
  void take_scratch();
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
  Runner runner_;
  // Messages that have parts to post yet, and those of the same stream that must not overtake them.
  std::vector<Message*> unfinished_;
  std::vector<Message*> held_;
  int first_tag_ = 0;
  bool running_ = false;
};

}  // namespace quadrille::engine
