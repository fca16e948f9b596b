#include "engine/settings.hpp"

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <quadrille/error.hpp>
#include <span>
#include <string_view>
#include <type_traits>

namespace quadrille::engine {

namespace {

static_assert(std::is_trivially_copyable_v<Settings>);

[[noreturn]] void refuse(std::string_view name, std::string_view text, std::string_view wanted) {
  throw Error(MPI_ERR_ARG, fmt::format("{}={}: expected {}", name, text, wanted));
}

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : std::string_view{};
}

// Numbers of bytes may end in k, M or G.
template <class Number>
void read(const char* name, Number& value, Number least) {
  const std::string_view text = variable(name);
  if (text.empty()) return;
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, value);
  bool good = error == std::errc{};
  if constexpr (std::is_same_v<Number, std::int64_t>) {
    constexpr std::string_view suffixes = "kMG";
    const std::size_t suffix = good && end + 1 == last ? suffixes.find(*end) : std::string_view::npos;
    if (suffix != std::string_view::npos) {
      value <<= 10 * (suffix + 1);
      ++end;
    }
  }
  good = good && end == last && value >= least;
  if (!good) refuse(name, text, fmt::format("a number of at least {}", least));
}

void read_flag(const char* name, bool& value) {
  const std::string_view text = variable(name);
  if (text.empty()) return;
  if (text != "0" && text != "1") refuse(name, text, "0 or 1");
  value = text == "1";
}

void read_signal(const char* name, std::int32_t& value) {
  const std::string_view text = variable(name);
  if (text.empty()) return;
  if (text == "USR1") {
    value = SIGUSR1;
  } else if (text == "USR2") {
    value = SIGUSR2;
  } else {
    refuse(name, text, "USR1 or USR2");
  }
}

void read_algorithms(const char* name, std::array<std::int32_t, collectives>& places) {
  const std::string_view text = variable(name);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view choice = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), choice.size() + 1));
    const std::size_t equals = choice.find('=');
    const auto collective = collective_named(choice.substr(0, equals));
    const auto* algorithm = collective && equals != std::string_view::npos
                                ? find_algorithm(*collective, choice.substr(equals + 1))
                                : nullptr;
    if (!algorithm) refuse(name, text, "collective=algorithm,... with names that 'quadrille list' shows");
    const auto all = catalogue();
    const auto place = std::find(all.begin(), all.end(), algorithm) - all.begin();
    places[static_cast<std::size_t>(*collective)] = static_cast<std::int32_t>(place);
  }
}

}  // namespace

const Algorithm* Settings::told(Collective collective) const {
  const std::int32_t place = algorithm[static_cast<std::size_t>(collective)];
  return place < 0 ? nullptr : catalogue()[static_cast<std::size_t>(place)];
}

Settings Settings::from_environment() {
  Settings settings;
  read("QUADRILLE_MEMORY", settings.memory, std::int64_t{0});
  read("QUADRILLE_PART", settings.part, std::int64_t{1});
  read("QUADRILLE_IN_FLIGHT", settings.in_flight, 1);
  read("QUADRILLE_SEGMENT", settings.segment, std::int64_t{1});
  read_flag("QUADRILLE_CHECK", settings.check);
  read("QUADRILLE_PATIENCE", settings.patience, 0.0);
  read("QUADRILLE_WATCHDOG", settings.watchdog, 0.0);
  read("QUADRILLE_SHUFFLE", settings.shuffle, std::uint64_t{0});
  read_signal("QUADRILLE_SIGNAL", settings.signal);
  read_algorithms("QUADRILLE_ALGORITHM", settings.algorithm);
  settings.part = std::min(settings.part, max_int_count);
  return settings;
}

Settings agree(const Settings& mine, MPI_Comm comm) {
  Settings agreed = mine;
  check(PMPI_Bcast(&agreed, sizeof agreed, MPI_BYTE, 0, comm), "MPI_Bcast");
  return agreed;
}

}  // namespace quadrille::engine
