#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "measure/compare.hpp"
#include "measure/plot.hpp"

namespace quadrille::tools {

using measure::NamedReport;

// The arguments of `quadrille bench` without a nested command; nothing for any other command line. They are passed to
// the benchmark unchanged: CLI11 would find options and nested commands among them.
std::optional<std::vector<std::string>> benchmark_words(int count, const char* const* words);
// The MPI that --mpi names or, if it is empty, whose launcher started this process; empty: neither.
std::string mpi_of_job(const std::string& option);
// The program built for this MPI. Throws std::invalid_argument if it is not installed.
std::filesystem::path mpi_program(const std::string& mpi);
// Executes it with these arguments.
int exec_mpi_program(const std::string& mpi, std::vector<std::string> words);
// Runs the benchmark. Returns the exit status.
int run_benchmark(std::vector<std::string> words);

// Throws std::invalid_argument that names the file if it can't be read or is not a report.
measure::Report read_report(const std::string& path);
// Named by their labels; by their files if labels are missing or not unique.
std::vector<NamedReport> read_reports(const std::vector<std::string>& paths);

// The result of a comparison as text and as JSON.
std::string changes_as_text(const NamedReport& before, const NamedReport& after, const measure::CompareOptions& options,
                            const std::vector<measure::Change>& changes);
std::string changes_as_json(const NamedReport& before, const NamedReport& after, const measure::CompareOptions& options,
                            const std::vector<measure::Change>& changes);

}  // namespace quadrille::tools
