#include "tools/bench.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "files/replace.hpp"
#include "measure/bench_options.hpp"
#include "tools/commands.hpp"
#include "tools/option_values.hpp"

namespace quadrille::tools {

namespace {

// "5%" or "0.05".
double parse_share(std::string text) {
  const std::string given = text;
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  while (text.ends_with(' ')) text.pop_back();
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool understood = error == std::errc() && rest == text.data() + text.size();
  // A bare 5 more likely means 5 % than 500 %.
  if (!understood || !(value >= 0 && value < (percent ? 1000 : 1))) {
    throw std::invalid_argument(fmt::format("--threshold: expected a value such as 5% or 0.05, not '{}'", given));
  }
  return percent ? value / 100 : value;
}

void add_compare(CLI::App& bench, Exit& exit) {
  struct Arguments {
    std::string before;
    std::string after;
    std::string threshold = "5%";
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = bench.add_subcommand("compare", "Compare two reports; exit status 1 if anything got slower");
  command->add_option("BEFORE", arguments->before, "The report to compare with")->required();
  command->add_option("AFTER", arguments->after, "The report to judge")->required();
  command->add_option("--threshold", arguments->threshold, "Ignore smaller changes; default: 5%");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &exit] {
    const std::vector<NamedReport> reports = read_reports({arguments->before, arguments->after});
    measure::CompareOptions options;
    options.threshold = parse_share(arguments->threshold);
    const std::vector<measure::Change> changes = measure::compare(reports[0].report, reports[1].report, options);
    const auto compared = [](const measure::Change& change) { return change.before && change.after; };
    if (std::none_of(changes.begin(), changes.end(), compared)) {
      throw std::invalid_argument(
          fmt::format("{} and {} have nothing in common: no collective with the same size and variant",
                      arguments->before, arguments->after));
    }
    fmt::print("{}", arguments->json ? changes_as_json(reports[0], reports[1], options, changes)
                                     : changes_as_text(reports[0], reports[1], options, changes));
    const auto is_loss = [](const measure::Change& change) { return change.is_loss(); };
    exit = std::any_of(changes.begin(), changes.end(), is_loss) ? 1 : 0;
  });
}

void add_plot(CLI::App& bench) {
  struct Arguments {
    std::vector<std::string> reports;
    measure::PlotOptions view;
    std::string output;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = bench.add_subcommand("plot", "Plot the times of one or more reports against sizes or ranks");
  command->add_option("REPORT", arguments->reports, "Reports; several are distinguished by their labels")->required();
  command->add_option("--output", arguments->output, "The SVG file to write")->required();
  command->add_option("--collective", arguments->view.collectives, "Only this collective; may be repeated")
      ->allow_extra_args(false)
      ->transform(collective_names());
  const std::map<std::string, measure::PlotOptions::Against> axes = {{"sizes", measure::PlotOptions::Against::sizes},
                                                                     {"ranks", measure::PlotOptions::Against::ranks}};
  command
      ->add_option("--against", arguments->view.against,
                   "The x axis; with ranks, each report is one point of every line")
      ->transform(CLI::CheckedTransformer(axes).description(""))
      ->type_name("sizes|ranks")
      ->default_str("sizes");
  const auto add_flag = [&](const char* name, measure::PlotOptions::Value value, const char* text) {
    return command->add_flag_callback(
        name, [arguments, value] { arguments->view.value = value; }, text);
  };
  CLI::Option* const rates =
      add_flag("--rates", measure::PlotOptions::Value::rates, "Plot sizes divided by times instead of times");
  CLI::Option* const ratios = add_flag("--ratios", measure::PlotOptions::Value::ratios,
                                       "Plot times relative to the MPI's own call instead of times");
  CLI::Option* const both = add_flag("--both", measure::PlotOptions::Value::times_and_ratios,
                                     "Plot times and, beside them, times relative to the MPI's own call");
  rates->excludes(ratios)->excludes(both);
  ratios->excludes(both);
  command->callback([arguments] {
    files::replace_file(arguments->output,
                        draw::plot(measure::plot_of(read_reports(arguments->reports), arguments->view)));
  });
}

}  // namespace

measure::Report read_report(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text) throw std::invalid_argument(fmt::format("can't read {}: no such file, or an empty one", path));
  try {
    return measure::report_from_json(text.str());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", path, error.what()));
  }
}

std::vector<NamedReport> read_reports(const std::vector<std::string>& paths) {
  std::vector<NamedReport> reports;
  for (const std::string& path : paths) {
    measure::Report report = read_report(path);
    std::string label = report.provenance.label;
    reports.push_back({std::move(label), std::move(report)});
  }
  bool clear = true;
  for (const NamedReport& one : reports) {
    const auto alike = [&one](const NamedReport& other) { return other.name == one.name; };
    clear &= !one.name.empty() && std::count_if(reports.begin(), reports.end(), alike) == 1;
  }
  if (!clear) {
    for (std::size_t i = 0; i < paths.size(); ++i) reports[i].name = paths[i];
  }
  return reports;
}

std::optional<std::vector<std::string>> benchmark_words(int count, const char* const* words) {
  if (count < 2 || std::string_view(words[1]) != "bench") return {};
  const std::string_view next = count > 2 ? words[2] : "";
  if (next == "compare" || next == "plot" || next == "-h" || next == "--help") return {};
  return std::vector<std::string>(words + 2, words + count);
}

void add_bench(CLI::App& app, Exit& exit) {
  auto* command = app.add_subcommand("bench", "Measure collectives; compare and plot the reports");
  command->footer(
      "Without 'compare' or 'plot' it measures and must be started under mpirun: mpirun -n 4 quadrille bench "
      "allreduce");
  // For the help only: the arguments are passed unchanged to the benchmark for the right MPI.
  measure::add_options(*command);
  command->add_option("--mpi", "openmpi or mpich, if the launcher does not determine it");
  add_compare(*command, exit);
  add_plot(*command);
}

}  // namespace quadrille::tools
