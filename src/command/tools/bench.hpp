#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/compare.hpp"
#include "measure/plot.hpp"

namespace quadrille::tools {

using measure::NamedReport;

// What `quadrille bench WORD...` without a nested command is to measure; nothing if the command line is another one.
// The words reach the benchmark as they are: CLI11 would find options and nested commands among them.
std::optional<std::vector<std::string>> benchmark_words(int count, const char* const* words);
// Becomes the program for an MPI that has ranks, with these words. Throws std::invalid_argument if there is none.
int exec_mpi_program(const std::string& mpi, std::vector<std::string> words);
// Measures. Returns the exit status.
int run_benchmark(std::vector<std::string> words);

// Throws std::invalid_argument that names the file if it can't be read or is no report.
measure::Report read_report(const std::string& path);
// By their labels; by their files where these are missing or alike.
std::vector<NamedReport> read_reports(const std::vector<std::string>& paths);

// What changed, for people and for programs.
std::string changes_as_text(const NamedReport& before, const NamedReport& after, const measure::CompareOptions& options,
                            const std::vector<measure::Change>& changes);
std::string changes_as_json(const NamedReport& before, const NamedReport& after, const measure::CompareOptions& options,
                            const std::vector<measure::Change>& changes);

}  // namespace quadrille::tools
