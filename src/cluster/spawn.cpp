#include "cluster/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>

#include "launch/system.hpp"

namespace quadrille::cluster {

pid_t fork_with(unsigned long flags) {
  return static_cast<pid_t>(syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = STDERR_FILENO + 1;
  for (int one : kept) {
    const auto number = static_cast<unsigned>(one);
    if (number > first) close_range(first, number - 1, 0);
    first = std::max(first, number + 1);
  }
  close_range(first, std::numeric_limits<unsigned>::max(), 0);
}

void write_file(const std::string& path, const std::string& text) {
  constexpr mode_t all_read = 0644;
  const launch::Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, all_read));
  launch::require(file.get(), fmt::format("can't open {}", path));
  // Files of /proc take a text only as a whole.
  launch::require(write(file.get(), text.data(), text.size()), fmt::format("can't write {}", path));
}

}  // namespace quadrille::cluster
