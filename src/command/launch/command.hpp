#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quadrille::launch {

// Where a shell would find it, or among the administrator's programs, which an ordinary user's PATH may lack.
std::optional<std::filesystem::path> find_program(const std::string& name);

struct CommandResult {
  int status = 0;    // as a shell counts it
  std::string text;  // what it wrote, errors and all
};

// Runs a program to its end, in the language C.
CommandResult run(const std::vector<std::string>& words, const std::string& input = {});

// Becomes the program, found as a shell would; prints why not and returns the shell's status for that.
int exec_program(const std::vector<std::string>& words);

}  // namespace quadrille::launch
