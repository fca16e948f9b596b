#include "settings/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "algorithms/naming.hpp"
#include "cost/machine_file.hpp"
#include "select/table.hpp"
#include "settings/racks.hpp"
#include "text/size.hpp"
#include "variables/variables.hpp"

namespace quadrille {

namespace {

static_assert(std::is_trivially_copyable_v<Settings>);

[[noreturn]] void refuse(std::string_view name, std::string_view text, std::string_view wanted) {
  throw std::invalid_argument(fmt::format("{}={}: expected {}", name, text, wanted));
}

// A site's defaults for all its users: lines NAME=VALUE in a file, # begins a comment. No file: none.
std::map<std::string, std::string, std::less<>> site_defaults() {
  const char* const set = std::getenv("QUADRILLE_CONFIG");
  const std::string path = set ? set : "/etc/quadrille.conf";
  std::map<std::string, std::string, std::less<>> defaults;
  std::ifstream file(path);
  if (set && *set && !file) throw std::invalid_argument(fmt::format("QUADRILLE_CONFIG={}: can't read it", path));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    const std::string name = line.substr(0, equals);
    if (equals == std::string::npos || !variables::named(name)) {
      throw std::invalid_argument(fmt::format(
          "{}:{}: expected NAME=VALUE, with a name that docs/reference/environment.md lists", path, number));
    }
    defaults.emplace(name, line.substr(equals + 1));
  }
  return defaults;
}

// Numbers of bytes may have a unit: 64k, 1MB.
template <class Number>
void read(const Lookup& lookup, const char* name, Number& value, Number least) {
  const std::string_view text = lookup(name);
  if (text.empty()) return;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  bool good = error == std::errc{} && end == last;
  if constexpr (std::is_same_v<Number, std::int64_t>) {
    if (const auto bytes = text::parse_bytes(text)) {
      value = *bytes;
      good = true;
    }
  }
  good = good && value >= least;
  if (!good) refuse(name, text, fmt::format("a number of at least {}", least));
}

void read_flag(const Lookup& lookup, const char* name, bool& value) {
  const std::string_view text = lookup(name);
  if (text.empty()) return;
  if (text != "0" && text != "1") refuse(name, text, "0 or 1");
  value = text == "1";
}

void read_percent(const Lookup& lookup, const char* name, double& share) {
  const std::string_view text = lookup(name);
  double percent = share * 100;
  read(lookup, name, percent, 0.0);
  if (!(percent <= 100)) refuse(name, text, "percent, from 0 to 100");
  share = percent / 100;
}

// "off", or "on" where a site has turned it off.
void read_switch(const Lookup& lookup, const char* name, bool& off) {
  const std::string_view text = lookup(name);
  if (text.empty()) return;
  if (text != "on" && text != "off") refuse(name, text, "on or off");
  off = text == "off";
}

void read_signal(const Lookup& lookup, const char* name, std::int32_t& value) {
  const std::string_view text = lookup(name);
  if (text.empty()) return;
  if (text == "USR1") {
    value = SIGUSR1;
  } else if (text == "USR2") {
    value = SIGUSR2;
  } else {
    refuse(name, text, "USR1 or USR2");
  }
}

// Calls visit(word) for each word of a list with commas.
template <class Visit>
void for_each_word(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    visit(word);
  }
}

void read_algorithms(const Lookup& lookup, const char* name, Preferences& preferences) {
  const std::string_view text = lookup(name);
  for_each_word(text, [&](std::string_view choice) {
    const std::size_t equals = choice.find('=');
    const auto collective = collective_named(choice.substr(0, equals));
    const Variant set = collective && equals != std::string_view::npos
                            ? variant_named(*collective, choice.substr(equals + 1))
                            : Variant{};
    if (!set) {
      constexpr std::string_view wanted = "collective=algorithm,... with names that 'quadrille list' shows";
      const bool misnamed = collective && equals != std::string_view::npos;
      const std::string why = misnamed ? ": " + no_such_algorithm(*collective, choice.substr(equals + 1)) : "";
      refuse(name, text, fmt::format("{}{}", wanted, why));
    }
    const std::string why = refusal(set.algorithm(), {.width = set.width});
    if (set.width != 0 && !why.empty()) refuse(name, text, fmt::format("another number: {}", why));
    preferences.variants[static_cast<std::size_t>(*collective)] = set;
  });
}

