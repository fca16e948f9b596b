#include "redistribute/occupancy.hpp"

#include <algorithm>

namespace quadrille::redistribute {

const Range* Holes::from(std::int64_t place) const {
  const auto found =
      std::partition_point(ranges_.begin(), ranges_.end(), [place](const Range& range) { return range.end <= place; });
  return found != ranges_.end() ? &*found : nullptr;
}

const Range* Holes::around(std::int64_t place) const {
  const Range* const found = from(place);
  return found && found->begin <= place ? found : nullptr;
}

void Holes::add(const Range& range) {
  if (range.empty()) return;
  const auto next = std::partition_point(ranges_.begin(), ranges_.end(),
                                         [&range](const Range& other) { return other.begin < range.begin; });
  const bool joins_next = next != ranges_.end() && next->begin == range.end;
  const bool joins_last = next != ranges_.begin() && (next - 1)->end == range.begin;
  if (joins_last && joins_next) {
    (next - 1)->end = next->end;
    ranges_.erase(next);
  } else if (joins_last) {
    (next - 1)->end = range.end;
  } else if (joins_next) {
    next->begin = range.begin;
  } else {
    ranges_.insert(next, range);
  }
}

void Holes::take(const Range& range) {
  if (range.empty()) return;
  const auto hole = std::partition_point(ranges_.begin(), ranges_.end(),
                                         [&range](const Range& other) { return other.end <= range.begin; });
  const Range rest{range.end, hole->end};
  if (hole->begin < range.begin) {
    hole->end = range.begin;
    if (!rest.empty()) ranges_.insert(hole + 1, rest);
  } else if (rest.empty()) {
    ranges_.erase(hole);
  } else {
    *hole = rest;
  }
}

void Fragments::add(const Fragment& fragment) {
  if (fragment.length == 0) return;
  const auto follows = [](const Fragment& a, const Fragment& b) {
    return a.home + a.length == b.home && a.place + a.length == b.place;
  };
  const auto next = std::partition_point(list_.begin(), list_.end(),
                                         [&fragment](const Fragment& other) { return other.home < fragment.home; });
  const bool joins_next = next != list_.end() && follows(fragment, *next);
  if (next != list_.begin() && follows(*(next - 1), fragment)) {
    Fragment& last = *(next - 1);
    last.length += fragment.length;
    if (!joins_next) return;
    last.length += next->length;
    list_.erase(next);
  } else if (joins_next) {
    *next = {fragment.place, fragment.length + next->length, fragment.home};
  } else {
    list_.insert(next, fragment);
  }
}

const Fragment* Fragments::belonging(const Range& homes) const {
  const auto found = std::partition_point(list_.begin(), list_.end(), [&homes](const Fragment& fragment) {
    return fragment.home + fragment.length <= homes.begin;
  });
  return found != list_.end() && found->home < homes.end ? &*found : nullptr;
}

void Fragments::take(const Range& homes) {
  const auto found = std::partition_point(list_.begin(), list_.end(), [&homes](const Fragment& fragment) {
    return fragment.home + fragment.length <= homes.begin;
  });
  const Fragment whole_one = *found;
  const std::int64_t before = homes.begin - whole_one.home;
  const std::int64_t until = homes.end - whole_one.home;
  const Fragment rest{whole_one.place + until, whole_one.length - until, homes.end};
  if (before > 0) {
    found->length = before;
    if (rest.length > 0) list_.insert(found + 1, rest);
  } else if (rest.length > 0) {
    *found = rest;
  } else {
    list_.erase(found);
  }
}

}  // namespace quadrille::redistribute
