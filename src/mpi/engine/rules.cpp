#include "engine/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <quadrille/error.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace quadrille::engine {

namespace {

static_assert(std::is_trivially_copyable_v<PlacedRule>);

std::mutex& mutex() {
  static std::mutex one;
  return one;
}

// Under the lock.
const Rules* kept(Rules rules) {
  static auto& all = *new std::list<Rules>;
  const auto known = std::find(all.begin(), all.end(), rules);
  return known == all.end() ? &all.emplace_back(std::move(rules)) : &*known;
}

// Under which MPIs it was measured.
std::string mpis_of(const Table& table) {
  std::vector<std::string_view> seen;
  std::string text;
  for (const Section& section : table.sections) {
    if (std::find(seen.begin(), seen.end(), section.mpi) != seen.end()) continue;
    seen.emplace_back(section.mpi);
    text += fmt::format("{}{}", text.empty() ? "" : ", ", section.mpi);
  }
  return text;
}

}  // namespace

const Rules* rules_in(std::string_view path) {
  if (path.empty()) return nullptr;
  static auto& read = *new std::map<std::string, const Rules*, std::less<>>;
  const std::lock_guard lock(mutex());
  if (const auto known = read.find(path); known != read.end()) return known->second;
  const std::string file(path);
  Table table;
  try {
    table = read_table(file);
  } catch (const std::invalid_argument& error) {
    throw Error(MPI_ERR_ARG, error.what());
  }
  const std::string own = mpi_name();
  const auto fits = [&](const Section& section) { return section.mpi == own; };
  if (!table.sections.empty() && std::none_of(table.sections.begin(), table.sections.end(), fits)) {
    fmt::print(stderr, "quadrille: {} was measured under {}, and this is {}: nothing of it is used\n", file,
               mpis_of(table), own);
  }
  return read[file] = kept(rules_under(table, own));
}

const Rules* agreed_rules(const Rules* mine, MPI_Comm comm) {
  Rules rules = mine ? *mine : Rules();
  int count = static_cast<int>(rules.size());
  check(PMPI_Bcast(&count, 1, MPI_INT, 0, comm), "MPI_Bcast");
  rules.resize(static_cast<std::size_t>(count));
  const auto bytes = static_cast<int>(rules.size() * sizeof(PlacedRule));
  check(PMPI_Bcast(rules.data(), bytes, MPI_BYTE, 0, comm), "MPI_Bcast");
  const std::lock_guard lock(mutex());
  return kept(std::move(rules));
}

}  // namespace quadrille::engine
