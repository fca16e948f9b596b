#include "bench/output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "draw/plot.hpp"
#include "files/replace.hpp"
#include "learn/memory.hpp"
#include "measure/plot.hpp"
#include "measure/summary.hpp"
#include "measure/tuning.hpp"
#include "select/table.hpp"
#include "settings/machine.hpp"

namespace quadrille::bench {

namespace {

bool is_stream(const std::string& file) {
  return file == "-" || files::is_stream(file);
}

// At once, also where standard output is a pipe.
void print(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

// The table as it is now; others may change it during a run.
Table current_table(const std::string& file) {
  return std::filesystem::exists(file) ? read_table(file) : Table{};
}

}  // namespace

void write(const std::string& file, const std::string& text) {
  if (file == "-") return print(text);
  if (!file.empty()) files::replace_file(file, text);
}

std::optional<cost::Machine> machine_before(const std::string& file, const cost::Model& otherwise) {
  if (is_stream(file) || !std::filesystem::exists(file)) return std::nullopt;
  try {
    return cost::read_machine(file, otherwise);
  } catch (const std::invalid_argument& error) {
    const std::string old = files::keep_old(file);
    fmt::print(stderr, "quadrille probe: {}; {}\n", error.what(),
               old.empty() ? "it can't be kept, and is written anew" : "it is kept as " + old);
    return std::nullopt;
  }
}

Output::Output(const measure::BenchOptions& options, const measure::TableColumns& columns,
               const engine::Context& measured)
    : options_(options), columns_(columns), measured_(measured) {}

std::string Output::wrong_with_files(const measure::BenchOptions& options) {
  for (const std::string& file : {options.json, options.csv, options.plot, options.table}) {
    const bool output = file == "-" && file != options.table;
    if (!file.empty() && !output && !files::is_replaceable(file)) return fmt::format("can't write {}", file);
  }
  if (options.remember && learned_folder_here().empty()) {
    return "--remember: there is no cache of this user: set HOME or XDG_CACHE_HOME";
  }
  try {
    if (!options.table.empty()) current_table(options.table);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

void Output::begin(const measure::Report& report) {
  if (has_table()) print(origin_text(report.provenance));
}

void Output::add_cell(const measure::Report& report, std::span<const measure::Point> cell) {
  if (has_table()) print(cell_text(cell, columns_));
  if (options_.csv == "-") print_csv(report);
  write_files(report, false);
  if (!options_.table.empty()) record_tuning(report);
  if (options_.remember) remember(report);
}

void Output::end(const measure::Report& report) {
  if (has_table()) print(summary_text(report.points));
  for (const std::string& warning : report.provenance.warnings) {
    fmt::print(stderr, "quadrille bench: warning: {}\n", warning);
  }
  write_files(report, true);
  const std::string place =
      fmt::format("{} ranks and {} nodes", report.provenance.ranks, measured_.selector().placement().nodes);
  if (!options_.table.empty()) {
    fmt::print(stderr, "quadrille bench: {} rules for {} are in {}\n", rules_, place, options_.table);
  }
  if (options_.remember && !complained_) {
    fmt::print(stderr, "quadrille bench: {} findings for {} are remembered: quadrille knows shows them\n", remembered_,
               place);
  }
}

void Output::write_files(const measure::Report& report, bool streams_too) {
  const auto is_due = [&](const std::string& file) { return !file.empty() && (streams_too || !is_stream(file)); };
  if (is_due(options_.json)) write(options_.json, to_json(report));
  if (is_due(options_.csv) && options_.csv != "-") write(options_.csv, to_csv(report));
  if (is_due(options_.plot) && !report.points.empty()) {
    write(options_.plot, draw::plot(measure::plot_of({{options_.label, report}},
                                                     {.value = measure::PlotOptions::Value::times_and_ratios})));
  }
}

void Output::print_csv(const measure::Report& report) {
  const std::string all = to_csv(report);
  print(all.substr(csv_printed_));
  csv_printed_ = all.size();
}

void Output::record_tuning(const measure::Report& report) {
  Table table = current_table(options_.table);
  Section section =
      measure::tuning_section(report, measured_.selector().placement().nodes, measured_.settings().preferences.segment);
  rules_ = section.lines.size();
  put(table, std::move(section), measure::measured_collectives(report));
  files::replace_file(options_.table, to_text(table));
}

void Output::remember(const measure::Report& report) {
  const Section section = measure::tuning_section(report, measured_.selector().placement().nodes,
                                                  measured_.settings().preferences.segment, {.to_remember = true});
  remembered_ = section.lines.size();
  const std::string complaint =
      learn::remember(learned_folder_here(), learn::findings_in({.comments = {}, .sections = {section}}));
  if (complaint.empty() || std::exchange(complained_, true)) return;
  fmt::print(stderr, "quadrille bench: {}\n", complaint);
}

}  // namespace quadrille::bench
