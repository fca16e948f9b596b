#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace quadrille::tools {

using Words = std::vector<std::string>;

// A program to start and its arguments. Behind the first word all words are the program's, also those with dashes.
void add_program(CLI::App* command, const char* name, Words& words, const char* text);

// CLI11 takes the dashes in front of the program for a word of it, where another word stands before them.
Words without_dashes(Words words);

}  // namespace quadrille::tools
