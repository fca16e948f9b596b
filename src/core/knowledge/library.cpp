#include "knowledge/library.hpp"

#include <array>

namespace quadrille::knowledge {

extern const Library openmpi_4_1;

namespace {

constexpr std::array all = {&openmpi_4_1};

}  // namespace

std::optional<double> price(const Choice& choice, Prices& prices) {
  const bool one_of_unknown_size = choice.steps.size() == 1 && !sizes_are_known(choice.steps.front().asked.collective);
  if (choice.steps.empty() || one_of_unknown_size) return std::nullopt;
  double seconds = 0;
  for (const Step& step : choice.steps) {
    Case asked = step.asked;
    if (!traits(asked.collective).reduces) {
      asked.count = asked.count_bytes();
      asked.unit_bytes = 1;
    }
    seconds += prices.price_in_mpi(step.variant, asked);
  }
  return seconds;
}

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
