#include "measure/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "profile/profile.hpp"
#include "text/quantities.hpp"

namespace quadrille::measure {

namespace {

std::string share_text(const std::optional<CollectiveTimes>& times) {
  if (!times) return "the share of collectives is unknown: the program wrote no report";
  return fmt::format("collectives are {:.{}f} % of the run", 100 * times->share(), times->share() < 0.1 ? 1 : 0);
}

std::string verdict_text(const RunVerdict& judged) {
  const std::string runs = fmt::format("{} run{} each", judged.pairs, judged.pairs == 1 ? "" : "s");
  if (judged.verdict == Verdict::same) {
    return fmt::format("no difference beyond the noise: {} to {} times as fast, {}", times_text(judged.speedup.low),
                       times_text(judged.speedup.high), runs);
  }
  // So that "2 times" is the same factor for both.
  const bool faster = judged.verdict == Verdict::faster;
  const Interval& ratio = judged.speedup;
  const Interval factor = faster ? ratio : Interval{1 / ratio.middle, 1 / ratio.high, 1 / ratio.low};
  const std::string range =
      judged.pairs == 1 ? "" : fmt::format(" ({}-{})", times_text(factor.low), times_text(factor.high));
  return fmt::format("{}{}: {} times{}, {}{}", name(judged.verdict),
                     judged.certain()    ? ""
                     : judged.pairs == 1 ? " in the only pair of runs"
                                         : " in all pairs of runs",
                     times_text(factor.middle), range, runs,
                     judged.certain() ? "" : fmt::format(", {} make it certain", least_for_interval));
}

std::string times_of(const char* label, const std::vector<double>& seconds) {
  std::string each;
  for (double one : seconds) each += fmt::format("{}{}", each.empty() ? "" : ", ", text::seconds(one));
  return fmt::format("  {:<13}{}, median of {}\n", label, text::seconds(median_interval(seconds).middle), each);
}

}  // namespace

bool starts_with(std::size_t pair) {
  return pair % 2 == 1;
}

RunVerdict judge(const PairedRuns& runs) {
  RunVerdict judged;
  judged.speedup = ratio_interval(runs.without, runs.with);
  judged.pairs = runs.with.size();
  if (judged.speedup.low > 1) judged.verdict = Verdict::faster;
  if (judged.speedup.high < 1) judged.verdict = Verdict::slower;
  return judged;
}

double CollectiveTimes::seconds() const {
  double sum = 0;
  for (const auto& [collective, seconds] : collectives) sum += seconds;
  return sum;
}

std::optional<CollectiveTimes> collective_times(const std::string& report, double run) {
  try {
    const profile::Profile profile = profile::from_json(report);
    CollectiveTimes times;
    times.run = run;
    times.inside = profile.wall_seconds;
    for (const profile::CollectiveTime& one : profile.collectives) {
      times.collectives.emplace_back(one.collective, one.mean_seconds);
    }
    std::sort(times.collectives.begin(), times.collectives.end(),
              [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const profile::PassedThrough& one : profile.passed) {
      const bool untimed = one.why == "non-blocking" || one.why == "persistent" || one.why == "a neighbourhood";
      if (untimed) times.uncounted += one.calls;
    }
    return times;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

std::string times_text(double ratio) {
  const bool close = std::abs(ratio - 1) < 0.02;
  return fmt::format("{:.{}f}", ratio, close ? 3 : ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

std::string to_text(const PairedRuns& runs, const std::optional<CollectiveTimes>& times) {
  std::string text = fmt::format("{}; {}\n", verdict_text(judge(runs)), share_text(times));
  text += times_of("without", runs.without) + times_of("with", runs.with);
  if (!times) return text;
  text += fmt::format("  {:<13}{} of {}, {} of them from MPI_Init to MPI_Finalize, without", "collectives",
                      text::seconds(times->seconds()), text::seconds(times->run), text::seconds(times->inside));
  const char* before = ": ";
  for (const auto& [collective, seconds] : times->collectives) {
    text += fmt::format("{}{} {}", before, collective, text::seconds(seconds));
    before = ", ";
  }
  text += "\n";
  if (times->uncounted > 0) {
    text += fmt::format("  {:<13}{} non-blocking, persistent and neighbourhood calls are not timed\n", "",
                        times->uncounted);
  }
  return text;
}

std::string to_json(const PairedRuns& runs, const std::optional<CollectiveTimes>& times) {
  const RunVerdict judged = judge(runs);
  nlohmann::ordered_json object = {
      {"verdict", name(judged.verdict)},
      {"certain", judged.certain()},
      {"speedup", {{"median", judged.speedup.middle}, {"low", judged.speedup.low}, {"high", judged.speedup.high}}},
      {"without", runs.without},
      {"with", runs.with}};
  if (times) {
    nlohmann::ordered_json each = nlohmann::ordered_json::object();
    for (const auto& [collective, seconds] : times->collectives) each[collective] = seconds;
    object["collectives"] = {{"share", times->share()},
                             {"run_seconds", times->run},
                             {"inside_seconds", times->inside},
                             {"mean_seconds", std::move(each)},
                             {"uncounted", times->uncounted}};
  }
  return object.dump(1) + "\n";
}

}  // namespace quadrille::measure
