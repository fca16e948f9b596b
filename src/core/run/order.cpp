#include "run/order.hpp"

#include <utility>

namespace quadrille {

using State = Ordered::State;

void Order::enqueue(Ordered& one) {
  one.sequence_ = next_sequence_++;
  one.state_ = State::queued;
  one.followed_ = one.declared_ != nullptr;
  one.previous_ = newest_;
  one.next_ = nullptr;
  (newest_ ? newest_->next_ : oldest_) = &one;
  newest_ = &one;
  if (!first_queued_) first_queued_ = &one;
  if (!one.declared_) return;
  one.declared_->follows_ = &one;
  one.follower_ = one.declared_;
  enqueue(*one.declared_);
}

void Order::start(Ordered& one) {
  enqueue(one);
  pump();
}

void Order::start_after(Ordered& one, Ordered& earlier) {
  earlier.followed_ = true;
  if (earlier.in_flight()) {
    one.follows_ = &earlier;
    earlier.follower_ = &one;
  }
  enqueue(one);
  if (earlier.state_ == State::failed) {
    one.fail_like(earlier);
  } else {
    pump();
  }
}

std::string_view Order::refusal_to_follow(const Ordered& earlier) {
  // Whether the earlier one has ended here other ranks don't know.
  return earlier.followed_ ? "another collective follows this one already" : "";
}

std::string_view Order::refusal_to_declare(const Ordered& one, const Ordered& earlier) {
  for (const Ordered* link = &one; link; link = link->declared_) {
    if (link == &earlier) return "a chain of collectives can't lead back to its beginning";
  }
  if (earlier.declared_) return "another collective follows this one already";
  if (one.declared_by_) return "the collective follows another one already";
  return "";
}

void Order::declare(Ordered& one, Ordered& earlier) {
  earlier.declared_ = &one;
  one.declared_by_ = &earlier;
}

void Order::undeclare(Ordered& one) {
  if (one.declared_) one.declared_->declared_by_ = nullptr;
  if (one.declared_by_) one.declared_by_->declared_ = nullptr;
  one.declared_ = one.declared_by_ = nullptr;
}

bool Order::pump() {
  if (pumping_) return false;
  // Also after an exception out of what begins.
  struct Pumping {
    bool& flag;
    explicit Pumping(bool& pumping) : flag(pumping) { flag = true; }
    ~Pumping() { flag = false; }
  } pumping(pumping_);
  bool happened = false;
  while (first_queued_) {
    Ordered& one = *first_queued_;
    if (one.sequence_ - oldest_->sequence_ >= window_) break;
    if (memory_ > 0 && reserved_ > 0 && reserved_ + one.reserved_ > memory_) break;
    if (!gate_.admits(one)) break;
    happened = true;
    first_queued_ = one.next_;
    reserved_ += one.reserved_;
    one.state_ = State::waiting;
    if (one.follows_) continue;
    one.state_ = State::begun;
    one.begin();
  }
  return happened;
}

void Order::release_follower(Ordered& one) {
  Ordered* follower = std::exchange(one.follower_, nullptr);
  if (!follower) return;
  follower->follows_ = nullptr;
  if (one.state_ == State::failed) {
    follower->fail_like(one);
  } else if (follower->state_ == State::waiting) {
    follower->state_ = State::begun;
    follower->begin();
  }
}

void Order::end(Ordered& one, bool failed) {
  if (one.state_ != State::queued) reserved_ -= one.reserved_;
  if (first_queued_ == &one) first_queued_ = one.next_;
  one.state_ = failed ? State::failed : State::done;
  (one.previous_ ? one.previous_->next_ : oldest_) = one.next_;
  (one.next_ ? one.next_->previous_ : newest_) = one.previous_;
  gate_.ended_below(oldest_ ? oldest_->sequence_ : next_sequence_);
  if (one.follows_) std::exchange(one.follows_, nullptr)->follower_ = nullptr;
  one.has_ended();
  release_follower(one);
  pump();
}

}  // namespace quadrille
