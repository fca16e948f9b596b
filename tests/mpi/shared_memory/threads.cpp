#include "shared_memory/threads.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "run/memory.hpp"
#include "run/runner.hpp"
#include "shared_memory/lanes.hpp"
#include "shared_memory/segment.hpp"

namespace quadrille::shared {

namespace {

constexpr std::int64_t room_bytes = 1024;
using Element = std::int64_t;

// What the engine's exchange does, without messages.
class Seat final : public Backend {
 public:
  Seat(Lanes& lanes, Rank rank, std::int64_t run, const Schedule& schedule) : lanes_(lanes), rank_(rank), run_(run) {
    offsets_ = {0};
    for (const std::int64_t units : schedule.slots) {
      offsets_.push_back(next_slot(offsets_.back(), units * unit_bytes(schedule)));
    }
    unit_ = unit_bytes(schedule);
  }
  static std::int64_t unit_bytes(const Schedule& schedule) {
    return schedule.unit == Unit::elements ? static_cast<std::int64_t>(sizeof(Element)) : 1;
  }
  void bind(Element* input, Element* output) {
    input_ = reinterpret_cast<std::byte*>(input);
    output_ = reinterpret_cast<std::byte*>(output);
  }

  std::int64_t units(Buffer, Rank, std::int32_t) override { return 0; }
  void send(Token, Rank, std::int32_t, std::span<const Piece>) override { std::abort(); }
  void receive(Token, Rank, std::int32_t, std::span<const Piece>) override { std::abort(); }
  void copy(Token, const Piece& source, const Piece& target) override {
    std::memcpy(at(target), at(source), static_cast<std::size_t>(source.length * unit_));
  }
  void reduce(Token, const Piece& left, const Piece& right, const Piece& target) override {
    const auto* one = reinterpret_cast<const Element*>(at(left));
    const auto* other = reinterpret_cast<const Element*>(at(right));
    auto* result = reinterpret_cast<Element*>(at(target));
    for (std::int64_t i = 0; i < target.length; ++i) result[i] = one[i] + other[i];
  }
  void publish(Token, std::int32_t counter, std::int64_t value) override { lanes_.publish(run_, counter, value); }
  bool reached(Token, Rank owner, std::int32_t counter, std::int64_t value) override {
    return lanes_.reached(run_, owner, counter, value);
  }

 private:
  std::byte* at(const Piece& piece) {
    std::byte* base = piece.buffer == Buffer::input ? input_ : output_;
    if (piece.buffer == Buffer::slot) {
      const Rank owner = piece.owner == self ? rank_ : piece.owner;
      base = lanes_.slots(run_, owner, offsets_.back()) + offsets_[static_cast<std::size_t>(piece.block)];
    }
    return base + piece.offset * unit_;
  }

  Lanes& lanes_;
  Rank rank_;
  std::int64_t run_;
  std::int64_t unit_ = 1;
  std::vector<std::int64_t> offsets_;
  std::byte* input_ = nullptr;
  std::byte* output_ = nullptr;
};

struct Call {
  Collective collective;
  std::int64_t elements;
};
constexpr Call calls[] = {{Collective::allreduce, 1},    {Collective::bcast, 2},   {Collective::reduce, 3},
                          {Collective::barrier, 0},      {Collective::bcast, 300}, {Collective::allreduce, 1000},
                          {Collective::allreduce, 3000}, {Collective::reduce, 900}};
// From one root, which hears nothing of the others but what they have ended: more than there are lanes.
constexpr Call series = {Collective::bcast, 5};
constexpr std::int64_t in_series = 3 * Lanes::lanes;

// One rank. Gives up, as all do, when something went wrong or nothing happens any more.
class Ranker {
 public:
  Ranker(std::byte* memory, Rank rank, Rank ranks, std::atomic<bool>& stop)
      : lanes_(memory, rank, ranks, room_bytes, Lanes::Waits::asleep), rank_(rank), ranks_(ranks), stop_(stop) {}

  std::string rounds(std::int64_t many) {
    for (std::int64_t round = 0; round < many && !stop_; ++round) {
      for (const Call& call : calls) {
        if (!perform(call, static_cast<Rank>(run_ % ranks_))) return stop_ ? "" : "a rank waited for ever";
      }
      for (std::int64_t i = 0; i < in_series; ++i) {
        if (!perform(series, static_cast<Rank>(round % ranks_))) return stop_ ? "" : "a rank waited for ever";
      }
    }
    return wrong_;
  }

 private:
  Element value(Rank rank, std::int64_t index) const { return rank * 1'000'003 + index * 7 + run_; }

  bool perform(const Call& call, Rank root) {
    const bool in_bytes = unit_of(call.collective) == Unit::bytes;
    const std::int64_t unit = in_bytes ? static_cast<std::int64_t>(sizeof(Element)) : 1;
    const std::int64_t room = room_bytes - 64;
    const Program program(build(*find_algorithm(call.collective, "hierarchical"),
                                {.rank = rank_,
                                 .ranks = ranks_,
                                 .root = root,
                                 .count = call.elements * unit,
                                 .room = in_bytes ? room : room / static_cast<std::int64_t>(sizeof(Element))}));
    std::vector<Element> input(static_cast<std::size_t>(call.elements));
    std::vector<Element> output(input.size());
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = value(rank_, static_cast<std::int64_t>(i));
    if (call.collective == Collective::bcast && rank_ == root) output = input;

    if (!wait([&] { return lanes_.free_for(run_); })) return false;
    Seat seat(lanes_, rank_, run_, program.schedule());
    seat.bind(input.data(), output.data());
    Runner runner(program, seat);
    runner.start();
    if (!wait([&] { return runner.advance() || runner.done(); })) return false;
    if (!wait([&] { return (runner.advance(), runner.done()); })) return false;
    lanes_.ended_below(run_ + 1);
    check(call, root, output);
    ++run_;
    return true;
  }

  void check(const Call& call, Rank root, const std::vector<Element>& output) {
    const bool has_result = call.collective != Collective::reduce || rank_ == root;
    for (std::size_t i = 0; has_result && i < output.size(); ++i) {
      Element wanted = value(root, static_cast<std::int64_t>(i));
      if (call.collective != Collective::bcast) {
        wanted = 0;
        for (Rank rank = 0; rank < ranks_; ++rank) wanted += value(rank, static_cast<std::int64_t>(i));
      }
      if (output[i] == wanted || !wrong_.empty()) continue;
      wrong_ = std::string(name(call.collective)) + " number " + std::to_string(run_) + " is wrong on rank " +
               std::to_string(rank_);
      stop_ = true;
    }
  }

  template <class Done>
  bool wait(Done&& done) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (stop_ || Clock::now() > end) return false;
      sched_yield();
    }
    return true;
  }

  Lanes lanes_;
  Rank rank_;
  Rank ranks_;
  std::atomic<bool>& stop_;
  std::int64_t run_ = 0;
  std::string wrong_;
};

}  // namespace

std::string run_threads(int ranks, std::int64_t rounds) {
  const Segment segment = Segment::create(Lanes::bytes(ranks, room_bytes));
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::string wrong;
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const std::string own = Ranker(segment.memory(), rank, ranks, stop).rounds(rounds);
      if (own.empty()) return;
      stop = true;
      const std::lock_guard lock(mutex);
      wrong = own;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

}  // namespace quadrille::shared
