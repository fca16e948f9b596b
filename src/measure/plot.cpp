#include "measure/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace quadrille::measure {

namespace {

// In the order of their first points.
std::vector<std::string> collectives_in(const std::vector<Named>& reports) {
  std::vector<std::string> found;
  for (const Named& named : reports) {
    for (const Point& point : named.report.points) {
      if (std::find(found.begin(), found.end(), point.collective) == found.end()) found.push_back(point.collective);
    }
  }
  return found;
}

// The series of one report in one panel.
class ReportSeries {
 public:
  ReportSeries(const Named& named, int place, bool alone) : named_(named), place_(place), alone_(alone) {}

  void add_to(draw::Panel& panel, const std::string& collective) const {
    std::vector<draw::Series> all;
    std::map<std::int64_t, double> floors;
    for (const Point& point : named_.report.points) {
      if (point.collective != collective) continue;
      draw::PlotPoint drawn{static_cast<double>(point.bytes), point.time.middle};
      if (point.has_interval()) std::tie(drawn.low, drawn.high) = std::tie(point.time.low, point.time.high);
      series_of(point.variant, all).points.push_back(drawn);
      if (point.floor && *point.floor > 0) {
        const auto found = floors.insert({point.bytes, *point.floor}).first;
        found->second = std::min(found->second, *point.floor);
      }
    }
    panel.series.insert(panel.series.end(), all.begin(), all.end());
    if (floors.empty()) return;
    draw::Series floor{.name = name_of("what the links need"), .points = {}, .drawn = draw::Drawn::floor};
    for (const auto& [bytes, seconds] : floors) floor.points.push_back({static_cast<double>(bytes), seconds});
    panel.series.push_back(std::move(floor));
  }

 private:
  std::string name_of(const std::string& what) const {
    return alone_ ? what : fmt::format("{}, {}", what, named_.name);
  }

  draw::Series& series_of(const std::string& variant, std::vector<draw::Series>& all) const {
    const auto same = [&variant](const draw::Series& one) { return one.family == variant; };
    const auto found = std::find_if(all.begin(), all.end(), same);
    if (found != all.end()) return *found;
    const auto drawn = variant == native ? draw::Drawn::reference : draw::Drawn::line;
    all.push_back({.name = name_of(variant), .points = {}, .drawn = drawn, .family = variant, .variation = place_});
    return all.back();
  }

  const Named& named_;
  int place_;
  bool alone_;
};

// The setting once where all reports share it.
std::string subheading(const std::vector<Named>& reports) {
  std::vector<std::string> settings;
  bool shared = true;
  for (const Named& named : reports) {
    const std::string setting = setting_of(named.report.provenance);
    shared &= setting == setting_of(reports.front().report.provenance);
    settings.push_back(fmt::format("{}: {}", named.name, setting));
  }
  return shared ? setting_of(reports.front().report.provenance) : fmt::format("{}", fmt::join(settings, "\n"));
}

}  // namespace

std::string setting_of(const Provenance& from) {
  const auto counted = [](int number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  return fmt::format("{}, {} on {}{}", from.mpi, counted(from.ranks, "rank"), counted(from.nodes, "node"),
                     from.oversubscribed ? ", more ranks than cores" : "");
}

draw::Plot plot_of(const std::vector<Named>& reports, const std::vector<std::string>& collectives) {
  const std::vector<std::string> known = collectives_in(reports);
  const std::vector<std::string>& wanted = collectives.empty() ? known : collectives;
  draw::Plot plot;
  for (const std::string& collective : wanted) {
    if (std::find(known.begin(), known.end(), collective) == known.end()) {
      throw std::invalid_argument(
          fmt::format("no collective '{}' was measured; there are {}", collective, fmt::join(known, ", ")));
    }
    draw::Panel panel{.title = wanted.size() == 1 ? "" : collective, .series = {}};
    for (std::size_t i = 0; i < reports.size(); ++i) {
      ReportSeries(reports[i], static_cast<int>(i), reports.size() == 1).add_to(panel, collective);
    }
    plot.panels.push_back(std::move(panel));
  }
  plot.heading = wanted.size() == 1 ? wanted.front() : "Time of collectives by size";
  plot.subheading = subheading(reports);
  plot.x.title = "size of the data";
  plot.y.title = "time of a call: median and 95 % interval";
  return plot;
}

}  // namespace quadrille::measure
