#include "interpose/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "api/local_call.hpp"
#include "engine/process.hpp"
#include "files/replace.hpp"
#include "text/quantities.hpp"

namespace quadrille::interpose {

namespace {

// The classes: up to so many bytes.
constexpr std::array<std::int64_t, 6> bounds = {0, 64, 1024, 16384, 262144, 4194304};
constexpr std::array<std::string_view, 7> class_names = {"0 B",        "1-64 B",   "to 1 KiB",  "to 16 KiB",
                                                         "to 256 KiB", "to 4 MiB", "over 4 MiB"};

}  // namespace

std::int64_t bytes_of(const detail::Call& call, MPI_Comm comm) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (!traits(call.collective).moves_data() || inter != 0) return 0;
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  return api::local_call(call, rank, ranks, true).bytes(ranks);
}

std::size_t Report::size_class(std::int64_t bytes) {
  return static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), bytes) - bounds.begin());
}

void Report::add(Collective collective, std::int64_t bytes, double seconds, const Algorithm* algorithm) {
  const auto row = static_cast<std::size_t>(collective);
  const std::size_t column = size_class(bytes);
  const std::lock_guard lock(mutex_);
  Cell& cell = table_.called[row][column];
  ++cell.calls;
  cell.bytes += bytes;
  table_.replaced[row][column] += algorithm ? 1 : 0;
  if (algorithm) ++by_[static_cast<std::size_t>(place_of(*algorithm))];
  seconds_[row][column] += seconds;
}

