#include "tools/program_arguments.hpp"

#include <CLI/CLI.hpp>
#include <stdexcept>

namespace quadrille::tools {

void add_program(CLI::App* command, const char* name, Words& words, const char* text) {
  constexpr int any_number = CLI::detail::expected_max_vector_size;
  auto* option = command->add_option(name, words, text)->required();
  // CLI11 makes several words of one such as [a,b], unless there may be no more words than are needed. So all are
  // needed, until they are there and looked at.
  option->allow_extra_args(false)->expected(any_number, any_number);
  option->check([option](const std::string&) {
    option->expected(1, any_number);
    return std::string();
  });
  command->positionals_at_end();
}

Words without_separator(Words words) {
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (words.empty()) throw std::invalid_argument("which program? It goes behind the dashes: -- PROGRAM ARGUMENT...");
  return words;
}

}  // namespace quadrille::tools
