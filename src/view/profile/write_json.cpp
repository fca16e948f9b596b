#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "profile/profile.hpp"

namespace quadrille::profile {

namespace {

using nlohmann::ordered_json;

// Names may contain invalid UTF-8.
std::string dumped(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// A line each.
template <class List, class Object>
std::string list_of(const List& list, const Object& object) {
  std::string out;
  for (const auto& one : list) out += fmt::format("{}\n  {}", out.empty() ? "" : ",", dumped(object(one)));
  return fmt::format("[{}]", out);
}

ordered_json json_of(const Communicator& one) {
  return {{"name", one.name}, {"ranks", one.ranks}, {"count", one.count}};
}

ordered_json json_of(const Calls& one) {
  return {{"collective", one.collective},
          {"size", one.size},
          {"communicator", one.communicator},
          {"calls", one.calls},
          {"replaced", one.replaced},
          {"bytes", one.bytes},
          {"seconds", one.largest_seconds},
          {"mean_seconds", one.mean_seconds},
          {"replaced_seconds", one.replaced_seconds}};
}

ordered_json json_of(const CollectiveTime& one) {
  return {{"collective", one.collective}, {"mean_seconds", one.mean_seconds}, {"largest_seconds", one.largest_seconds}};
}

ordered_json json_of(const AlgorithmUse& one) {
  return {{"collective", one.collective}, {"algorithm", one.algorithm}, {"calls", one.calls}};
}

ordered_json json_of(const Learned& one) {
  ordered_json changes = ordered_json::array();
  for (const Learned::Change& change : one.changes) {
    changes.push_back({{"calls", change.calls}, {"verdict", change.verdict}});
  }
  ordered_json tried = ordered_json::array();
  for (const Learned::Tried& candidate : one.tried) {
    tried.push_back({{"name", candidate.name}, {"seconds", candidate.seconds}});
  }
  return {{"communicator", one.communicator},
          {"ranks", one.ranks},
          {"nodes", one.nodes},
          {"collective", one.collective},
          {"from", one.from},
          {"to", one.to},
          {"calls", one.calls},
          {"replaced", one.replaced},
          {"verdict", one.verdict},
          {"seconds", one.seconds},
          {"native_seconds", one.native_seconds},
          {"tried", tried},
          {"changes", changes},
          {"saved_seconds", one.saved_seconds},
          {"start", one.start}};
}

std::string passed_through(const Profile& profile) {
  ordered_json all = ordered_json::object();
  for (const PassedThrough& one : profile.passed) all[one.collective][one.why] = one.calls;
  std::string out;
  for (const auto& [collective, reasons] : all.items()) {
    out += fmt::format("{}\n  {}:{}", out.empty() ? "" : ",", dumped(collective), dumped(reasons));
  }
  return fmt::format("{{{}}}", out);
}

}  // namespace

std::string to_json(const Profile& profile) {
  const auto any = [](const auto& one) { return json_of(one); };
  const ordered_json head = {{"format", "quadrille report"},
                             {"format_version", 2},
                             {"program", profile.program},
                             {"mpi", profile.mpi},
                             {"host", profile.host},
                             {"date", profile.date},
                             {"ranks", profile.ranks},
                             {"nodes", profile.nodes},
                             {"peak_bytes", profile.peak_bytes},
                             {"waits", profile.waits},
                             {"wall_seconds", profile.wall_seconds}};
  std::string out;
  for (const auto& [key, value] : head.items()) {
    out += fmt::format("{}\"{}\":{}", out.empty() ? "{" : ",\n ", key, dumped(value));
  }
  return out + fmt::format(
                   ",\n \"collectives\":{},\n \"communicators\":{},\n \"calls\":{},\n \"algorithms\":{},\n "
                   "\"passed_through\":{},\n \"learned\":{}}}\n",
                   list_of(profile.collectives, any), list_of(profile.communicators, any), list_of(profile.calls, any),
                   list_of(profile.algorithms, any), passed_through(profile), list_of(profile.learned, any));
}

}  // namespace quadrille::profile
