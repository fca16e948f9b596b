#include "trace/trace.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace quadrille::trace {

namespace {

void add(Pairs& to, const Pairs& from) {
  for (const auto& [source, row] : from) {
    for (const auto& [destination, traffic] : row) {
      Traffic& sum = to[source][destination];
      sum.messages += traffic.messages;
      sum.bytes += traffic.bytes;
    }
  }
}

void fill(std::string& known, const std::string& other) {
  if (known.empty()) known = other;
}

}  // namespace

double RankTimes::inside() const {
  return std::accumulate(spent.begin(), spent.end(), 0.0);
}

Case Kind::asked(Rank ranks) const {
  const bool is_total = collective == Collective::allgatherv || traits(collective).counts_differ;
  return {.collective = collective,
          .form = form == Form::blocking ? quadrille::Form::blocking : quadrille::Form::non_blocking,
          .in_place = in_place,
          .commutative = commutative,
          .operation = commutative ? 0 : -1,
          .ranks = ranks,
          .nodes = ranks,
          .ranks_per_node = 1,
          .root = root,
          .count = count,
          .largest = is_total ? (count + ranks - 1) / ranks : count,
          .unit_bytes = unit_bytes,
          .unit_extent = unit_bytes};
}

Kind Kind::coarser() const {
  Kind result = *this;
  const int digits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count)));
  if (digits > 3) result.count = count >> (digits - 3) << (digits - 3);
  result.rounded = true;
  return result;
}

void Calls::merge(const Calls& other) {
  calls = std::max(calls, other.calls);
  bytes += other.bytes;
  seconds += other.seconds;
  longest = std::max(longest, other.longest);
  waited += other.waited;
  add(blocks, other.blocks);
}

void Trace::merge(const Trace& other) {
  fill(program, other.program);
  fill(mpi, other.mpi);
  fill(host, other.host);
  fill(date, other.date);
  ranks = std::max(ranks, other.ranks);
  times.insert(other.times.begin(), other.times.end());
  add(messages, other.messages);
  for (const auto& [communicator, kinds] : other.collectives) {
    auto& mine = collectives[communicator];
    for (const auto& [kind, calls] : kinds) mine[kind].merge(calls);
  }
}

Traffic sum_of(const Pairs& pairs) {
  Traffic sum;
  for (const auto& [source, row] : pairs) {
    for (const auto& [destination, traffic] : row) {
      sum.messages += traffic.messages;
      sum.bytes += traffic.bytes;
    }
  }
  return sum;
}

std::int64_t Trace::calls() const {
  std::int64_t sum = 0;
  for (const auto& [communicator, kinds] : collectives) {
    for (const auto& [kind, calls] : kinds) sum += calls.calls * std::max<Rank>(1, communicator.ranks.size());
  }
  return sum;
}

double Trace::wall_seconds() const {
  double longest = 0;
  for (const auto& [rank, one] : times) longest = std::max(longest, one.wall);
  return longest;
}

double Trace::mean(Activity activity) const {
  double sum = 0;
  for (const auto& [rank, one] : times) sum += one.in(activity);
  return times.empty() ? 0 : sum / static_cast<double>(times.size());
}

double Trace::waited() const {
  double sum = 0;
  for (const auto& [communicator, kinds] : collectives) {
    for (const auto& [kind, one] : kinds) sum += one.waited;
  }
  return sum;
}

double Trace::mean_outside() const {
  double sum = 0;
  for (const auto& [rank, one] : times) sum += one.outside();
  return times.empty() ? 0 : sum / static_cast<double>(times.size());
}

}  // namespace quadrille::trace
