#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "algorithms/catalogue.hpp"
#include "tools/commands.hpp"
#include "tools/illustration.hpp"
#include "variables/variables.hpp"

namespace quadrille::tools {

namespace {

constexpr std::string_view introduction =
    "# Algorithms\n"
    "\n"
    "Written by `quadrille document` from the catalogue: do not edit it, generate it again.\n"
    "\n"
    "In the formulas p is the number of ranks, n the bytes of one rank's data or, where there is a block for each "
    "rank, "
    "of a block, m the number of segments, w how many of them are in flight, k the width, a the latency of a message, "
    "b "
    "the time to send a byte, c the time to reduce one. Steps are counted where each rank sends one message and "
    "receives one at a time.\n"
    "\n"
    "In the drawings ranks stand side by side, and time runs down: a step a row, a message an arrow.\n";

// As many ranks as can be drawn legibly.
Problem problem_for(const Algorithm& algorithm) {
  constexpr std::int64_t most_messages = 50;
  Problem problem;
  problem.ranks = 8;
  const auto predicted = predict(algorithm, with_data(algorithm, problem));
  if (predicted && predicted->messages > most_messages) problem.ranks = 6;
  return with_data(algorithm, problem);
}

std::string image_of(const Algorithm& algorithm) {
  return fmt::format("images/algorithms/{}-{}.svg", name(algorithm.collective), algorithm.name);
}

// In the table of a document; "" leaves the row out.
std::string row(std::string_view what, std::string_view text) {
  return text.empty() ? "" : fmt::format("| {} | {} |\n", what, text);
}

std::string formula(std::string_view text) {
  return text.empty() ? "" : fmt::format("`{}`", text);
}

std::string sentence(std::string_view text) {
  std::string all(text);
  if (!all.empty()) all.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(all.front())));
  return all + ".";
}

std::string lower(std::string_view text) {
  std::string all(text);
  for (char& letter : all) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return all;
}

std::string width_of(const Algorithm& algorithm) {
  if (algorithm.width == 0) return "";
  return fmt::format("{} unless chosen, as in `{}:{}`", algorithm.width, algorithm.name, 2 * algorithm.width);
}

std::string section(const Algorithm& algorithm, const draw::Title& title) {
  const auto restrictions = descriptions(algorithm.restrictions);
  const bool reduces = traits(algorithm.collective).reduces;
  const std::string_view collective = name(algorithm.collective);
  std::string text =
      fmt::format("\n### {} {}\n\n{}\n\n| | |\n|---|---|\n", collective, algorithm.name, sentence(algorithm.summary));
  text += row("steps", formula(algorithm.steps));
  text += row("cost", formula(algorithm.cost));
  text += row("scratch", formula(algorithm.scratch));
  text += row("restrictions", restrictions.empty() ? "none" : fmt::format("{}", fmt::join(restrictions, ", ")));
  text += row("pipelines", algorithm.segmented ? "yes" : "no");
  text += row("keeps a fixed order", !reduces ? "" : algorithm.fixed_order ? "yes" : "no");
  text += row("width", width_of(algorithm));
  text += row("paper", algorithm.paper);
  return text + fmt::format("\n![{}: {}]({})\n", title.heading, title.subheading, image_of(algorithm));
}

// A line a collective with links to its algorithms.
std::string contents() {
  std::string text = "\n| collective | algorithms |\n|---|---|";
  const Algorithm* before = nullptr;
  for (const Algorithm* one : catalogue()) {
    const std::string_view collective = name(one->collective);
    const bool first = !before || before->collective != one->collective;
    if (first) text += fmt::format("{}\n| [{}](#{}) | ", before ? " |" : "", collective, collective);
    text += fmt::format("{}[{}](#{}-{})", first ? "" : ", ", one->name, collective, one->name);
    before = one;
  }
  return text + " |\n";
}

// The table of variables, in a document that has a place for it.
void update_variables(const std::filesystem::path& path) {
  constexpr std::string_view begin = "<!-- The table is written by `quadrille document`. -->\n";
  constexpr std::string_view end = "<!-- Its end. -->\n";
  if (!std::filesystem::exists(path)) return;
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t first = text.find(begin);
  const std::size_t last = text.find(end);
  if (first == std::string::npos || last == std::string::npos) return;
  std::string table = "| variable | option of `quadrille run` | default | what it does |\n|---|---|---|---|\n";
  for (const variables::Variable& one : variables::all()) {
    table += fmt::format("| [`{}`](#{}) | {} | {} | {} |\n", one.name, lower(one.name), formula(one.option),
                         one.unless_set, one.meaning);
  }
  text.replace(first + begin.size(), last - first - begin.size(), table);
  write_file(path, text);
}

void write_documents(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "images" / "algorithms");
  std::string text = std::string(introduction) + contents();
  const Algorithm* before = nullptr;
  for (const Algorithm* one : catalogue()) {
    if (!before || before->collective != one->collective) text += fmt::format("\n## {}\n", name(one->collective));
    const Illustration all = illustrate(*one, problem_for(*one));
    write_file(folder / image_of(*one), draw::svg(all.subject, all.title));
    text += section(*one, all.title);
    before = one;
  }
  write_file(folder / "algorithms.md", text);
  update_variables(folder / "environment.md");
}

}  // namespace

void add_document(CLI::App& app, Exit&) {
  const auto folder = std::make_shared<std::string>();
  auto* command = app.add_subcommand("document", "Write a document of all algorithms, with a drawing of each");
  command
      ->add_option("--output", *folder,
                   "The folder to write algorithms.md and images/algorithms/ to; the table in its environment.md is "
                   "written anew")
      ->required();
  command->callback([folder] { write_documents(*folder); });
}

}  // namespace quadrille::tools
