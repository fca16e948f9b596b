#pragma once

#include <cstdint>
#include <vector>

#include "redistribute/settle.hpp"
#include "schedule/data.hpp"

namespace quadrille::redistribute {

// Free places: ranges in order that don't touch. Both lists here allocate only when they are reserved.
class Holes {
 public:
  void reserve(std::size_t ranges) { ranges_.reserve(ranges); }
  void clear() { ranges_.clear(); }
  std::size_t size() const { return ranges_.size(); }
  bool empty() const { return ranges_.empty(); }
  const Range& operator[](std::size_t index) const { return ranges_[index]; }
  auto begin() const { return ranges_.begin(); }
  auto end() const { return ranges_.end(); }

  // The hole around a place; null if it isn't free.
  const Range* around(std::int64_t place) const;
  // None of it is free.
  void add(const Range& range);
  // All of it is free.
  void take(const Range& range);

 private:
  std::vector<Range> ranges_;
};

// What has arrived, in the order of the homes. Neighbours that lie together are one.
class Fragments {
 public:
  void reserve(std::size_t fragments) { list_.reserve(fragments); }
  void clear() { list_.clear(); }
  std::size_t size() const { return list_.size(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

  void add(const Fragment& fragment);
  // The first with anything that belongs into a range; null if there is none.
  const Fragment* belonging(const Range& homes) const;
  // Forgets what belongs into a range, all of which is of one fragment.
  void take(const Range& homes);

 private:
  std::vector<Fragment> list_;
};

}  // namespace quadrille::redistribute
