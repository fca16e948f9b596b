#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/program_arguments.hpp"

namespace quadrille::tools {

// The command lines of a comparison.
struct ComparedCommands {
  Words without;
  Words with;
  Words observed;  // passes all calls through, and writes a report
  std::filesystem::path report;
};

// Where the ranks may write a file that this process can read.
std::filesystem::path temporary_report();

// Runs a program without and with the drop-in, so many times each, and prints what is faster. The exit status is that
// of the first run that fails.
int compare_runs(const ComparedCommands& commands, std::size_t pairs, const std::optional<std::string>& json);

}  // namespace quadrille::tools
