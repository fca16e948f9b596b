#include <fmt/format.h>

#include <algorithm>

#include "breakdown/breakdown.hpp"
#include "breakdown/rows.hpp"
#include "text/markup.hpp"
#include "text/quantities.hpp"

namespace quadrille::breakdown {

namespace {

std::string time_line(const trace::Trace& trace, std::string_view what, double mean, double least, double most) {
  const double wall = trace.wall_seconds();
  return fmt::format("  {:<24}{:>12}{:>9}{:>12}{:>12}\n", what, text::seconds(mean),
                     text::share(wall > 0 ? mean / wall : 0), text::seconds(least), text::seconds(most));
}

template <class Of>
std::string time_line(const trace::Trace& trace, std::string_view what, double mean, const Of& of) {
  double least = trace.times.empty() ? 0 : of(trace.times.begin()->second);
  double most = least;
  for (const auto& [rank, times] : trace.times) {
    least = std::min(least, of(times));
    most = std::max(most, of(times));
  }
  return time_line(trace, what, mean, least, most);
}

std::string times_text(const trace::Trace& trace) {
  std::string out =
      fmt::format("  {:<24}{:>12}{:>9}{:>12}{:>12}\n", "time of a rank", "mean", "share", "least", "most");
  out += time_line(trace, "outside of traced calls", trace.mean_outside(),
                   [](const trace::RankTimes& one) { return one.outside(); });
  for (std::size_t i = 0; i < trace::activities; ++i) {
    const auto activity = static_cast<trace::Activity>(i);
    if (trace.mean(activity) == 0) continue;
    out += time_line(trace, trace::activity_names[i], trace.mean(activity),
                     [&](const trace::RankTimes& one) { return one.in(activity); });
  }
  return out;
}

}  // namespace

std::string to_text(const trace::Trace& trace) {
  std::string out;
  if (!trace.program.empty()) out += text::printable(trace.program) + '\n';
  out += fmt::format("{} ranks{}, {} from MPI_Init to MPI_Finalize\n", trace.ranks,
                     trace.mpi.empty() ? "" : " of " + text::printable(trace.mpi), text::seconds(trace.wall_seconds()));
  out += '\n' + times_text(trace) + '\n';
  const trace::Traffic sent = trace::sum_of(trace.messages);
  out += fmt::format("  {} messages, {}\n", text::count(sent.messages), text::about_bytes(sent.bytes));
  const std::vector<Row> rows = by_collective(trace);
  if (rows.empty()) return out;
  const bool met = trace.waited() > 0;
  out += fmt::format("\n  {:<36}{:>12}{:>12}{:>12}{}\n", "collective", "calls", "bytes", "mean",
                     met ? fmt::format("{:>22}", "waits for late ranks") : "");
  for (const Row& row : rows) {
    out += fmt::format("  {:<36}{:>12}{:>12}{:>12}{}\n", row.collective, text::count(row.calls),
                       text::about_bytes(row.bytes), text::seconds(row.mean_seconds),
                       met ? fmt::format("{:>22}", text::seconds(row.mean_waited)) : "");
  }
  return out;
}

}  // namespace quadrille::breakdown
