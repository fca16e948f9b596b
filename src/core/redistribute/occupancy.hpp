#pragma once

#include <cstdint>
#include <vector>

#include "redistribute/settle.hpp"
#include "schedule/data.hpp"

namespace quadrille::redistribute {

inline std::int64_t length_of(const Range& range) {
  return range.end - range.begin;
}

// Free places as sorted, non-adjacent ranges. Both lists here allocate only in reserve.
class Holes {
 public:
  void reserve(std::size_t ranges) { ranges_.reserve(ranges); }
  void clear() { ranges_.clear(); }
  std::size_t size() const { return ranges_.size(); }
  bool empty() const { return ranges_.empty(); }
  const Range& operator[](std::size_t index) const { return ranges_[index]; }
  auto begin() const { return ranges_.begin(); }
  auto end() const { return ranges_.end(); }

  // The first hole that contains a place or lies behind it; null if there is none.
  const Range* from(std::int64_t place) const;
  // The hole that contains a place; null if it isn't free.
  const Range* around(std::int64_t place) const;
  // The range must not be free.
  void add(const Range& range);
  // The range must be free.
  void take(const Range& range);

 private:
  std::vector<Range> ranges_;
};

// Received data, sorted by home. Adjacent fragments are merged.
class Fragments {
 public:
  void reserve(std::size_t fragments) { list_.reserve(fragments); }
  void clear() { list_.clear(); }
  std::size_t size() const { return list_.size(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

  void add(const Fragment& fragment);
  // The first fragment with a home in a range; null if there is none.
  const Fragment* belonging(const Range& homes) const;
  // Removes a range of homes, which must be part of one fragment.
  void take(const Range& homes);

 private:
  std::vector<Fragment> list_;
};

}  // namespace quadrille::redistribute
