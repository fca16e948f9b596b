#include "tools/program.hpp"

#include <CLI/CLI.hpp>
#include <stdexcept>

namespace quadrille::tools {

void add_program(CLI::App* command, const char* name, Words& words, const char* text) {
  command->add_option(name, words, text)->required();
  command->positionals_at_end();
}

Words without_dashes(Words words) {
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (words.empty()) throw std::invalid_argument("which program? It goes behind the dashes: -- PROGRAM ARGUMENT...");
  return words;
}

}  // namespace quadrille::tools
