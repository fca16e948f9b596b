#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "profile/profile.hpp"

namespace quadrille::profile {

namespace {

using nlohmann::ordered_json;

template <class Value>
void take(const ordered_json& from, const char* key, Value& value) {
  if (from.contains(key)) value = from.at(key).get<Value>();
}

const ordered_json& list(const ordered_json& from, const char* key) {
  static const ordered_json none = ordered_json::array();
  return from.contains(key) ? from.at(key) : none;
}

Communicator communicator_from(const ordered_json& from) {
  Communicator one;
  take(from, "name", one.name);
  take(from, "ranks", one.ranks);
  take(from, "count", one.count);
  return one;
}

Calls calls_from(const ordered_json& from, std::size_t communicators) {
  Calls one;
  from.at("collective").get_to(one.collective);
  take(from, "size", one.size);
  take(from, "communicator", one.communicator);
  if (one.communicator >= communicators) {
    throw std::invalid_argument(fmt::format("calls: there is no communicator {}", one.communicator));
  }
  take(from, "calls", one.calls);
  take(from, "replaced", one.replaced);
  take(from, "bytes", one.bytes);
  take(from, "seconds", one.largest_seconds);
  take(from, "mean_seconds", one.mean_seconds);
  take(from, "replaced_seconds", one.replaced_seconds);
  return one;
}

Learned learned_from(const ordered_json& from) {
  Learned one;
  take(from, "communicator", one.communicator);
  take(from, "ranks", one.ranks);
  take(from, "nodes", one.nodes);
  take(from, "collective", one.collective);
  take(from, "from", one.from);
  take(from, "to", one.to);
  take(from, "calls", one.calls);
  take(from, "replaced", one.replaced);
  take(from, "verdict", one.verdict);
  take(from, "seconds", one.seconds);
  take(from, "native_seconds", one.native_seconds);
  for (const ordered_json& tried : list(from, "tried")) {
    one.tried.push_back({tried.at("name").get<std::string>(), tried.at("seconds").get<double>()});
  }
  for (const ordered_json& change : list(from, "changes")) {
    one.changes.push_back({change.at("calls").get<std::int64_t>(), change.at("verdict").get<std::string>()});
  }
  take(from, "saved_seconds", one.saved_seconds);
  take(from, "start", one.start);
  return one;
}

// Version 1 has the time of the slowest rank alone: the mean of each collective is shared out by it. What was replaced
// is known by the number of calls.
void complete_version_1(Profile& profile) {
  std::map<std::string, double> largest;
  std::map<std::string, double> mean;
  for (const Calls& row : profile.calls) largest[row.collective] += row.largest_seconds;
  for (const CollectiveTime& one : profile.collectives) mean[one.collective] = one.mean_seconds;
  for (Calls& row : profile.calls) {
    const double all = largest[row.collective];
    row.mean_seconds = all > 0 ? mean[row.collective] * row.largest_seconds / all : 0;
    row.replaced_seconds =
        row.calls > 0 ? row.mean_seconds * static_cast<double>(row.replaced) / static_cast<double>(row.calls) : 0;
  }
}

Profile profile_from(const ordered_json& all) {
  if (!all.is_object() || !all.contains("ranks") || !all.contains("passed_through") ||
      all.value("format", "quadrille report") != "quadrille report") {
    throw std::invalid_argument("not a report of quadrille run --report or QUADRILLE_REPORT");
  }
  const int version = all.value("format_version", 1);
  if (version > 2) throw std::invalid_argument("format_version: from a newer quadrille");
  Profile profile;
  take(all, "program", profile.program);
  take(all, "mpi", profile.mpi);
  take(all, "host", profile.host);
  take(all, "date", profile.date);
  take(all, "ranks", profile.ranks);
  take(all, "nodes", profile.nodes);
  take(all, "peak_bytes", profile.peak_bytes);
  take(all, "waits", profile.waits);
  take(all, "wall_seconds", profile.wall_seconds);
  for (const ordered_json& one : list(all, "communicators")) profile.communicators.push_back(communicator_from(one));
  if (version < 2) profile.communicators = {{.name = "all communicators"}};
  for (const ordered_json& one : list(all, "calls")) {
    profile.calls.push_back(calls_from(one, profile.communicators.size()));
  }
  for (const ordered_json& one : list(all, "collectives")) {
    profile.collectives.push_back(
        {one.at("collective").get<std::string>(), one.value("mean_seconds", 0.0), one.value("largest_seconds", 0.0)});
  }
  for (const ordered_json& one : list(all, "algorithms")) {
    profile.algorithms.push_back({one.at("collective").get<std::string>(), one.at("algorithm").get<std::string>(),
                                  one.value("calls", std::int64_t{0})});
  }
  if (all.contains("passed_through")) {
    for (const auto& [collective, reasons] : all.at("passed_through").items()) {
      for (const auto& [why, calls] : reasons.items()) {
        profile.passed.push_back({collective, why, calls.get<std::int64_t>()});
      }
    }
  }
  for (const ordered_json& one : list(all, "learned")) profile.learned.push_back(learned_from(one));
  if (version < 2) complete_version_1(profile);
  return profile;
}

}  // namespace

Profile from_json(std::string_view text) {
  ordered_json all;
  try {
    all = ordered_json::parse(text);
  } catch (const ordered_json::exception&) {
    throw std::invalid_argument("not JSON");
  }
  try {
    return profile_from(all);
  } catch (const ordered_json::exception& error) {
    throw std::invalid_argument(fmt::format("not a report: {}", error.what()));
  }
}

}  // namespace quadrille::profile
