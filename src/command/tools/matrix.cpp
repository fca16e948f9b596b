#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "breakdown/breakdown.hpp"
#include "files/replace.hpp"
#include "graph/decompose.hpp"
#include "graph/policy.hpp"
#include "knowledge/library.hpp"
#include "measure/bench_options.hpp"
#include "settings/machine.hpp"
#include "text/quantities.hpp"
#include "tools/commands.hpp"

namespace quadrille::tools {

namespace {

struct MatrixArguments {
  std::string what;
  Rank ranks = 0;
  std::string policy;
  std::vector<std::string> algorithms;
  std::string only;
  std::string svg;
  bool messages = false;
  bool symmetric = false;
  bool json = false;
};

// What is to be shown.
struct Matrix {
  std::string title;
  std::string policy;  // empty: nothing was decomposed
  graph::Graph graph;
  std::vector<graph::Omitted> omitted = {};
  graph::Traffic total = graph.total();  // of both directions once, also if they are added up in each place
};

graph::Policy policy_named(const std::string& name) {
  if (const knowledge::Library* const library = knowledge::library_with_policy(name)) return graph::policy_of(*library);
  cost::Machine machine = machine_of_any_mpi("");
  if (machine.model.cores == 0) machine.model.cores = 1;
  return graph::quadrille_policy(machine.model);
}

graph::Policy policy_with(const MatrixArguments& arguments, std::string_view by_default) {
  graph::Policy policy = policy_named(arguments.policy.empty() ? std::string(by_default) : arguments.policy);
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

Matrix matrix_of_pattern(const MatrixArguments& arguments) {
  const std::vector<std::string> parts = split(arguments.what, ':');
  const std::string& name = parts.front();
  const bool periodic = name.starts_with("torus");
  if ((periodic || name.starts_with("stencil")) && parts.size() == 3) {
    return {arguments.what, "", graph::grid(extents_of(parts[1], name), periodic, bytes_of(parts[2]))};
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
  const Placement apart{.ranks = arguments.ranks, .nodes = arguments.ranks, .ranks_per_node = 1};
  return {arguments.what, policy.name, graph::graph_of(case_of_bytes(*collective, bytes, apart), policy)};
}

Matrix matrix_of_trace(const MatrixArguments& arguments) {
  const trace::Trace trace = trace::read(arguments.what);
  const knowledge::Library* const below = knowledge::library_of(trace.mpi);
  const graph::Policy policy = policy_with(arguments, below ? below->policy : knowledge::own_policy);
  graph::Decomposed all = graph::decompose(trace, policy);
  const std::string title = std::filesystem::path(arguments.what).filename().string();
  if (arguments.only == "messages") return {title + ", messages", "", std::move(all.messages)};
  if (arguments.only == "collectives") {
    return {title + ", collectives", policy.name, std::move(all.collectives), std::move(all.omitted)};
  }
  all.messages.add(all.collectives);
  return {title, policy.name, std::move(all.messages), std::move(all.omitted)};
}

std::int64_t measured(const graph::Traffic& traffic, const MatrixArguments& arguments) {
  return arguments.messages ? traffic.messages : traffic.bytes;
}

// All of a small matrix, of a large one the pairs with the most.
void print_matrix(const Matrix& matrix, const MatrixArguments& arguments) {
  constexpr Rank small = 16;
  constexpr std::size_t most = 20;
  fmt::print("{}{}: {} ranks, {} pairs, {} messages, {}\n", matrix.title,
             matrix.policy.empty() ? "" : " by " + matrix.policy, matrix.graph.ranks(),
             text::count(matrix.graph.pairs()), text::count(matrix.total.messages),
             text::about_bytes(matrix.total.bytes));
  for (const graph::Omitted& one : matrix.omitted) {
    fmt::print("left out: {} calls of {}: {}\n", text::count(one.calls), one.collective, one.why);
  }
  if (matrix.graph.ranks() <= small) {
    std::size_t width = 2;
    for (const auto& [from, row] : matrix.graph.rows()) {
      for (const auto& [to, traffic] : row) {
        width = std::max(width, std::to_string(measured(traffic, arguments)).size());
      }
    }
    for (Rank from = 0; from < matrix.graph.ranks(); ++from) {
      std::string line;
      for (Rank to = 0; to < matrix.graph.ranks(); ++to) {
        const std::int64_t value = measured(matrix.graph.between(from, to), arguments);
        line += fmt::format(" {:>{}}", value == 0 ? "." : std::to_string(value), width);
      }
      fmt::print(" {}\n", line);
    }
    return;
  }
  std::vector<std::pair<std::int64_t, std::pair<Rank, Rank>>> pairs;
  for (const auto& [from, row] : matrix.graph.rows()) {
    for (const auto& [to, traffic] : row) pairs.push_back({-measured(traffic, arguments), {from, to}});
  }
  std::sort(pairs.begin(), pairs.end());
  for (std::size_t i = 0; i < std::min(most, pairs.size()); ++i) {
    const auto& [from, to] = pairs[i].second;
    const graph::Traffic traffic = matrix.graph.between(from, to);
    fmt::print("  {} -> {}: {} messages, {}\n", from, to, text::count(traffic.messages),
               text::about_bytes(traffic.bytes));
  }
  if (pairs.size() > most) fmt::print("  {} more\n", text::count(static_cast<std::int64_t>(pairs.size() - most)));
}

void print_matrix_json(const Matrix& matrix) {
  nlohmann::ordered_json json = {{"of", matrix.title},
                                 {"policy", matrix.policy},
                                 {"ranks", matrix.graph.ranks()},
                                 {"messages", matrix.total.messages},
                                 {"bytes", matrix.total.bytes}};
  json["pairs"] = nlohmann::ordered_json::array();
  for (const auto& [from, row] : matrix.graph.rows()) {
    for (const auto& [to, traffic] : row) json["pairs"].push_back({from, to, traffic.messages, traffic.bytes});
  }
  json["left_out"] = nlohmann::ordered_json::array();
  for (const graph::Omitted& one : matrix.omitted) {
    json["left_out"].push_back({{"collective", one.collective}, {"calls", one.calls}, {"why", one.why}});
  }
  fmt::print("{}\n", json.dump());
}

void show_matrix(const MatrixArguments& arguments) {
  Matrix matrix = std::filesystem::exists(arguments.what) ? matrix_of_trace(arguments) : matrix_of_pattern(arguments);
  if (arguments.symmetric) matrix.graph = matrix.graph.symmetric();
  if (!arguments.svg.empty()) {
    const auto measure = arguments.messages ? breakdown::Measure::messages : breakdown::Measure::bytes;
    const std::string heading =
        matrix.policy.empty() ? matrix.title : fmt::format("{} by {}", matrix.title, matrix.policy);
    files::replace_file(arguments.svg, breakdown::heat_map(matrix.graph, matrix.total, heading, measure));
  }
  if (arguments.json) {
    print_matrix_json(matrix);
  } else if (arguments.svg.empty()) {
    print_matrix(matrix, arguments);
  }
}

}  // namespace

void add_matrix(CLI::App& app, Exit&) {
  const auto arguments = std::make_shared<MatrixArguments>();
  auto* command = app.add_subcommand("matrix", "Show which rank sends how much to which, of a trace or a pattern");
  command->footer(
      "Examples: quadrille matrix quadrille.trace --svg matrix.svg; quadrille matrix alltoall:64KiB -n 16 --policy "
      "openmpi-4.1; quadrille matrix stencil2d:8x8:4KiB");
  command
      ->add_option("WHAT", arguments->what,
                   "A trace, or a pattern: a collective with the bytes of a rank's data, as alltoall:64KiB; "
                   "stencil2d:8x8:4KiB, or torus with neighbours around the edges; also 1d, 3d")
      ->required();
  command->add_option("-n", arguments->ranks, "Number of ranks, for a collective");
  command->add_option(
      "--policy", arguments->policy,
      "Whose algorithms collectives are run by: quadrille, openmpi-4.1, mpich-4.0; default: those of the "
      "trace's MPI, if they are known, else ours");
  command
      ->add_option("--algorithm", arguments->algorithms, "As alltoall=bruck, instead of the policy's; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--only", arguments->only, "Of a trace: messages or collectives alone")
      ->check(CLI::IsMember({"messages", "collectives"}));
  command->add_flag("--messages", arguments->messages, "Count messages instead of bytes");
  command->add_flag("--symmetric", arguments->symmetric, "Add up both directions of each pair");
  command->add_option("--svg", arguments->svg, "Draw a heat map to this file");
  command->add_flag("--json", arguments->json, "Print JSON: pairs as [from, to, messages, bytes]");
  command->callback([arguments] { show_matrix(*arguments); });
}

}  // namespace quadrille::tools
