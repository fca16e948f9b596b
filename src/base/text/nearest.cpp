#include "text/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace quadrille::text {

namespace {

std::string normalized(std::string_view word) {
  std::string all(word);
  for (char& letter : all)
    letter = letter == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return all;
}

// Letters to insert, remove or replace, or pairs of neighbours to swap.
std::size_t edits_between(const std::string& from, const std::string& to) {
  std::vector<std::vector<std::size_t>> edits(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      const std::size_t differs = from[i - 1] == to[j - 1] ? 0 : 1;
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + differs});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  }
  return edits[from.size()][to.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  const std::string typed = normalized(word);
  std::string best;
  std::size_t fewest = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string& name : names) {
    const std::string known = normalized(name);
    const bool begun = typed.size() >= 3 && known.starts_with(typed);
    const std::size_t edits =
        begun ? std::min<std::size_t>(1, known.size() - typed.size()) : edits_between(typed, known);
    if (edits >= fewest) continue;
    fewest = edits;
    best = name;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names, std::string_view otherwise) {
  const std::string meant = nearest(word, names);
  return meant.empty() ? std::string(otherwise) : fmt::format(": did you mean {}?", meant);
}

}  // namespace quadrille::text
