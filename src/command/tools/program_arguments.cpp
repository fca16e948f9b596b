#include "tools/program_arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "launch/system.hpp"

namespace quadrille::tools {

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

Words without_separator(Words words) {
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (words.empty())
    throw std::invalid_argument("no program given: it follows the options, as in -- PROGRAM ARGUMENT...");
  return words;
}

std::string command_line(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += fmt::format("{}{}", line.empty() ? "" : " ", launch::shell_word(word));
  return line;
}

}  // namespace quadrille::tools
