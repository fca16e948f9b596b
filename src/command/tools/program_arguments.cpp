#include "tools/program_arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "launch/command.hpp"
#include "launch/system.hpp"

namespace quadrille::tools {

namespace {

// That of `quadrille cluster run --mpi`.
std::optional<launch::Mpi> mpi_of_cluster(const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    if (words[i] == "--mpi") return launch::mpi_named(words[i + 1]);
    if (words[i].starts_with("--mpi=")) return launch::mpi_named(words[i].substr(6));
  }
  return std::nullopt;
}

}  // namespace

void add_program(CLI::App* command, const char* name, Words& words, const char* text) {
  constexpr int any_number = CLI::detail::expected_max_vector_size;
  auto* option = command->add_option(name, words, text)->required();
  // CLI11 splits an argument such as [a,b] unless the minimum and maximum number of arguments are equal. So both are
  // the maximum until the arguments are parsed.
  option->allow_extra_args(false)->expected(any_number, any_number);
  option->check([option](const std::string&) {
    option->expected(1, any_number);
    return std::string();
  });
  command->positionals_at_end();
}

Words words_behind(std::string_view subcommand, int& count, const char* const* words) {
  if (count < 2 || words[1] != subcommand) return {};
  const char* const* const end = words + count;
  const char* const* const separator = std::find(words, end, std::string_view("--"));
  if (separator == end) return {};
  count = static_cast<int>(separator - words);
  return {separator + 1, end};
}

Words without_separator(Words words) {
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (words.empty())
    throw std::invalid_argument("no program given: it follows the options, as in -- PROGRAM ARGUMENT...");
  return words;
}

launch::Launcher require_launcher(const Words& words, const char* remedy) {
  if (const auto launcher = launch::detect_launcher(words)) return *launcher;
  throw std::invalid_argument(
      fmt::format("unknown launcher '{}': supported are mpirun and mpiexec of Open MPI and MPICH, srun, and quadrille "
                  "cluster run{}",
                  words.front(), remedy));
}

std::optional<launch::Mpi> mpi_of_launch(const std::optional<std::string>& option, const Words& words,
                                         launch::Launcher launcher) {
  if (option) {
    if (const auto mpi = launch::mpi_named(*option)) return mpi;
    throw std::invalid_argument(fmt::format("--mpi: '{}' is neither openmpi nor mpich", *option));
  }
  if (const auto mpi = launch::mpi_of(launcher)) return mpi;
  return launcher == launch::Launcher::cluster ? mpi_of_cluster(words) : std::nullopt;
}

bool names_launcher(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename();
  return name.starts_with("mpirun") || name.starts_with("mpiexec") || name == "orterun" || name == "srun";
}

void require_program(const std::string& program) {
  if (launch::find_program(program)) return;
  const bool exists = program.find('/') != std::string::npos && std::filesystem::exists(program);
  throw std::invalid_argument(
      exists ? fmt::format("{} is not executable: chmod +x {}", program, program)
      : program.find('/') != std::string::npos
          ? fmt::format("there is no program {}", program)
          : fmt::format("there is no program {} in the PATH: write ./{} if it is in this folder", program, program));
}

std::string command_line(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += fmt::format("{}{}", line.empty() ? "" : " ", launch::shell_word(word));
  return line;
}

}  // namespace quadrille::tools
