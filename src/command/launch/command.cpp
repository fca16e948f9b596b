#include "launch/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "launch/system.hpp"

namespace quadrille::launch {

namespace {

// An anonymous file: unlike a pipe it holds any amount of data.
Descriptor file_of(const std::string& input) {
  Descriptor file(memfd_create("input", MFD_CLOEXEC));
  require(file.get(), "can't create an anonymous file");
  write_all(file.get(), input);
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::vector<char*> arguments(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::optional<std::filesystem::path> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return access(name.c_str(), X_OK) == 0 ? std::optional(std::filesystem::path(name)) : std::nullopt;
  }
  const char* set = std::getenv("PATH");
  std::istringstream folders(std::string(set ? set : "/usr/local/bin:/usr/bin:/bin") + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto path = std::filesystem::path(folder.empty() ? "." : folder) / name;
    std::error_code none;
    if (std::filesystem::is_regular_file(path, none) && access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

CommandResult run(const std::vector<std::string>& words, const std::string& input) {
  const Descriptor in = file_of(input);
  Pipe out = make_pipe();
  reset_child_signal();
  // Not posix_spawn: it shares memory with its parent for a while, which some kernels forbid to a parent whose children
  // are in another time namespace.
  const pid_t child = fork();
  require(child, fmt::format("can't start {}", words.front()));
  if (child == 0) {
    dup2(in.get(), STDIN_FILENO);
    dup2(out.write.get(), STDOUT_FILENO);
    dup2(out.write.get(), STDERR_FILENO);
    setenv("LC_ALL", "C", 1);
    _exit(exec_program(words));
  }
  out.write.reset();
  CommandResult finished;
  finished.text = read_all(out.read.get());
  finished.status = exit_status(wait_for(child));
  return finished;
}

int exec_program(const std::vector<std::string>& words) {
  constexpr int not_found = 127;
  constexpr int not_runnable = 126;
  execvp(words.front().c_str(), arguments(words).data());
  const int error = errno;
  write_all(STDERR_FILENO, fmt::format("quadrille: can't run {}: {}\n", words.front(), std::strerror(error)));
  return error == ENOENT ? not_found : not_runnable;
}

}  // namespace quadrille::launch
