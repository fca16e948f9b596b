#include "breakdown/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "text/quantities.hpp"

namespace quadrille::breakdown {

namespace {

std::string name_of(const trace::Kind& kind) {
  return fmt::format("{}{}{}", kind.neighbours ? "neighbor_" : "", name(kind.collective),
                     kind.form == trace::Form::blocking
                         ? ""
                         : fmt::format(", {}", trace::form_names[static_cast<std::size_t>(kind.form)]));
}

std::string size_of(const trace::Kind& kind) {
  if (kind.has_blocks()) return "differs";
  if (!traits(kind.collective).moves_data()) return "";
  const std::string exact = text::bytes(kind.count * kind.unit_bytes);
  return kind.rounded ? "about " + exact : exact;
}

void add(const Row& row, Row& sum) {
  sum.collective = row.collective;
  sum.communicator = row.communicator;
  sum.size = row.size;
  sum.calls += row.calls;
  sum.bytes += row.bytes;
  sum.mean_seconds += row.mean_seconds;
  sum.longest += row.longest;
  sum.mean_waited += row.mean_waited;
}

template <class Key>
std::vector<Row> sorted(std::map<Key, Row> sums) {
  std::vector<Row> rows;
  for (auto& [key, row] : sums) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.mean_seconds > b.mean_seconds; });
  return rows;
}

Row row_of(const trace::Trace& trace, const trace::Communicator& communicator, const trace::Kind& kind,
           const trace::Calls& calls) {
  return {.collective = name_of(kind),
          .communicator = title(communicator),
          .size = size_of(kind),
          .calls = calls.calls * std::max<Rank>(1, communicator.ranks.size()),
          .bytes = calls.bytes,
          .mean_seconds = calls.seconds / std::max<Rank>(1, trace.ranks),
          .longest = calls.longest,
          .mean_waited = calls.waited / std::max<Rank>(1, trace.ranks)};
}

}  // namespace

std::string title(const trace::Communicator& communicator) {
  if (communicator.ranks.empty()) return "others";
  const Rank ranks = communicator.ranks.size();
  const std::string who = fmt::format("{} rank{}: {}", ranks, ranks == 1 ? "" : "s", communicator.ranks.text());
  return communicator.inter() ? fmt::format("{} with {}", who, communicator.remote.text()) : who;
}

std::vector<Row> by_kind(const trace::Trace& trace) {
  std::map<std::array<std::string, 3>, Row> sums;
  for (const auto& [communicator, kinds] : trace.collectives) {
    for (const auto& [kind, calls] : kinds) {
      const Row row = row_of(trace, communicator, kind, calls);
      add(row, sums[{row.collective, row.communicator, row.size}]);
    }
  }
  return sorted(std::move(sums));
}

std::vector<Row> by_collective(const trace::Trace& trace) {
  std::map<std::string, Row> sums;
  for (Row row : by_kind(trace)) {
    row.communicator = row.size = "";
    add(row, sums[row.collective]);
  }
  return sorted(std::move(sums));
}

}  // namespace quadrille::breakdown
