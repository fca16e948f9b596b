#include "redistribute/settle.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace quadrille::redistribute {

namespace {

class Settling {
 public:
  Settling(std::span<const Run> runs, std::int64_t element_bytes, std::span<Fragment> fragments)
      : runs_(runs), bytes_(element_bytes), fragments_(fragments) {}

  std::int64_t go() {
    std::int64_t steps = 0;
    while (next_ < fragments_.size()) {
      const Fragment& fragment = fragments_[next_];
      if (fragment.place == settled_) {
        finish(fragment.length);
      } else {
        step();
        ++steps;
      }
    }
    return steps;
  }

 private:
  // Moves the next fragment, or a part of it, to its final places.
  void step() {
    const Fragment fragment = fragments_[next_];
    const std::int64_t distance = fragment.place - settled_;
    std::int64_t lowest = fragment.place;
    std::int64_t highest = 0;
    for (const Fragment& other : fragments_.subspan(next_)) {
      lowest = std::min(lowest, other.place);
      highest = std::max(highest, other.place + other.length);
    }
    if (lowest == fragment.place) {
      move(settled_, fragment.place, fragment.length);
      finish(fragment.length);
    } else if (lowest > settled_) {
      const std::int64_t length = std::min(fragment.length, lowest - settled_);
      move(settled_, fragment.place, length);
      finish(length);
    } else if (const auto aside = distance < fragment.length ? room_for(distance, highest) : std::nullopt) {
      shift(fragment, distance, *aside);
    } else {
      exchange(fragment, distance);
    }
  }

  // So many elements of the next fragment are at their final places.
  void finish(std::int64_t length) {
    settled_ += length;
    Fragment& fragment = fragments_[next_];
    if (length == fragment.length) {
      ++next_;
    } else {
      fragment = {fragment.place + length, fragment.length - length, fragment.home + length};
    }
  }

  // The displaced elements move after the fragment.
  void shift(const Fragment& fragment, std::int64_t distance, const Elements& aside) {
    for_each_run(settled_, distance, [&](const Elements& elements, std::int64_t done, std::int64_t count) {
      redistribute::move(aside.behind(done, bytes_), elements, count, bytes_);
    });
    move(settled_, fragment.place, fragment.length);
    const std::int64_t behind = settled_ + fragment.length;
    for_each_run(behind, distance, [&](const Elements& elements, std::int64_t done, std::int64_t count) {
      redistribute::move(elements, aside.behind(done, bytes_), count, bytes_);
    });
    for (Fragment& other : fragments_.subspan(next_ + 1)) {
      if (other.place < fragment.place) other.place += fragment.length;
    }
    finish(fragment.length);
  }

  // The displaced elements move to the fragment's old places.
  void exchange(const Fragment& fragment, std::int64_t distance) {
    const std::int64_t length = std::min(fragment.length, distance);
    const std::int64_t end = settled_ + length;
    for_each_pair(settled_, fragment.place, length, [this](const Elements& a, const Elements& b, std::int64_t count) {
      redistribute::exchange(a, b, count, bytes_, aside_);
    });
    std::size_t cut = 0;
    for (std::size_t i = next_ + 1; i < fragments_.size(); ++i) {
      Fragment& other = fragments_[i];
      if (other.place >= end) continue;
      if (other.place + other.length > end) cut = i;
      other.place += distance;
    }
    if (cut == 0) return finish(length);
    // A displaced fragment was longer, so this one is completely settled: its free entry is inserted after that of the
    // other.
    Fragment& first = fragments_[cut];
    const std::int64_t kept = end - (first.place - distance);
    const Fragment rest{end, first.length - kept, first.home + kept};
    first.length = kept;
    const auto entry = fragments_.begin() + static_cast<std::ptrdiff_t>(next_);
    std::copy(entry + 1, fragments_.begin() + static_cast<std::ptrdiff_t>(cut) + 1, entry);
    fragments_[cut] = rest;
    settled_ += length;
  }

  // Memory for the displaced elements: a local buffer, or free places at the end.
  std::optional<Elements> room_for(std::int64_t length, std::int64_t highest) {
    if (length * bytes_ <= static_cast<std::int64_t>(aside_.size())) return Elements{aside_.data()};
    const Run& last = runs_.back();
    const std::int64_t begin = std::max(highest, last.place);
    if (begin + length > last.place + last.length) return std::nullopt;
    return last.elements.behind(begin - last.place, bytes_);
  }

  // Downwards, so the ranges may overlap.
  void move(std::int64_t to, std::int64_t from, std::int64_t length) {
    for_each_pair(to, from, length, [this](const Elements& target, const Elements& source, std::int64_t count) {
      redistribute::move(target, source, count, bytes_);
    });
  }

  const Run& run_at(std::int64_t place) const {
    const auto after = std::upper_bound(runs_.begin(), runs_.end(), place,
                                        [](std::int64_t value, const Run& run) { return value < run.place; });
    return *(after - 1);
  }

  template <class Visit>
  void for_each_run(std::int64_t place, std::int64_t length, Visit&& visit) const {
    for (std::int64_t done = 0; done < length;) {
      const Run& run = run_at(place + done);
      const std::int64_t inside = place + done - run.place;
      const std::int64_t part = std::min(length - done, run.length - inside);
      visit(run.elements.behind(inside, bytes_), done, part);
      done += part;
    }
  }

  template <class Visit>
  void for_each_pair(std::int64_t a, std::int64_t b, std::int64_t length, Visit&& visit) const {
    while (length > 0) {
      const Run& run_a = run_at(a);
      const Run& run_b = run_at(b);
      const std::int64_t inside_a = a - run_a.place;
      const std::int64_t inside_b = b - run_b.place;
      const std::int64_t part = std::min({length, run_a.length - inside_a, run_b.length - inside_b});
      visit(run_a.elements.behind(inside_a, bytes_), run_b.elements.behind(inside_b, bytes_), part);
      a += part;
      b += part;
      length -= part;
    }
  }

  std::span<const Run> runs_;
  std::int64_t bytes_;
  std::span<Fragment> fragments_;
  std::size_t next_ = 0;      // all before it are settled
  std::int64_t settled_ = 0;  // places
  std::array<std::byte, 4096> aside_;
};

}  // namespace

std::int64_t settle(std::span<const Run> runs, std::int64_t element_bytes, std::span<Fragment> fragments) {
  return Settling(runs, element_bytes, fragments).go();
}

}  // namespace quadrille::redistribute
