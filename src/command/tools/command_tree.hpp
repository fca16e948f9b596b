#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace quadrille::tools {

// A command as its help describes it.
struct CommandHelp {
  struct Option {
    std::vector<std::string> names;  // with dashes; of a positional argument its name
    std::string value;               // its type; empty: a flag
    std::string text;
    std::string default_value;
    std::vector<std::string> choices;  // values that it may have; empty: any
    bool required = false;
    bool repeated = false;
  };
  struct Subcommand {
    std::string name;
    std::string text;
  };
  std::string name;  // without the program's: "cluster up"; empty: the program itself
  std::string text;
  std::string footer;
  std::vector<Option> options;
  std::vector<Option> positionals;
  std::vector<Subcommand> subcommands;
  bool starts_program = false;  // what follows -- is a program with its arguments
};

// The program and all its commands, but not those that are hidden from the help.
std::vector<CommandHelp> command_helps(const CLI::App& app);

}  // namespace quadrille::tools
