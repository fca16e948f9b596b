#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quadrille::launch {

// Searches the PATH and the sbin folders, which an ordinary user's PATH may lack.
std::optional<std::filesystem::path> find_program(const std::string& name);

struct CommandResult {
  int status = 0;    // as in a shell
  std::string text;  // stdout and stderr
};

// Runs a program to its end, in the C locale.
CommandResult run(const std::vector<std::string>& words, const std::string& input = {});

// execvp; if that fails, prints the reason and returns the status that a shell would.
int exec_program(const std::vector<std::string>& words);

}  // namespace quadrille::launch