// Of words that are no collective, those that `also` knows are fine.
void read_collectives(const Lookup& lookup, const char* name, std::array<bool, collectives>& chosen, const auto& also) {
  const std::string_view text = lookup(name);
  for_each_word(text, [&](std::string_view word) {
    const auto collective = collective_named(word);
    if (also(word)) return;
    if (word == "all") {
      chosen.fill(true);
    } else if (collective) {
      chosen[static_cast<std::size_t>(*collective)] = true;
    } else {
      refuse(name, text, "'all', or collectives that 'quadrille list' shows with commas between them");
    }
  });
}

}  // namespace

std::string_view setting(const char* name) {
  static const auto& site = *new std::map(site_defaults());  // for MPI_Finalize in a destructor after main
  const char* const text = std::getenv(name);
  if (text && *text) return text;
  const auto place = site.find(name);
  return place == site.end() ? std::string_view{} : std::string_view(place->second);
}

bool Settings::offloads() const {
  const auto offloaded = [](const Variant& one) { return one && one.algorithm().restrictions.offloads; };
  const auto& named = preferences.variants;
  if (model.offload.latency > 0 || std::any_of(named.begin(), named.end(), offloaded)) return true;
  const auto has = [&](const std::vector<PlacedRule>* rules) {
    return rules && std::any_of(rules->begin(), rules->end(),
                                [&](const PlacedRule& one) { return offloaded(one.rule.variant); });
  };
  return has(table) || has(remembered);
}

Settings read_settings(const Lookup& lookup) {
  Settings settings;
  Preferences& preferences = settings.preferences;
  read(lookup, "QUADRILLE_MEMORY", preferences.memory, std::int64_t{0});
  read(lookup, "QUADRILLE_PART", preferences.part, std::int64_t{1});
  read(lookup, "QUADRILLE_IN_FLIGHT", settings.in_flight, 1);
  read(lookup, "QUADRILLE_SEGMENT", preferences.segment, std::int64_t{1});
  read(lookup, "QUADRILLE_SHARED", settings.shared, std::int64_t{0});
  settings.shared = std::min(settings.shared, std::int64_t{64} << 20);
  read_flag(lookup, "QUADRILLE_WINDOWS", settings.windows);
  read(lookup, "QUADRILLE_STAGING", settings.staging, std::int64_t{0});
  settings.staging = std::min(settings.staging, std::int64_t{1} << 30);
  read_flag(lookup, "QUADRILLE_CHECK", settings.check);
  read(lookup, "QUADRILLE_PATIENCE", settings.patience, 0.0);
  read(lookup, "QUADRILLE_WATCHDOG", settings.watchdog, 0.0);
  read_flag(lookup, "QUADRILLE_PROGRESS", settings.progress);
  read(lookup, "QUADRILLE_SHUFFLE", settings.shuffle, std::uint64_t{0});
  read_signal(lookup, "QUADRILLE_SIGNAL", settings.signal);
  read_algorithms(lookup, "QUADRILLE_ALGORITHM", preferences);
  read_switch(lookup, "QUADRILLE", settings.off);
  read_percent(lookup, "QUADRILLE_LEARN", settings.learn);
  read_flag(lookup, "QUADRILLE_REORDER", settings.reorder);
  settings.report = !lookup("QUADRILLE_REPORT").empty();
  settings.trace = !lookup("QUADRILLE_TRACE").empty();
  read_flag(lookup, "QUADRILLE_TRACE_WAITS", settings.trace_waits);
  const auto nothing_else = [](std::string_view) { return false; };
  read_collectives(lookup, "QUADRILLE_FORCE", settings.forced, nothing_else);
  settings.only.fill(lookup("QUADRILLE_ONLY").empty());
  read_collectives(lookup, "QUADRILLE_ONLY", settings.only, nothing_else);
  read_collectives(lookup, "QUADRILLE_EXCEPT", settings.except, [&](std::string_view word) {
    settings.except_point_to_point |= word == "p2p";
    return word == "p2p";
  });
  return settings;
}

Settings check_settings(const Lookup& lookup) {
  const Settings settings = read_settings(lookup);
  if (const std::string_view table = lookup("QUADRILLE_TABLE"); !table.empty()) read_table(std::string(table));
  const std::string_view machine = lookup("QUADRILLE_MACHINE");
  if (!machine.empty() && machine != no_machine) cost::read_machine(std::string(machine), {});
  if (const std::string_view racks = lookup("QUADRILLE_RACKS"); !racks.empty()) read_racks(std::string(racks));
  return settings;
}

}  // namespace quadrille
