#include "knowledge/library.hpp"

#include <algorithm>
#include <array>

namespace quadrille::knowledge {

extern const Library openmpi_4_1;

namespace {

constexpr std::array all = {&openmpi_4_1};

}  // namespace

std::span<const Library* const> libraries() {
  return all;
}

const Library* library_of(std::string_view mpi) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Library* one) { return mpi.starts_with(one->mpi); });
  return found == all.end() ? nullptr : *found;
}

}  // namespace quadrille::knowledge
