#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace quadrille::arguments {

// For a command line that was refused: the first word that no command or option has, with the nearest one that is
// known. Empty: all words are known, and the mistake is another.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace quadrille::arguments
