#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "run/plan.hpp"
#include "schedule/staging.hpp"

namespace quadrille::replay {

class World;

// One rank: its plan, the run of its current phase, and its side of the in-process transport.
class SimulatedRank final : public Backend {
 public:
  SimulatedRank(World& world, Rank rank, std::unique_ptr<Plan> plan)
      : world_(world), rank_(rank), plan_(std::move(plan)) {}

  // Fetches the next phase, so that peers can access its slots; it starts when the rank next advances.
  void begin_phase();
  bool advance();
  bool done() const { return done_; }
  void complete(Token token) { machine_->complete(token); }
  std::string waiting() const;
  const Binding& binding() const { return phase_.binding; }
  const Schedule& schedule() const { return phase_.program->schedule(); }
  std::int64_t counter(Board board, std::int32_t index) const;
  void raise(Board board, std::int32_t index, std::int64_t value);
  std::int64_t base(Board board, std::int64_t value) const { return counter_base_[place(board)] + value; }
  // Of a notice that this rank sets or awaits.
  std::int64_t noticed_value(std::int32_t notice, bool sets, std::int64_t value) const;

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override;
  std::int64_t chunk(std::int32_t block, std::int64_t most) override { return phase_.binding.chunk(block, most); }
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
  // A rank whose slots or counters this one uses.
  const SimulatedRank& sharing(Rank owner) const;
  Placed placed(const Piece& piece) const;
  // A piece of a peer's memory in its window.
  Placed in_window(Rank peer, const Piece& piece) const;
  static std::size_t place(Board board) { return static_cast<std::size_t>(board); }
  void bring_scratch();
  // A piece of staging, of this rank's own or of a peer's, in the place whose turn it is.
  Piece in_turn(Piece piece, bool of_peer) const;
  // A message of these pieces, not yet posted.
  std::int32_t message(Token token, std::span<const Piece> data);

  World& world_;
  Rank rank_;
  std::unique_ptr<Plan> plan_;
  Phase phase_;
  std::unique_ptr<Machine> machine_;
  std::int32_t phases_ = 0;
  std::vector<std::vector<std::byte>> scratch_;
  // By board.
  std::array<std::int64_t, 3> counter_base_ = {};
  std::array<std::vector<std::int64_t>, 3> counters_;
  StagingRuns staging_runs_;
  bool begun_ = false;
  bool started_ = false;  // the current phase
  bool done_ = false;
};

}  // namespace quadrille::replay
