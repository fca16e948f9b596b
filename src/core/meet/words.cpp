#include "meet/words.hpp"

namespace quadrille::meet {

std::vector<Typed> as_bytes(void* memory, std::int64_t bytes) {
  static const Layout& byte = *new Layout(Layout::basic(1));  // for calls in destructors after main
  return {{static_cast<std::byte*>(memory), bytes, &byte}};
}

}  // namespace quadrille::meet
