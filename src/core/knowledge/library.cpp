#include "knowledge/library.hpp"

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
  for (const Library* one : all) {
    if (mpi.starts_with(one->mpi)) return one;
  }
  return nullptr;
}

}  // namespace quadrille::knowledge
