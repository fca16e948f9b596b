#include <fmt/format.h>

#include "measure/report.hpp"
#include "text/quantities.hpp"

namespace quadrille::measure {

namespace {

std::string counted(std::int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string rate(double bits) {
  return bits >= 1e9 ? fmt::format("{:.3g} Gbit/s", bits / 1e9) : fmt::format("{:.3g} Mbit/s", bits / 1e6);
}

// Of an interval to the median.
std::string half_width_text(double half_width) {
  const double percent = 100 * half_width;
  return percent >= 9999.5 ? "> 9999 %" : fmt::format("{:.{}f} %", percent, percent < 99.95 ? 1 : 0);
}

std::string remarks(const Point& point) {
  std::vector<std::string> all;
  const bool certain = point.ratio && point.has_interval();
  if (certain && point.ratio->high < 1) all.emplace_back("faster");
  if (certain && point.ratio->low > 1) all.emplace_back("slower");
  if (!point.settled) all.emplace_back("not settled");
  if (!point.same_as.empty()) all.push_back("same as " + point.same_as);
  if (point.discarded > 0) all.push_back(fmt::format("{} discarded", point.discarded));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string line(const TableColumns& columns, const std::vector<std::string>& cells) {
  std::string out = fmt::format("  {:<{}}  {:>8}  {:>8}  {:<22}  {:>6}  {:>7}", cells[0], columns.variant, cells[1],
                                cells[2], cells[3], cells[4], cells[5]);
  if (columns.floor) out += fmt::format("  {:>8}", cells[6]);
  out += fmt::format("  {}", cells[7]);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string line(const TableColumns& columns, const Point& point) {
  return line(columns, {point.variant, text::seconds(point.time.middle),
                        point.has_interval() ? half_width_text(point.time.half_width()) : "-",
                        point.ratio ? ratio_text(*point.ratio, point.has_interval()) : "",
                        point.steps ? fmt::format("{}", *point.steps) : "", fmt::format("{}", point.seconds.size()),
                        point.floor ? text::seconds(*point.floor) : "", remarks(point)});
}

}  // namespace

std::string ratio_text(const Interval& ratio, bool whole) {
  const auto digits = [](double value) {
    if (value < 0.0995) return fmt::format("{:.2g}", value);
    return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  };
  if (!whole) return digits(ratio.middle);
  return fmt::format("{} ({} to {})", digits(ratio.middle), digits(ratio.low), digits(ratio.high));
}

std::string origin_text(const Provenance& from) {
  std::string out;
  if (!from.label.empty()) out += from.label + "\n";
  out += fmt::format("{}, {} on {} with {} to use{}{}\n", from.mpi, counted(from.ranks, "rank"),
                     from.nodes == 1 ? "1 node" : fmt::format("{} nodes, {} a node,", from.nodes, from.ranks_per_node),
                     counted(from.usable_cores, "core"), from.nodes == 1 ? "" : " on each",
                     from.oversubscribed ? ": oversubscribed" : "");
  if (!from.binding.empty()) out += fmt::format("binding: {}\n", from.binding);
  if (from.rate_bits > 0) out += fmt::format("links: {}", rate(from.rate_bits));
  if (from.rate_bits > 0 && from.uplink_bits > 0) out += fmt::format(", uplinks: {}", rate(from.uplink_bits));
  if (from.rate_bits > 0) out += "\n";
  if (from.nodes > 1) out += fmt::format("clocks: agree within {}\n", text::seconds(from.clock_uncertainty));
  out += fmt::format("quadrille {}, {}, {}\n", from.version, from.host, from.date);
  if (!from.command.empty()) out += fmt::format("$ {}\n", from.command);
  return out;
}

std::string cell_text(std::span<const Point> cell, const TableColumns& columns) {
  if (cell.empty()) return "";
  std::string out = fmt::format("\n{}, {}\n", cell.front().collective, text::bytes(cell.front().bytes));
  out += line(columns, {"variant", "median", "+-", "times native's", "steps", "repeats", "floor", ""});
  for (const Point& point : cell) out += line(columns, point);
  return out;
}

}  // namespace quadrille::measure
