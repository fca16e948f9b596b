#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "text/quantities.hpp"
#include "tools/bench.hpp"

namespace quadrille::tools {

namespace {

using measure::Change;
using measure::Verdict;

std::vector<const Change*> of_verdict(const std::vector<Change>& changes, Verdict verdict, bool baseline) {
  std::vector<const Change*> found;
  for (const Change& change : changes) {
    if (change.verdict == verdict && change.baseline == baseline) found.push_back(&change);
  }
  return found;
}

std::string value_text(const Change& change, double value) {
  return change.by_ratio ? fmt::format("{:#.3g}", value) : text::seconds(value);
}

std::string line(const Change& change) {
  std::string values;
  if (change.before && change.after) {
    values = fmt::format("{:>9} -> {:<9} {:<15} {:+.0f} %", value_text(change, *change.before),
                         value_text(change, *change.after), change.by_ratio ? "times native's" : "",
                         100 * (change.factor - 1));
  }
  std::string out =
      fmt::format("  {:<20} {:>8}  {:<20} {}", change.collective, text::bytes(change.bytes), change.variant, values);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string paragraph(const std::string& heading, const std::vector<const Change*>& changes) {
  if (changes.empty()) return "";
  std::string out = heading + ":\n";
  for (const Change* change : changes) out += line(*change);
  return out + "\n";
}

// Reports from different settings are hardly comparable.
std::string differences(const NamedReport& before, const NamedReport& after) {
  const std::string old_setting = setting_of(before.report.provenance);
  const std::string new_setting = setting_of(after.report.provenance);
  if (old_setting == new_setting) return "";
  return fmt::format("note: different settings: {}: {}; {}: {}\n", before.name, old_setting, after.name, new_setting);
}

std::string notes(const NamedReport& before, const NamedReport& after, const std::vector<Change>& compared,
                  const measure::CompareOptions& options) {
  std::string out;
  for (const NamedReport* one : {&before, &after}) {
    if (!one->report.complete) out += fmt::format("note: {} is from an interrupted run\n", one->name);
    for (const std::string& warning : one->report.provenance.warnings) {
      out += fmt::format("note: {}: {}\n", one->name, warning);
    }
  }
  const std::int64_t blind = measure::underpowered(before.report, after.report, compared, options);
  if (blind > 0) {
    out += fmt::format("note: {} of {} points have too few repeats for any change to be significant\n", blind,
                       compared.size());
  }
  const auto other_calls =
      std::count_if(compared.begin(), compared.end(), [](const Change& change) { return change.other_calls(); });
  if (other_calls > 0) {
    out += fmt::format("note: {} of {} points have more than twice as many calls per repeat in one report\n",
                       other_calls, compared.size());
  }
  return out;
}

std::string conclusion(std::size_t slower, std::size_t faster, std::size_t compared, double threshold) {
  const std::string rule = fmt::format("changes below {:.3g} % and insignificant ones are ignored", 100 * threshold);
  if (slower + faster == 0) return fmt::format("Nothing got faster or slower: {} compared; {}.\n", compared, rule);
  return fmt::format("{} slower, {} faster, {} compared; {}.\n", slower, faster, compared, rule);
}

}  // namespace

std::string changes_as_text(const NamedReport& before, const NamedReport& after, const measure::CompareOptions& options,
                            const std::vector<Change>& changes) {
  std::vector<Change> compared;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(compared),
               [](const Change& change) { return change.before && change.after; });
  const auto slower = of_verdict(changes, Verdict::slower, false);
  const auto faster = of_verdict(changes, Verdict::faster, false);
  auto native = of_verdict(changes, Verdict::slower, true);
  const auto native_faster = of_verdict(changes, Verdict::faster, true);
  native.insert(native.end(), native_faster.begin(), native_faster.end());
  std::string out = differences(before, after) + notes(before, after, compared, options);
  out += paragraph("slower", slower);
  out += paragraph("faster", faster);
  out += paragraph("the MPI's own, which the others are held against", native);
  out += paragraph("only in " + before.name, of_verdict(changes, Verdict::only_before, false));
  out += paragraph("only in " + after.name, of_verdict(changes, Verdict::only_after, false));
  return out + conclusion(slower.size(), faster.size(), compared.size(), options.threshold);
}

std::string changes_as_json(const NamedReport& before, const NamedReport& after, const measure::CompareOptions& options,
                            const std::vector<Change>& changes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Change& change : changes) {
    nlohmann::ordered_json object = {
        {"collective", change.collective}, {"bytes", change.bytes}, {"variant", change.variant}};
    if (change.before) object["before"] = *change.before;
    if (change.after) object["after"] = *change.after;
    if (change.before && change.after) {
      object["factor"] = change.factor;
      object["p"] = change.p;
      object["calls_before"] = change.calls_before;
      object["calls_after"] = change.calls_after;
      object["by_ratio"] = change.by_ratio;
      object["yardstick"] = change.baseline;
    }
    object["verdict"] = name(change.verdict);
    list.push_back(std::move(object));
  }
  const nlohmann::ordered_json all = {
      {"level", options.level},
      {"threshold", options.threshold},
      {"complete_before", before.report.complete},
      {"complete_after", after.report.complete},
      {"too_few_repeats", measure::underpowered(before.report, after.report, changes, options)},
      {"changes", list}};
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace quadrille::tools
