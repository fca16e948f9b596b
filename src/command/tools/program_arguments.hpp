#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace quadrille::tools {

using Words = std::vector<std::string>;

// For a subcommand that starts a program: all arguments after the first are the program's, also those with dashes, each
// unchanged. `words` must live until they are parsed.
void add_program(CLI::App* command, const char* name, Words& words, const char* text);

// Removes a leading "--", which CLI11 passes on if another argument precedes it. Throws std::invalid_argument if no
// program is left.
Words without_separator(Words words);

// As a shell would read it.
std::string command_line(const Words& words);

}  // namespace quadrille::tools
