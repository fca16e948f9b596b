#include "knowledge/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace quadrille::knowledge {

extern const Library openmpi_4_1;
extern const Library openmpi_4_1_han;
extern const Library openmpi_5_0;
extern const Library mpich_4_0;
extern const Library mpich_4_2;
extern const Library mpich_1_2_7;
extern const Library mvapich_0_9_2;

namespace {

constexpr std::array all = {&openmpi_4_1, &openmpi_4_1_han, &openmpi_5_0,  &mpich_4_0,
                            &mpich_4_2,   &mpich_1_2_7,     &mvapich_0_9_2};

}  // namespace

Case as_case(const Step& step) {
  Case asked = step.asked;
  if (traits(asked.collective).reduces) return asked;
  asked.count *= asked.unit_bytes;
  asked.largest *= asked.unit_bytes;
  asked.unit_bytes = asked.unit_extent = 1;
  return asked;
}

std::optional<double> price(const Choice& choice, Prices& prices) {
  const bool one_of_unknown_size = choice.steps.size() == 1 && !sizes_are_known(choice.steps.front().asked.collective);
  const bool in_parts =
      std::any_of(choice.steps.begin(), choice.steps.end(), [](const Step& step) { return step.by != By::all; });
  if (choice.steps.empty() || one_of_unknown_size || in_parts) return std::nullopt;
  double seconds = 0;
  for (const Step& step : choice.steps) {
    seconds += static_cast<double>(step.times) * prices.price_in_mpi(step.variant, as_case(step));
  }
  return seconds;
}

NativePrice native_price(const Library* library) {
  if (!library) return {};
  return [library](const Case& asked, Prices& prices) { return price(library->choose(asked), prices); };
}

bool changes_choices(std::string_view variable) {
  const bool mpich = variable.starts_with("MPIR_CVAR_") &&
                     (variable.ends_with("_INTRA_ALGORITHM") || variable.ends_with("_DEVICE_COLLECTIVE") ||
                      variable.ends_with("_DEVICE_COLLECTIVES") || variable.ends_with("_SELECTION_TUNING_JSON_FILE"));
  return mpich || variable.starts_with("OMPI_MCA_coll");
}

std::string_view changing_choices(const char* const* environment) {
  for (; *environment; ++environment) {
    const std::string_view text = *environment;
    const std::string_view name = text.substr(0, text.find('='));
    if (changes_choices(name)) return name;
  }
  return {};
}

std::span<const Library* const> libraries() {
  return all;
}

const Library* library_of(std::string_view mpi) {
  for (const Library* one : all) {
    if (!one->mpi.empty() && mpi.starts_with(one->mpi)) return one;
  }
  return nullptr;
}

std::string policy_names() {
  std::string names(own_policy);
  std::string historical;
  for (const Library* one : all) (one->is_historical ? historical : names).append(", ").append(one->policy);
  return historical.empty() ? names : fmt::format("{}; of history{}", names, historical.substr(1));
}

const Library* library_with_policy(std::string_view policy) {
  if (policy == own_policy) return nullptr;
  for (const Library* one : all) {
    if (policy == one->policy) return one;
  }
  throw std::invalid_argument(fmt::format("--policy: '{}' is not known; known are {}", policy, policy_names()));
}

}  // namespace quadrille::knowledge
