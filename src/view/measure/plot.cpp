#include "measure/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "text/quantities.hpp"

namespace quadrille::measure {

namespace {

// In the order of their first points.
std::vector<std::string> collectives_in(const std::vector<NamedReport>& reports) {
  std::vector<std::string> found;
  for (const NamedReport& named : reports) {
    for (const Point& point : named.report.points) {
      if (std::find(found.begin(), found.end(), point.collective) == found.end()) found.push_back(point.collective);
    }
  }
  return found;
}

// Selects and converts the points of a panel.
struct PanelFilter {
  const PlotOptions& view;
  std::string collective;
  std::optional<std::int64_t> bytes = {};  // only this size

  bool shows(const Point& point) const {
    if (view.value == PlotOptions::Value::rates && point.bytes == 0) return false;
    if (view.value == PlotOptions::Value::ratios && !point.ratio && point.variant != native) return false;
    return point.collective == collective && (!bytes || point.bytes == *bytes);
  }
  double x_of(const NamedReport& named, const Point& point) const {
    return static_cast<double>(view.against == PlotOptions::Against::ranks ? named.report.provenance.ranks
                                                                           : point.bytes);
  }
  // Median and interval.
  Interval y_of(const Point& point) const {
    if (view.value == PlotOptions::Value::ratios) return point.ratio.value_or(Interval{1, 1, 1});
    if (view.value == PlotOptions::Value::times) return point.time;
    const auto bytes_moved = static_cast<double>(point.bytes);
    const Interval& time = point.time;
    return {.middle = bytes_moved / time.middle, .low = bytes_moved / time.high, .high = bytes_moved / time.low};
  }
};

// The series of one report in one panel.
class ReportSeries {
 public:
  ReportSeries(const NamedReport& named, int place, bool alone) : named_(named), place_(place), alone_(alone) {}

  void add_to(std::vector<draw::Series>& all, const PanelFilter& filter) const {
    std::map<double, double> floors;
    for (const Point& point : named_.report.points) {
      if (!filter.shows(point)) continue;
      const double x = filter.x_of(named_, point);
      const Interval y = filter.y_of(point);
      draw::PlotPoint drawn{x, y.middle};
      if (point.has_interval()) {
        drawn.low = y.low;
        drawn.high = y.high;
      }
      series_of(point.variant, draw::SeriesStyle::line, all).points.push_back(drawn);
      if (point.floor && *point.floor > 0 && filter.view.value == PlotOptions::Value::times) {
        const auto found = floors.insert({x, *point.floor}).first;
        found->second = std::min(found->second, *point.floor);
      }
    }
    for (const auto& [x, seconds] : floors) {
      series_of("lower bound by the links", draw::SeriesStyle::floor, all).points.push_back({x, seconds});
    }
  }

 private:
  // The series of a variant; continued from another report if the names are equal.
  draw::Series& series_of(const std::string& variant, draw::SeriesStyle style, std::vector<draw::Series>& all) const {
    const std::string name = alone_ ? variant : fmt::format("{}, {}", variant, named_.name);
    const auto found =
        std::find_if(all.begin(), all.end(), [&name](const draw::Series& one) { return one.name == name; });
    if (found != all.end()) return *found;
    if (style == draw::SeriesStyle::floor) {
      all.push_back({.name = name, .points = {}, .style = style});
    } else {
      if (variant == native) style = draw::SeriesStyle::reference;
      all.push_back({.name = name, .points = {}, .style = style, .family = variant, .variation = place_});
    }
    return all.back();
  }

  const NamedReport& named_;
  int place_;
  bool alone_;
};

// The sizes a collective was measured with.
std::set<std::int64_t> sizes_of(const std::vector<NamedReport>& reports, const std::string& collective) {
  std::set<std::int64_t> sizes;
  for (const NamedReport& named : reports) {
    for (const Point& point : named.report.points) {
      if (point.collective == collective) sizes.insert(point.bytes);
    }
  }
  return sizes;
}

// Sorted by their numbers of ranks, which must differ.
std::vector<NamedReport> by_ranks(std::vector<NamedReport> reports) {
  const auto ranks = [](const NamedReport& named) { return named.report.provenance.ranks; };
  std::sort(reports.begin(), reports.end(),
            [&](const NamedReport& a, const NamedReport& b) { return ranks(a) < ranks(b); });
  const auto same = std::adjacent_find(
      reports.begin(), reports.end(), [&](const NamedReport& a, const NamedReport& b) { return ranks(a) == ranks(b); });
  if (same != reports.end()) {
    throw std::invalid_argument(
        fmt::format("{} and {} both have {} ranks: with --against ranks each report must have a different number",
                    same->name, std::next(same)->name, ranks(*same)));
  }
  return reports;
}

draw::Panel panel_of(const std::vector<NamedReport>& reports, const PanelFilter& filter, std::string title) {
  draw::Panel panel{.title = std::move(title), .series = {}};
  const bool one_line = reports.size() == 1 || filter.view.against == PlotOptions::Against::ranks;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    ReportSeries(reports[i], one_line ? 0 : static_cast<int>(i), one_line).add_to(panel.series, filter);
  }
  return panel;
}

// For plots against ranks.
std::string subheading_of_ranks(const std::vector<NamedReport>& reports) {
  std::vector<std::string> mpis;
  bool oversubscribed = false;
  for (const NamedReport& named : reports) {
    const Provenance& from = named.report.provenance;
    if (std::find(mpis.begin(), mpis.end(), from.mpi) == mpis.end()) mpis.push_back(from.mpi);
    oversubscribed |= from.oversubscribed;
  }
  return fmt::format("{}, {} to {} ranks{}", fmt::join(mpis, " and "), reports.front().report.provenance.ranks,
                     reports.back().report.provenance.ranks, oversubscribed ? ", oversubscribed" : "");
}

std::string described(const Report& report) {
  return setting_of(report.provenance) + (report.complete ? "" : ", interrupted");
}

// The setting, once if all reports share it.
std::string subheading(const std::vector<NamedReport>& reports) {
  std::vector<std::string> settings;
  bool shared = true;
  for (const NamedReport& named : reports) {
    const std::string setting = described(named.report);
    shared &= setting == described(reports.front().report);
    settings.push_back(fmt::format("{}: {}", named.name, setting));
  }
  return shared ? described(reports.front().report) : fmt::format("{}", fmt::join(settings, "\n"));
}

draw::Axis y_axis(PlotOptions::Value value) {
  switch (value) {
    case PlotOptions::Value::ratios:
      return {"time of a call / time of the MPI's own (below 1 is faster): median and 95 % interval",
              draw::Quantity::ratio};
    case PlotOptions::Value::rates:
      return {"size / time of a call: median and 95 % interval", draw::Quantity::bytes_a_second};
    case PlotOptions::Value::times:
    case PlotOptions::Value::times_and_ratios:
      break;
  }
  return {"time of a call: median and 95 % interval", draw::Quantity::seconds};
}

}  // namespace

