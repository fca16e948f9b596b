#include "cluster/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>

#include "launch/system.hpp"

namespace quadrille::cluster {

pid_t fork_with(unsigned long flags) {
  return static_cast<pid_t>(syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

namespace {

bool close_from_to(unsigned first, unsigned last) {
  return syscall(SYS_close_range, first, last, 0) == 0;
}

// For kernels without close_range (before Linux 5.9).
void close_each_but(const std::vector<int>& kept) {
  std::vector<int> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    open.push_back(std::stoi(entry.path().filename().string()));
  }
  for (int one : open) {
    if (one > STDERR_FILENO && !std::binary_search(kept.begin(), kept.end(), one)) close(one);
  }
}

}  // namespace

void close_all_but(std::vector<int> kept) {
  std::erase_if(kept, [](int one) { return one < 0; });
  std::sort(kept.begin(), kept.end());
  unsigned first = STDERR_FILENO + 1;
  for (int one : kept) {
    const auto number = static_cast<unsigned>(one);
    if (number > first && !close_from_to(first, number - 1)) return close_each_but(kept);
    first = std::max(first, number + 1);
  }
  if (!close_from_to(first, std::numeric_limits<unsigned>::max())) close_each_but(kept);
}

void write_file(const std::string& path, const std::string& text) {
  constexpr mode_t all_read = 0644;
  const launch::Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, all_read));
  launch::require(file.get(), fmt::format("can't open {}", path));
  // Files in /proc must be written by one call.
  launch::require(write(file.get(), text.data(), text.size()), fmt::format("can't write {}", path));
}

}  // namespace quadrille::cluster
