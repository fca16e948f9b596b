#include <nlohmann/json.hpp>

#include "breakdown/breakdown.hpp"
#include "breakdown/rows.hpp"

namespace quadrille::breakdown {

namespace {

nlohmann::ordered_json times_json(const trace::RankTimes& times) {
  nlohmann::ordered_json one = {{"wall", times.wall}, {"outside", times.outside()}};
  for (std::size_t i = 0; i < trace::activities; ++i) one[std::string(trace::activity_names[i])] = times.spent[i];
  return one;
}

}  // namespace

std::string to_json(const trace::Trace& trace) {
  const trace::Traffic sent = trace::sum_of(trace.messages);
  nlohmann::ordered_json json = {{"program", trace.program},  {"mpi", trace.mpi},
                                 {"host", trace.host},        {"date", trace.date},
                                 {"ranks", trace.ranks},      {"wall_seconds", trace.wall_seconds()},
                                 {"messages", sent.messages}, {"bytes", sent.bytes}};
  json["times"] = nlohmann::ordered_json::array();
  for (const auto& [rank, times] : trace.times) {
    json["times"].push_back(times_json(times));
    json["times"].back()["rank"] = rank;
  }
  json["collectives"] = nlohmann::ordered_json::array();
  const bool met = trace.waited() > 0;
  for (const Row& row : by_kind(trace)) {
    json["collectives"].push_back({{"collective", row.collective},
                                   {"communicator", row.communicator},
                                   {"size", row.size},
                                   {"calls", row.calls},
                                   {"bytes", row.bytes},
                                   {"mean_seconds", row.mean_seconds},
                                   {"longest_seconds", row.longest}});
    if (met) json["collectives"].back()["mean_waited_seconds"] = row.mean_waited;
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace quadrille::breakdown
