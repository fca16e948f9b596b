#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace quadrille::tools {

using Words = std::vector<std::string>;

// For a subcommand that starts a program: behind the first word all words are the program's, also those with dashes,
// and each as it was given. `words` must live until they are parsed.
void add_program(CLI::App* command, const char* name, Words& words, const char* text);

// CLI11 takes the dashes in front of the program for a word of it, where another word stands before them. Throws
// std::invalid_argument if no program is left.
Words without_separator(Words words);

}  // namespace quadrille::tools
