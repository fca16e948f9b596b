#include "verify/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace quadrille::verify {

namespace {

constexpr std::size_t most_operands = 32;    // more would not be readable
constexpr std::size_t most_counted = 65536;  // in which missing and repeated ones are looked for

std::string units_text(const Range& range) {
  return fmt::format("units {} to {}", range.begin, range.end - 1);
}

std::string expression_text(const Expressions& expressions, std::int32_t expression) {
  constexpr std::size_t most_nested = 4096;
  if (expressions.operands(expression, most_nested).size() < most_nested) {
    return expressions.text(expression, most_operands);
  }
  return fmt::format("an expression of {} operands or more", most_nested);
}

std::string ranks_text(const std::vector<Rank>& ranks) {
  constexpr std::size_t most = 8;
  const std::vector<Rank> first(ranks.begin(),
                                ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), most)));
  return fmt::format("{}{}", fmt::join(first, ", "), ranks.size() > most ? ", ..." : "");
}

struct Counted {
  std::vector<Rank> missing;
  std::vector<Rank> repeated;
  std::vector<Rank> strange;
};

Counted counted(const std::vector<Rank>& operands, Rank ranks) {
  std::map<Rank, int> times;
  for (const Rank rank : operands) ++times[rank];
  Counted all;
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (!times.contains(rank)) all.missing.push_back(rank);
  }
  for (const auto& [rank, number] : times) {
    if (number > 1) all.repeated.push_back(rank);
    if (rank >= ranks) all.strange.push_back(rank);
  }
  return all;
}

std::string what_is_wrong(const Expressions& expressions, const Subject& subject, const Meaning& meaning,
                          const Held& piece) {
  const std::int32_t expression = piece.value.expression;
  const Counted operands = counted(expressions.operands(expression, most_counted), meaning.end);
  if (!operands.repeated.empty()) {
    return fmt::format("the data of rank {} is combined more than once", ranks_text(operands.repeated));
  }
  if (!operands.strange.empty()) {
    return fmt::format("the data of rank {} does not belong to it", ranks_text(operands.strange));
  }
  if (!operands.missing.empty()) return fmt::format("the data of rank {} is missing", ranks_text(operands.missing));
  if (piece.value.offset != meaning.from.offset + piece.range.begin) {
    return fmt::format("it is the result for the units from {} on", piece.value.offset);
  }
  if (!subject.commutative && !expressions.in_order(expression)) {
    return "the operands are not in rank order, and the operation does not commute: restrict the algorithm to "
           "commutative operations, or combine neighbouring ranks with the lower one on the left";
  }
  if (subject.fixed_order && expressions.combines_all(expression, meaning.end, meaning.from.block)) {
    return "in a fixed order the operands are combined one by one, from rank 0 up";
  }
  return fmt::format("its operands are of different units, or of another block than {}", meaning.from.block);
}

}  // namespace

std::string why_incomplete(const Expressions& expressions, const Subject& subject, const Meaning& meaning,
                           const Held& piece) {
  const std::string in_order = subject.fixed_order   ? ", folded from the left"
                               : subject.commutative ? ""
                                                     : ", in rank order";
  return fmt::format("{}:\n    has {}\n    expected r0 to r{}, each once{}\n    {}", units_text(piece.range),
                     expression_text(expressions, piece.value.expression), meaning.end - 1, in_order,
                     what_is_wrong(expressions, subject, meaning, piece));
}

std::string why_different(const Expressions& expressions, const std::vector<Held>& held, Rank other,
                          const std::vector<Held>& held_by_other) {
  for (const Held& mine : held) {
    for (const Held& theirs : held_by_other) {
      const Range both{std::max(mine.range.begin, theirs.range.begin), std::min(mine.range.end, theirs.range.end)};
      if (both.empty() || mine.value.expression == theirs.value.expression) continue;
      return fmt::format(
          "{}:\n    has {}\n    rank {} has {}\n    all ranks must combine the operands in the same order and with the "
          "same brackets, since others may have other last bits",
          units_text(both), expression_text(expressions, mine.value.expression), other,
          expression_text(expressions, theirs.value.expression));
    }
  }
  return fmt::format("which is in other parts than on rank {}", other);
}

std::string why_moved_wrongly(const Expressions& expressions, const Meaning& meaning, const Held& piece) {
  const std::int32_t expression = piece.value.expression;
  const std::string has = expressions.is_leaf(expression)
                              ? fmt::format("block {} of rank {}", expressions.block(expression),
                                            expressions.operands(expression, 1).front())
                              : expression_text(expressions, expression);
  return fmt::format("{}:\n    has {} from unit {} on\n    expected block {} of rank {} from unit {} on",
                     units_text(piece.range), has, piece.value.offset, meaning.from.block, meaning.source,
                     meaning.from.offset + piece.range.begin);
}

}  // namespace quadrille::verify
