#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadrille {

// Numbers keys 0, 1, ... in insertion order. Data of a key is kept in vectors indexed by its number.
template <std::size_t parts>
class Index {
 public:
  using Key = std::array<std::int64_t, parts>;

  std::size_t size() const { return keys_.size(); }

  // The key's number; -1 if it has none.
  std::int32_t find(const Key& key) const { return keys_.size() <= few ? scan(key) : slots_[slot_of(key)]; }

  // The key's number; a new key gets the next one.
  std::int32_t add(const Key& key) {
    const std::int32_t found = find(key);
    if (found >= 0) return found;
    const auto number = static_cast<std::int32_t>(keys_.size());
    keys_.push_back(key);
    if (keys_.size() > few) {
      if (2 * keys_.size() > slots_.size()) {
        grow();
      } else {
        slots_[slot_of(key)] = number;
      }
    }
    return number;
  }

  // Forgets all keys.
  void clear() {
    keys_.clear();
    slots_.clear();
  }

 private:
  static constexpr std::size_t few = 8;

  std::int32_t scan(const Key& key) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (same(keys_[i], key)) return static_cast<std::int32_t>(i);
    }
    return -1;
  }

  static std::size_t hash(const Key& key) {
    std::uint64_t mixed = 0;
    for (std::int64_t part : key) {
      mixed = (mixed ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15ULL;
      mixed ^= mixed >> 32U;
    }
    return static_cast<std::size_t>(mixed);
  }

  static bool same(const Key& a, const Key& b) {
    bool all = true;
    for (std::size_t i = 0; i < parts; ++i) all &= a[i] == b[i];
    return all;
  }

  // The slot of the key, or the free slot for it.
  std::size_t slot_of(const Key& key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash(key) & mask;
    while (slots_[at] >= 0 && !same(keys_[static_cast<std::size_t>(slots_[at])], key)) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    slots_.assign(slots_.empty() ? 4 * few : 2 * slots_.size(), -1);
    for (std::size_t i = 0; i < keys_.size(); ++i) slots_[slot_of(keys_[i])] = static_cast<std::int32_t>(i);
  }

  std::vector<Key> keys_;
  std::vector<std::int32_t> slots_;  // a power of two, at most half in use; -1: free; empty for few keys
};

}  // namespace quadrille
