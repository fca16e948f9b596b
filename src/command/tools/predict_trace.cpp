#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "forecast/program.hpp"
#include "text/quantities.hpp"
#include "tools/predict.hpp"
#include "trace/trace.hpp"

namespace quadrille::tools {

namespace {

// Lines of a program that are printed unless all are wanted.
constexpr std::size_t most_lines = 20;

std::string label_of(const forecast::TracedCalls& one) {
  const Case& asked = one.asked;
  const std::string size = traits(asked.collective).moves_data() ? ", " + text::about_bytes(asked.bytes()) : "";
  return fmt::format("{}{}{}, {} ranks", name(asked.collective), one.equal_blocks ? "*" : "", size,
                     text::count(asked.ranks));
}

std::vector<std::string> policies_of(const forecast::TracedProgram& program) {
  std::vector<std::string> names;
  for (const forecast::TracedCalls& one : program.calls) {
    for (const forecast::PolicyEstimate& policy : one.point.policies) {
      if (std::find(names.begin(), names.end(), policy.policy) == names.end()) names.push_back(policy.policy);
    }
  }
  return names;
}

const forecast::PolicyEstimate* of_policy(const forecast::Point& point, const std::string& name) {
  for (const forecast::PolicyEstimate& one : point.policies) {
    if (one.policy == name) return &one;
  }
  return nullptr;
}

// Of all calls of a mean rank.
std::string time_of(const forecast::TracedCalls& calls, const forecast::PolicyEstimate* policy) {
  if (!policy || !policy->time) return "unknown";
  return text_of({calls.rank_calls * policy->time->seconds, policy->time->method});
}

void print_program(const forecast::TracedProgram& program, bool all) {
  const std::vector<std::string> policies = policies_of(program);
  fmt::print("\n{:<36}{:>10}{:>11}{:>11}", "", "calls", "traced", "fastest");
  for (const std::string& policy : policies) fmt::print("  {:>17}", policy);
  fmt::print("\n");
  const std::size_t lines = all ? program.calls.size() : std::min(most_lines, program.calls.size());
  for (std::size_t i = 0; i < lines; ++i) {
    const forecast::TracedCalls& one = program.calls[i];
    const forecast::Seconds& best = one.point.algorithms.front().time;
    fmt::print("{:<36}{:>10}{:>11}{:>11}", label_of(one), text::count(one.calls), text::seconds(one.traced),
               text_of({one.rank_calls * best.seconds, best.method}));
    for (const std::string& policy : policies) fmt::print("  {:>17}", time_of(one, of_policy(one.point, policy)));
    fmt::print("\n");
  }
  if (lines < program.calls.size()) fmt::print("and {} more kinds: --all\n", program.calls.size() - lines);
  fmt::print("{:<36}{:>10}{:>11}{:>11}", "all", "", text::seconds(program.traced), text::seconds(program.fastest));
  for (const std::string& policy : policies) {
    const auto& [seconds, unknown] = program.policies.at(policy);
    fmt::print("  {:>17}", seconds > 0 || unknown == 0 ? text::seconds(seconds) : "unknown");
  }
  fmt::print("\n");
  if (std::any_of(program.calls.begin(), program.calls.end(), [](const auto& one) { return one.equal_blocks; }))
    fmt::print("* blocks of different sizes, taken as equal ones\n");
  for (const std::string& policy : policies) {
    const std::int64_t unknown = program.policies.at(policy).unknown;
    if (unknown > 0) fmt::print("{}: {} calls are unknown, and not in its sum\n", policy, text::count(unknown));
  }
  for (const auto& [why, calls] : program.omitted) fmt::print("left out, {}: {} calls\n", why, text::count(calls));
}

void print_program_json(const forecast::TracedProgram& program, const std::string& file, const std::string& machine,
                        const forecast::Place& place) {
  nlohmann::ordered_json json = {{"format", "quadrille predicted trace 1"},
                                 {"trace", file},
                                 {"machine", machine},
                                 {"per_node", place.per_node},
                                 {"rack_nodes", place.rack_nodes},
                                 {"traced", program.traced},
                                 {"fastest", program.fastest}};
  for (const auto& [policy, total] : program.policies) {
    json["policies"][policy] = {{"seconds", total.seconds}, {"unknown_calls", total.unknown}};
  }
  for (const auto& [why, calls] : program.omitted) json["omitted"][why] = calls;
  json["calls"] = nlohmann::ordered_json::array();
  for (const forecast::TracedCalls& one : program.calls) {
    const forecast::Estimate& best = one.point.algorithms.front();
    nlohmann::ordered_json made = {{"collective", name(one.asked.collective)},
                                   {"ranks", one.asked.ranks},
                                   {"nodes", one.point.nodes},
                                   {"bytes", one.asked.bytes()},
                                   {"equal_blocks", one.equal_blocks},
                                   {"calls", one.calls},
                                   {"calls_of_mean_rank", one.rank_calls},
                                   {"traced", one.traced},
                                   {"fastest", {{"algorithm", name_of(best.variant)}, {"seconds", best.time.seconds}}}};
    for (const forecast::PolicyEstimate& policy : one.point.policies) {
      made["policies"][policy.policy] = {{"algorithm", policy.choice}};
      if (policy.time) made["policies"][policy.policy]["seconds"] = policy.time->seconds;
    }
    json["calls"].push_back(std::move(made));
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

void predict_trace(const std::string& file, const Settings& settings, const std::string& machine,
                   const forecast::Options& options, bool all, bool json) {
  const trace::Trace trace = trace::read(file);
  const forecast::TracedProgram program = forecast::estimate(trace, settings, options);
  if (json) {
    print_program_json(program, file, machine, options.place);
    return;
  }
  fmt::print("{}: {}, {} ranks under {}\n", file, trace.program, text::count(trace.ranks), trace.mpi);
  fmt::print("its time in collectives, of a mean rank, by {}\n", machine);
  fmt::print("{} rank{} a node; ~ by price, the others simulated; the traced time is {} waits for late ranks\n",
             options.place.per_node, options.place.per_node == 1 ? "" : "s", trace.waited() > 0 ? "without" : "with");
  print_program(program, all);
}

}  // namespace quadrille::tools
