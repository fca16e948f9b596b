#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/preload.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace quadrille::tools {

using Words = std::vector<std::string>;

// For a subcommand that starts a program: all arguments after the first are the program's, also those with dashes, each
// unchanged. `words` must live until they are parsed.
void add_program(CLI::App* command, const char* name, Words& words, const char* text);

// Removes the first -- of a command line of this subcommand, and what follows it: a launcher with its options, which
// CLI11 would take for words of our own.
Words words_behind(std::string_view subcommand, int& count, const char* const* words);

// Removes a leading "--", which CLI11 passes on if another argument precedes it. Throws std::invalid_argument if no
// program is left.
Words without_separator(Words words);

// The launcher of a command line. Throws std::invalid_argument that lists the supported ones if it is another.
launch::Launcher require_launcher(const Words& words, const char* remedy = "");

// The MPI that --mpi names, or else the only one whose programs the launcher starts, or else that of `quadrille cluster
// run --mpi`. Throws std::invalid_argument if --mpi names none.
std::optional<launch::Mpi> mpi_of_launch(const std::optional<std::string>& option, const Words& words,
                                         launch::Launcher launcher);

// Whether a word is the name of a launcher such as mpirun, whether or not there is one.
bool names_launcher(const std::string& word);

// Throws std::invalid_argument if there is no such program, or it can't be run.
void require_program(const std::string& program);

// As a shell would read it.
std::string command_line(const Words& words);

}  // namespace quadrille::tools