std::string setting_of(const Provenance& from) {
  const auto counted = [](int number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  return fmt::format("{}, {} on {}{}", from.mpi, counted(from.ranks, "rank"), counted(from.nodes, "node"),
                     from.oversubscribed ? ", oversubscribed" : "");
}

namespace {

draw::Plot plot_with_ratios(const std::vector<NamedReport>& reports, PlotOptions view) {
  view.value = PlotOptions::Value::times;
  draw::Plot plot = plot_of(reports, view);
  const bool any = std::any_of(reports.begin(), reports.end(), [](const NamedReport& named) {
    return std::any_of(named.report.points.begin(), named.report.points.end(),
                       [](const Point& point) { return point.ratio.has_value(); });
  });
  if (!any) return plot;
  view.value = PlotOptions::Value::ratios;
  draw::Plot ratios = plot_of(reports, view);
  // Of a panel that has none, an empty one.
  std::size_t next = 0;
  for (const draw::Panel& panel : plot.panels) {
    const bool has = next < ratios.panels.size() && ratios.panels[next].title == panel.title;
    plot.beside.push_back(
        {.title = "", .series = has ? std::move(ratios.panels[next++].series) : std::vector<draw::Series>{}});
  }
  plot.y.title = "time: median and 95 % interval";
  plot.beside_y = {"time / native's: below 1 is faster", draw::Quantity::ratio};
  return plot;
}

}  // namespace

draw::Plot plot_of(const std::vector<NamedReport>& reports, const PlotOptions& view) {
  if (view.value == PlotOptions::Value::times_and_ratios) return plot_with_ratios(reports, view);
  const bool against_ranks = view.against == PlotOptions::Against::ranks;
  const std::vector<NamedReport> sorted = against_ranks ? by_ranks(reports) : reports;
  const std::vector<std::string> known = collectives_in(sorted);
  const std::vector<std::string>& wanted = view.collectives.empty() ? known : view.collectives;
  draw::Plot plot;
  for (const std::string& collective : wanted) {
    if (std::find(known.begin(), known.end(), collective) == known.end()) {
      throw std::invalid_argument(
          fmt::format("no collective '{}' in the reports; they have {}", collective, fmt::join(known, ", ")));
    }
    if (!against_ranks) {
      plot.panels.push_back(panel_of(sorted, {view, collective}, wanted.size() == 1 ? "" : collective));
      continue;
    }
    for (const std::int64_t bytes : sizes_of(sorted, collective)) {
      const std::string title = bytes == 0 ? collective : fmt::format("{}, {}", collective, text::bytes(bytes));
      plot.panels.push_back(panel_of(sorted, {view, collective, bytes}, title));
    }
  }
  std::erase_if(plot.panels, [](const draw::Panel& panel) { return panel.series.empty(); });
  const bool rates = view.value == PlotOptions::Value::rates;
  const bool ratios = view.value == PlotOptions::Value::ratios;
  if (plot.panels.empty() && rates) throw std::invalid_argument("calls without data have no rate");
  if (plot.panels.empty() && ratios) throw std::invalid_argument("reports without the MPI's own calls have no ratios");
  const char* const of_what = rates ? "Rate" : ratios ? "Relative time" : "Time";
  plot.heading = wanted.size() == 1 ? wanted.front()
                                    : fmt::format("{} of collectives by {}", of_what, against_ranks ? "ranks" : "size");
  plot.subheading = against_ranks ? subheading_of_ranks(sorted) : subheading(sorted);
  if (against_ranks) {
    plot.x = {"ranks", draw::Quantity::number};
  } else {
    plot.x = {"size of the data", draw::Quantity::bytes};
  }
  plot.y = y_axis(view.value);
  return plot;
}

}  // namespace quadrille::measure
