#include "measure/noise.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/quantities.hpp"

namespace quadrille::measure {

namespace {

// Below this, what is the same may differ: by the place of its buffers and schedules in memory.
constexpr double bearable = 0.03;
constexpr double false_alarms = 0.05;  // the chance that chance alone makes a discrepancy in a cell
constexpr double load_margin = 0.05;   // of the processors: the system itself needs some

std::string_view twin_of(const Point& point) {
  return point.variant == control ? native : std::string_view(point.same_as);
}

// Pairs of the same within a cell.
using PointPairs = std::vector<std::pair<const Point*, const Point*>>;
PointPairs pairs_of(std::span<const Point* const> cell) {
  PointPairs pairs;
  for (const Point* point : cell) {
    const auto twin = std::find_if(cell.begin(), cell.end(),
                                   [point](const Point* other) { return other->variant == twin_of(*point); });
    if (twin == cell.end() || !point->has_interval() || (*twin)->seconds.size() != point->seconds.size()) continue;
    pairs.emplace_back(point, *twin);
  }
  return pairs;
}

}  // namespace

Noise::Noise(std::span<const Point> points) {
  std::map<std::pair<std::string, std::int64_t>, std::vector<const Point*>> cells;
  for (const Point& point : points) cells[{point.collective, point.bytes}].push_back(&point);
  for (const auto& [where, cell] : cells) {
    const PointPairs pairs = pairs_of(cell);
    if (pairs.empty()) continue;
    double& most = cells_[where] = 0;
    const double confidence = 1 - false_alarms / static_cast<double>(pairs.size());
    for (const auto& [point, twin] : pairs) {
      Discrepancy one{point->collective, point->bytes, point->variant, twin->variant,
                      ratio_interval(point->seconds, twin->seconds, confidence)};
      if (one.ratio.contains(1) || one.size() <= bearable) continue;
      most = std::max(most, one.size());
      discrepancies_.push_back(std::move(one));
    }
  }
  std::stable_sort(discrepancies_.begin(), discrepancies_.end(),
                   [](const Discrepancy& a, const Discrepancy& b) { return a.size() > b.size(); });
}

double Noise::at(const std::string& collective, std::int64_t bytes) const {
  const auto found = cells_.find({collective, bytes});
  if (found != cells_.end()) return found->second;
  return discrepancies_.empty() ? 0 : discrepancies_.front().size();
}

const Point& cautious(std::span<const Point> points, const Point& first) {
  const Point* worst = &first;
  for (const Point& point : points) {
    const bool same =
        point.bytes == first.bytes && point.same_as == first.variant && point.collective == first.collective;
    if (same && point.ratio && (!worst->ratio || point.ratio->high > worst->ratio->high)) worst = &point;
  }
  return *worst;
}

bool MachineLoad::disturbs() const {
  const double needed = std::min<double>(ranks, processors);
  return others + needed > processors * (1 + load_margin);
}

MachineLoad load_between(std::span<const RankLoad> before, std::span<const RankLoad> after, double seconds) {
  MachineLoad worst;
  if (seconds <= 0) return worst;
  std::map<std::uint64_t, MachineLoad> machines;
  for (std::size_t i = 0; i < after.size(); ++i) {
    MachineLoad& machine = machines.insert({after[i].machine, {.ranks = 0}}).first->second;
    const double busy = (after[i].busy - before[i].busy) / seconds;
    const double own = (after[i].own - before[i].own) / seconds;
    // All ranks see the same of a machine, but for the moment of looking.
    machine.others = machine.ranks == 0 ? busy - own : machine.others - own;
    machine.processors = after[i].processors;
    ++machine.ranks;
  }
  const auto left = [](const MachineLoad& one) { return (one.processors - one.others) / one.ranks; };
  for (const auto& [id, machine] : machines) {
    if (id == machines.begin()->first || left(machine) < left(worst)) worst = machine;
  }
  worst.others = std::max(worst.others, 0.0);
  return worst;
}

std::vector<std::string> warnings(const MachineLoad& load, std::span<const Point> points) {
  std::vector<std::string> all;
  if (load.disturbs()) {
    all.push_back(
        fmt::format("the machine is busy: other processes used {:.2g} of its {:.0f} processors beside {} rank{}",
                    load.others, load.processors, load.ranks, load.ranks == 1 ? "" : "s"));
  }
  const std::vector<Discrepancy> found = Noise(points).discrepancies();
  if (found.empty()) return all;
  const Discrepancy& most = found.front();
  all.push_back(
      fmt::format("the figures are noisy: {} of {}, {} takes {:.2f} ({:.2f} to {:.2f}) times as long as {}, "
                  "which is the same {}{}",
                  most.variant, most.collective, text::bytes(most.bytes), most.ratio.middle, most.ratio.low,
                  most.ratio.high, most.same_as, most.variant == control ? "call" : "schedule",
                  found.size() == 1 ? "" : fmt::format("; {} such pairs", found.size())));
  return all;
}

}  // namespace quadrille::measure
