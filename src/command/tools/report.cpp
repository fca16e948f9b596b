#include "tools/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "files/replace.hpp"
#include "profile/profile.hpp"
#include "tools/commands.hpp"
#include "tools/drop_in.hpp"

namespace quadrille::tools {

namespace {

struct ReportArguments {
  std::string file;
  std::optional<std::string> output;
};

profile::Profile read_profile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(fmt::format("can't read {}", path));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  try {
    return profile::from_json(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", path, error.what()));
  }
}

void show_report(const ReportArguments& arguments) {
  const profile::Profile profile = read_profile(arguments.file);
  if (!arguments.output) {
    fmt::print("{}", to_text(profile));
  } else if (*arguments.output == "-") {
    fmt::print("{}", to_html(profile));
  } else {
    files::replace_file(*arguments.output, to_html(profile));
  }
}

}  // namespace

bool is_page(const std::string& path) {
  return path.ends_with(".html") || path.ends_with(".htm");
}

std::filesystem::path report_beside(const std::filesystem::path& page) {
  return page.parent_path() / fmt::format(".{}.{}.json", page.filename().string(), getpid());
}

int run_for_page(const Words& command, const std::filesystem::path& report, const std::filesystem::path& page) {
  if (!files::is_replaceable(page)) throw std::invalid_argument(fmt::format("can't write to {}", page.string()));
  const int status = run_to_end(command);
  if (!std::filesystem::exists(report)) {
    fmt::print(stderr, "quadrille: no page: the program wrote no report, which it does in MPI_Finalize\n");
    return status;
  }
  files::replace_file(page, to_html(read_profile(report)));
  std::error_code none;
  std::filesystem::remove(report, none);
  return status;
}

void add_report(CLI::App& app, Exit&) {
  const auto arguments = std::make_shared<ReportArguments>();
  auto* command = app.add_subcommand("report", "Show a report of the drop-in, or make a page of it");
  command->footer(
      "Example: quadrille run --report=run.json -- mpirun -n 4 ./program; quadrille report run.json --output run.html. "
      "In one step: quadrille run --report=run.html -- mpirun -n 4 ./program.");
  command->add_option("FILE", arguments->file, "Written by quadrille run --report=FILE or QUADRILLE_REPORT=FILE")
      ->required();
  command->add_option("--output", arguments->output, "Write a page to this HTML file instead of printing text");
  command->callback([arguments] { show_report(*arguments); });
}

}  // namespace quadrille::tools
