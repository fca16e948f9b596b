#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "breakdown/breakdown.hpp"
#include "files/replace.hpp"
#include "graph/decompose.hpp"
#include "text/quantities.hpp"
#include "tools/commands.hpp"
#include "tools/source.hpp"

namespace quadrille::tools {

namespace {

struct MatrixArguments {
  SourceArguments source;
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

Matrix matrix_of(const MatrixArguments& arguments) {
  const graph::Source source = source_of(arguments.source);
  graph::Decomposed all = source.sent({});
  if (arguments.only == "messages") return {source.title + ", messages", "", std::move(all.messages)};
  if (arguments.only == "collectives") {
    return {source.title + ", collectives", source.policy, all.collectives(), std::move(all.omitted)};
  }
  for (const graph::Graph& one : all.phases) all.messages.add(one);
  return {source.title, source.policy, std::move(all.messages), std::move(all.omitted)};
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
  Matrix matrix = matrix_of(arguments);
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
  add_source_options(command, arguments->source);
  command->add_option("--only", arguments->only, "Of a trace: messages or collectives alone")
      ->check(CLI::IsMember({"messages", "collectives"}));
  command->add_flag("--messages", arguments->messages, "Count messages instead of bytes");
  command->add_flag("--symmetric", arguments->symmetric, "Add up both directions of each pair");
  command->add_option("--svg", arguments->svg, "Draw a heat map to this file");
  command->add_flag("--json", arguments->json, "Print JSON: pairs as [from, to, messages, bytes]");
  command->callback([arguments] { show_matrix(*arguments); });
}

}  // namespace quadrille::tools
