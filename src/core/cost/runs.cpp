#include "cost/runs.hpp"

#include <algorithm>
#include <unordered_map>

namespace quadrille::cost {

std::int64_t Family::messages(std::int64_t from, std::int64_t to) const {
  const auto below = [&](std::int64_t n) {
    return n / period * (last - first) + std::clamp(n % period, first, last) - first;
  };
  const std::int64_t low = std::max(from, begin);
  const std::int64_t high = std::min(to, end);
  return low < high ? below(high) - below(low) : 0;
}

Runs::Runs(Rank ranks, std::size_t most, const std::function<std::int32_t(Rank)>& domain_of) : ranks_(ranks) {
  std::unordered_map<std::int32_t, std::size_t> places;
  std::size_t ranges = 0;
  for (Rank begin = 0; begin < ranks;) {
    const std::int32_t domain = domain_of(begin);
    Rank end = begin + 1;
    while (end < ranks && domain_of(end) == domain) ++end;
    const std::size_t place = places.try_emplace(domain, domains_.size()).first->second;
    if (place == domains_.size()) domains_.emplace_back();
    domains_[place].push_back({begin, end});
    begin = end;
    if (++ranges > most) {
      domains_.clear();
      return;
    }
  }
}

std::vector<Runs::Range> Runs::from_root(const std::vector<Range>& domain, Rank root) const {
  if (root == 0) return domain;
  std::vector<Range> turned;
  for (const Range& one : domain) {
    const Range before{std::min<std::int64_t>(one.begin, root), std::min<std::int64_t>(one.end, root)};
    const Range behind{std::max<std::int64_t>(one.begin, root), std::max<std::int64_t>(one.end, root)};
    if (before.begin < before.end) turned.push_back({before.begin + ranks_ - root, before.end + ranks_ - root});
    if (behind.begin < behind.end) turned.push_back({behind.begin - root, behind.end - root});
  }
  return turned;
}

Runs::Crossing Runs::crossing(const std::vector<Family>& round, Rank root) const {
  Crossing found;
  for (const std::vector<Range>& domain : domains_) {
    std::int64_t out = 0;
    std::int64_t in = 0;
    const std::vector<Range> ranges = from_root(domain, root);
    for (const Family& family : round) {
      for (const Range& from : ranges) {
        out += family.messages(from.begin, from.end);
        in += family.messages(from.begin - family.offset, from.end - family.offset);
        for (const Range& to : ranges) {
          const std::int64_t inside = family.messages(std::max(from.begin, to.begin - family.offset),
                                                      std::min(from.end, to.end - family.offset));
          out -= inside;
          in -= inside;
        }
      }
    }
    found.all += out;
    found.most = std::max({found.most, out, in});
  }
  return found;
}

}  // namespace quadrille::cost
