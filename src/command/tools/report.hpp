#pragma once

#include <filesystem>
#include <string>

#include "tools/program_arguments.hpp"

namespace quadrille::tools {

// Whether a report to this file is to be a page.
bool is_page(const std::string& path);

// Where the drop-in writes the report that a page is made of: beside it.
std::filesystem::path report_beside(const std::filesystem::path& page);

// Runs a program whose drop-in writes a report to `report`, then makes the page of it, also if the program failed. The
// exit status is the program's.
int run_for_page(const Words& command, const std::filesystem::path& report, const std::filesystem::path& page);

}  // namespace quadrille::tools
