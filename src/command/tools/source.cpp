#include "tools/source.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "graph/policy.hpp"
#include "knowledge/library.hpp"
#include "measure/bench_options.hpp"
#include "settings/machine.hpp"
#include "settings/settings.hpp"

namespace quadrille::tools {

namespace {

graph::Policy policy_with(const SourceArguments& arguments, std::string_view by_default) {
  const std::string name = arguments.policy.empty() ? std::string(by_default) : arguments.policy;
  const knowledge::Library* const library = knowledge::library_with_policy(name);
  cost::Model model = machine_named(arguments.machine).model;
  if (model.cores == 0) model.cores = arguments.cores;
  graph::Policy policy = library ? graph::policy_of(*library)
                                 : graph::quadrille_policy(model, check_settings(setting).shared_bytes(false));
  for (const std::string& text : arguments.algorithms) {
    const std::size_t equals = text.find('=');
    const auto collective = collective_named(text.substr(0, equals));
    const Variant variant =
        collective && equals != std::string::npos ? variant_named(*collective, text.substr(equals + 1)) : Variant{};
    if (!variant || variant.width < 0) {
      throw std::invalid_argument(
          fmt::format("--algorithm: '{}': expected a collective and its algorithm, as alltoall=bruck", text));
    }
    policy = graph::with(std::move(policy), *collective, variant);
  }
  return policy;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::int64_t bytes_of(const std::string& text) {
  const std::vector<std::int64_t> sizes = measure::parse_sizes(text);
  if (sizes.size() != 1) throw std::invalid_argument(fmt::format("'{}': expected one size", text));
  return sizes.front();
}

// 8x8, as many as the name says: stencil2d.
std::vector<Rank> extents_of(const std::string& text, const std::string& name) {
  std::vector<Rank> extents;
  for (const std::string& one : split(text, 'x')) {
    const bool is_number = !one.empty() && one.size() < 8 && one.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || one == "0") throw std::invalid_argument(fmt::format("'{}': expected extents as 8x8", text));
    extents.push_back(std::stoi(one));
  }
  constexpr std::int64_t most = 1 << 20;
  std::int64_t ranks = 1;
  for (const Rank extent : extents) ranks = std::min(ranks * extent, most + 1);
  if (ranks > most) throw std::invalid_argument(fmt::format("'{}': more than {} ranks", text, most));
  if (name.ends_with(fmt::format("{}d", extents.size()))) return extents;
  throw std::invalid_argument(fmt::format("'{}': {} needs another number of extents", text, name));
}

graph::Source source_of_pattern(const SourceArguments& arguments) {
  const std::vector<std::string> parts = split(arguments.what, ':');
  const std::string& name = parts.front();
  const bool periodic = name.starts_with("torus");
  if ((periodic || name.starts_with("stencil")) && parts.size() == 3) {
    const graph::Graph grid = graph::grid(extents_of(parts[1], name), periodic, bytes_of(parts[2]));
    return {.title = arguments.what, .policy = "", .ranks = grid.ranks(), .sent = [grid](std::span<const Place>) {
              return graph::Decomposed{grid};
            }};
  }
  const auto collective = collective_named(name);
  if (!collective || parts.size() > 2) {
    throw std::invalid_argument(fmt::format(
        "'{}' is neither a file nor a pattern such as alltoall:64KiB, stencil2d:8x8:4KiB, torus3d:4x4x4:1KiB",
        arguments.what));
  }
  if (!sizes_are_known(*collective)) {
    throw std::invalid_argument(fmt::format("{}: each pair has a size of its own; trace a program instead", name));
  }
  if (arguments.ranks < 2) throw std::invalid_argument("-n: expected at least 2 ranks");
  const std::int64_t bytes = parts.size() == 2 ? bytes_of(parts[1]) : 0;
  const graph::Policy policy = policy_with(arguments, knowledge::own_policy);
  const quadrille::Placement apart{.ranks = arguments.ranks, .nodes = arguments.ranks, .ranks_per_node = 1};
  const Case asked = case_of_bytes(*collective, bytes, apart);
  return {.title = arguments.what,
          .policy = policy.name,
          .ranks = arguments.ranks,
          .knows_nodes = policy.knows_nodes,
          .sent = [asked, policy](std::span<const Place> places) {
            graph::Decomposed all{graph::Graph(asked.ranks)};
            all.phases.push_back(graph::graph_of(asked, policy, places));
            return all;
          }};
}

graph::Source source_of_trace(const SourceArguments& arguments) {
  const auto trace = std::make_shared<const trace::Trace>(trace::read(arguments.what));
  const knowledge::Library* const below = knowledge::library_of(trace->mpi);
  const graph::Policy policy = policy_with(arguments, below ? below->policy : knowledge::own_policy);
  return {.title = std::filesystem::path(arguments.what).filename().string(),
          .policy = policy.name,
          .ranks = trace->ranks,
          .knows_nodes = policy.knows_nodes,
          .sent = [trace, policy](std::span<const Place> places) { return graph::decompose(*trace, policy, places); }};
}

}  // namespace

cost::Machine machine_named(const std::string& file) {
  cost::Machine machine = file.empty() ? machine_of_any_mpi("") : cost::read_machine(file, built_in_here().model);
  if (!file.empty()) machine.from = fmt::format("{} ({})", file, machine.from);
  return machine;
}

void add_source_options(CLI::App* command, SourceArguments& arguments) {
  command
      ->add_option("WHAT", arguments.what,
                   "A trace, or a pattern: a collective with the bytes of a rank's data, as alltoall:64KiB; "
                   "stencil2d:8x8:4KiB, or torus with neighbours around the edges; also 1d, 3d")
      ->required();
  command->add_option("-n", arguments.ranks, "Number of ranks, for a collective");
  command->add_option(
      "--policy", arguments.policy,
      fmt::format("Whose algorithms collectives are run by: {}; default: those of the trace's MPI, if they "
                  "are known, else ours",
                  knowledge::policy_names()));
  command
      ->add_option("--algorithm", arguments.algorithms, "As alltoall=bruck, instead of the policy's; may be repeated")
      ->allow_extra_args(false);
}

graph::Source source_of(const SourceArguments& arguments) {
  return std::filesystem::exists(arguments.what) ? source_of_trace(arguments) : source_of_pattern(arguments);
}

}  // namespace quadrille::tools
