#pragma once

#include <cstdint>
#include <vector>

namespace quadrille {

// Bytes that a vector has allocated.
template <class T>
std::int64_t allocated(const std::vector<T>& list) {
  return static_cast<std::int64_t>(list.capacity() * sizeof(T));
}

}  // namespace quadrille