void Report::write(const std::string& path, const Counts& counts, Waits waits) {
  static_assert(std::is_trivially_copyable_v<Table> && sizeof(Table) % sizeof(std::int64_t) == 0);
  for (std::size_t row = 0; row < collectives; ++row) {
    std::copy(counts[row].begin(), counts[row].end(), table_.became[row].begin());
  }
  const double wall = std::chrono::duration<double>(Clock::now() - started_).count();
  Spent spent = {};
  for (std::size_t row = 0; row < collectives; ++row) {
    spent[row] = std::accumulate(seconds_[row].begin(), seconds_[row].end(), 0.0);
  }
  Whole whole;
  whole.waits = waits;
  const std::int64_t peak = engine::Process::get().arena().peak();
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &whole.ranks);
  PMPI_Reduce(&table_, &whole.table, sizeof(Table) / sizeof(std::int64_t), MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(&seconds_, &whole.seconds, sizeof(Seconds) / sizeof(double), MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  PMPI_Reduce(spent.data(), whole.mean.data(), collectives, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(spent.data(), whole.largest.data(), collectives, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  PMPI_Reduce(&wall, &whole.wall, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  whole.by.resize(by_.size());
  PMPI_Reduce(by_.data(), whole.by.data(), static_cast<int>(by_.size()), MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(&peak, &whole.peak_bytes, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (double& seconds : whole.mean) seconds /= whole.ranks;
  if (path == "-") {
    std::fputs(as_text(whole).c_str(), stderr);
    return;
  }
  try {
    files::replace_file(path, as_json(whole));
  } catch (const std::system_error& error) {
    fmt::print(stderr, "quadrille: can't write the report to {}: {}; name another file (QUADRILLE_REPORT, --report=)\n",
               path, error.code().message());
  }
}

template <class Visit, class VisitReason>
void Report::for_each(const Whole& whole, const Visit& visit, const VisitReason& visit_reason) {
  for (std::size_t row = 0; row < collectives; ++row) {
    const std::string_view collective = name(static_cast<Collective>(row));
    for (std::size_t column = 0; column < sizes; ++column) {
      const Cell& cell = whole.table.called[row][column];
      if (cell.calls == 0) continue;
      visit(collective, class_names[column], cell, whole.table.replaced[row][column], whole.seconds[row][column]);
    }
    for (std::size_t why = 1; why < outcomes; ++why) {
      const std::int64_t calls = whole.table.became[row][why];
      if (calls > 0) visit_reason(collective, outcome_names[why], calls);
    }
  }
}

template <class Visit>
void Report::for_each_algorithm(const Whole& whole, const Visit& visit) {
  for (std::size_t place = 0; place < whole.by.size(); ++place) {
    if (whole.by[place] > 0) visit(*catalogue()[place], whole.by[place]);
  }
}

std::string Report::as_text(const Whole& whole) {
  constexpr std::array<std::string_view, 3> waits = {"", "; oversubscribed: MPI's waits were made to yield",
                                                     "; oversubscribed: waits are ours"};
  std::string text =
      fmt::format("quadrille: collectives of {} ranks; memory of ours at most {} a rank{}\n", whole.ranks,
                  text::about_bytes(whole.peak_bytes), waits[static_cast<std::size_t>(whole.waits)]);
  text += fmt::format("  {} in them, mean of the ranks: {:.1f} % of {} from MPI_Init to MPI_Finalize\n",
                      text::seconds(whole.in_collectives()), 100 * whole.in_collectives() / whole.wall,
                      text::seconds(whole.wall));
  text += fmt::format("  {:<22}{:<12}{:>10}{:>12}{:>12}{:>10}\n", "collective", "size", "calls", "bytes", "time",
                      "replaced");
  std::string reasons;
  for_each(
      whole,
      [&](std::string_view collective, std::string_view size, const Cell& cell, std::int64_t replaced, double seconds) {
        text += fmt::format("  {:<22}{:<12}{:>10}{:>12}{:>12}{:>9.0f}%\n", collective, size, cell.calls,
                            text::about_bytes(cell.bytes), text::seconds(seconds),
                            100.0 * static_cast<double>(replaced) / static_cast<double>(cell.calls));
      },
      [&](std::string_view collective, std::string_view why, std::int64_t calls) {
        reasons += fmt::format("  {:<22}{:>10}  {}\n", collective, calls, why);
      });
  std::string algorithms;
  for_each_algorithm(whole, [&](const Algorithm& algorithm, std::int64_t calls) {
    algorithms += fmt::format("  {:<22}{:>10}  {}\n", name(algorithm.collective), calls, algorithm.name);
  });
  if (!algorithms.empty()) text += "replaced, calls and by which algorithm:\n" + algorithms;
  if (!reasons.empty()) text += "passed through to MPI, calls and why:\n" + reasons;
  return text;
}

std::string Report::as_json(const Whole& whole) {
  std::string rows;
  std::string reasons;
  std::string_view last;  // collective with a reason
  for_each(
      whole,
      [&](std::string_view collective, std::string_view size, const Cell& cell, std::int64_t replaced, double seconds) {
        rows += fmt::format(R"({}{{"collective":"{}","size":"{}","calls":{},"replaced":{},"bytes":{},"seconds":{}}})",
                            rows.empty() ? "" : ",\n  ", collective, size, cell.calls, replaced, cell.bytes, seconds);
      },
      [&](std::string_view collective, std::string_view why, std::int64_t calls) {
        if (collective != last) {
          reasons += fmt::format("{}\"{}\":{{", last.empty() ? "" : "},\n  ", collective);
        } else {
          reasons += ",";
        }
        reasons += fmt::format(R"("{}":{})", why, calls);
        last = collective;
      });
  if (!last.empty()) reasons += "}";
  std::string algorithms;
  for_each_algorithm(whole, [&](const Algorithm& algorithm, std::int64_t calls) {
    algorithms += fmt::format(R"({}{{"collective":"{}","algorithm":"{}","calls":{}}})",
                              algorithms.empty() ? "" : ",\n  ", name(algorithm.collective), algorithm.name, calls);
  });
  std::string times;
  for (std::size_t row = 0; row < collectives; ++row) {
    if (whole.largest[row] == 0) continue;
    times +=
        fmt::format(R"({}{{"collective":"{}","mean_seconds":{},"largest_seconds":{}}})", times.empty() ? "" : ",\n  ",
                    name(static_cast<Collective>(row)), whole.mean[row], whole.largest[row]);
  }
  constexpr std::array<std::string_view, 3> waits = {"MPI's", "yielding", "ours"};
  return fmt::format(
      "{{\"ranks\":{},\n \"peak_bytes\":{},\n \"waits\":\"{}\",\n \"wall_seconds\":{},\n "
      "\"collectives\":[\n  {}],\n \"calls\":[\n  {}],\n "
      "\"algorithms\":[\n  {}],\n \"passed_through\":{{\n  {}}}}}\n",
      whole.ranks, whole.peak_bytes, waits[static_cast<std::size_t>(whole.waits)], whole.wall, times, rows, algorithms,
      reasons);
}

}  // namespace quadrille::interpose
