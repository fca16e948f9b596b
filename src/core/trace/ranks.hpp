#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.hpp"

namespace quadrille::trace {

// A list of ranks in their order, as runs of equal strides: the rows and columns of a grid take one run each.
class Ranks {
 public:
  Ranks() = default;
  explicit Ranks(std::span<const Rank> list);

  Rank size() const;
  bool empty() const { return runs_.empty(); }
  std::vector<Rank> list() const;

  // "0-7", "0-12:4", "3,1,8-11"; "none" if there are none.
  std::string text() const;
  // Throws std::invalid_argument.
  static Ranks parse(std::string_view text);

  friend auto operator<=>(const Ranks&, const Ranks&) = default;

 private:
  struct Run {
    Rank first = 0;
    Rank count = 1;
    Rank stride = 1;

    friend auto operator<=>(const Run&, const Run&) = default;
  };
  void add(Rank rank);

  std::vector<Run> runs_;
};

}  // namespace quadrille::trace
