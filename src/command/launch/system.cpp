#include "launch/system.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace quadrille::launch {

void fail(int error, const std::string& what, const std::string& remedy) {
  throw std::runtime_error(fmt::format("{}: {}{}{}", what, std::strerror(error), remedy.empty() ? "" : "; ", remedy));
}

void require(long result, const std::string& what, const std::string& remedy) {
  if (result < 0) fail(errno, what, remedy);
}

void Descriptor::reset() {
  if (number_ >= 0) close(number_);
  number_ = -1;
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  require(pipe2(ends.data(), O_CLOEXEC), "can't make a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t bytes = read(descriptor, part.data(), part.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t bytes = write(descriptor, text.data(), text.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(bytes));
  }
  return true;
}

void reset_child_signal() {
  std::signal(SIGCHLD, SIG_DFL);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail(errno, fmt::format("can't wait for the process {}", child));
  }
  return status;
}

int exit_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

std::string shell_word(std::string_view word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-+=./,:@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace quadrille::launch
