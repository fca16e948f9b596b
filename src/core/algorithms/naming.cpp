#include "algorithms/naming.hpp"

#include <set>
#include <stdexcept>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "text/nearest.hpp"

namespace quadrille {

namespace {

std::string joined_names(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
  return all;
}

}  // namespace

Collective require_collective(std::string_view text) {
  if (const auto found = collective_named(text)) return *found;
  std::set<std::string> known;
  for (const Algorithm* one : catalogue()) known.insert(std::string(name(one->collective)));
  const std::vector<std::string> names(known.begin(), known.end());
  const std::string_view bare = text.starts_with("MPI_") ? text.substr(4) : text;
  throw std::invalid_argument("no collective '" + std::string(text) + "'" +
                              text::did_you_mean(bare, names, "; there are " + joined_names(names)));
}

std::string no_such_algorithm(Collective collective, std::string_view text) {
  std::set<std::string> known;
  for (const Algorithm* one : catalogue()) {
    if (one->collective == collective) known.insert(std::string(one->name));
  }
  const std::vector<std::string> names(known.begin(), known.end());
  return "no algorithm '" + std::string(text) + "' of " + std::string(name(collective)) +
         text::did_you_mean(text, names, "; there are " + joined_names(names));
}

}  // namespace quadrille
