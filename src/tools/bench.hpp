#pragma once

#include <optional>
#include <string>
#include <vector>

#include "draw/plot.hpp"
#include "measure/compare.hpp"
#include "measure/report.hpp"

namespace quadrille::tools {

// What `quadrille bench WORD...` without a nested command is to measure; nothing if the command line is another one.
// The words reach the benchmark as they are: CLI11 would find options and nested commands among them.
std::optional<std::vector<std::string>> benchmark_words(int count, const char* const* words);
// Measures. Returns the exit status.
int run_benchmark(std::vector<std::string> words);

// A report and what to call it.
struct Named {
  std::string name;
  measure::Report report;
};

// Throws std::invalid_argument that names the file if it can't be read or is no report.
measure::Report read_report(const std::string& path);
// By their labels; by their files where these are missing or alike.
std::vector<Named> read_reports(const std::vector<std::string>& paths);

// "Open MPI 4.1.4, 8 ranks on 2 nodes"
std::string setting_of(const measure::Provenance& from);

// What changed, for people and for programs.
std::string changes_as_text(const Named& before, const Named& after, const measure::CompareOptions& options,
                            const std::vector<measure::Change>& changes);
std::string changes_as_json(const measure::CompareOptions& options, const std::vector<measure::Change>& changes);

// Times against sizes, a panel for each collective; of the named ones, or of all. Throws std::invalid_argument if one
// of them is in none of the reports.
draw::Plot plot_of(const std::vector<Named>& reports, const std::vector<std::string>& collectives);

}  // namespace quadrille::tools
