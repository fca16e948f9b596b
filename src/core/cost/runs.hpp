#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "schedule/data.hpp"

namespace quadrille::cost {

// Messages of a round between ranks that are numbered from 0: those from all numbers n of [begin, end) with
// first <= n mod period < last, each to n + offset.
struct Family {
  std::int64_t offset = 0;
  std::int64_t period = 1;
  std::int64_t first = 0;
  std::int64_t last = 1;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  // Those sent from [from, to).
  std::int64_t messages(std::int64_t from, std::int64_t to) const;
};

// Domains as ranges of consecutive ranks: messages that leave them are counted by ranges, not one by one, so that none
// at a border is missed however many ranks there are.
class Runs {
 public:
  // None where domains are scattered over more than `most` ranges.
  Runs(Rank ranks, std::size_t most, const std::function<std::int32_t(Rank)>& domain_of);
  explicit operator bool() const { return !domains_.empty(); }

  struct Crossing {
    std::int64_t all = 0;   // messages that leave a domain
    std::int64_t most = 0;  // that leave or enter one of them
  };
  // With numbers counted from a root, around the end.
  Crossing crossing(const std::vector<Family>& round, Rank root) const;

 private:
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  std::vector<Range> from_root(const std::vector<Range>& domain, Rank root) const;

  std::int64_t ranks_;
  std::vector<std::vector<Range>> domains_;
};

}  // namespace quadrille::cost
