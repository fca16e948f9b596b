#include "cluster/process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace quadrille::cluster {

namespace {

struct ProcessStat {
  char state = 'X';
  pid_t parent = 0;
  std::int64_t started = 0;
};

std::string folder_of(pid_t id) {
  return "/proc/" + std::to_string(id);
}

// /proc/ID/stat: "ID (name) state parent ...", field 22 is the start; the name may contain blanks and parentheses.
std::optional<ProcessStat> stat_of(pid_t id) {
  std::ifstream file(folder_of(id) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(end_of_name + 1));
  ProcessStat stat;
  fields >> stat.state >> stat.parent;
  std::string skipped;
  constexpr int between = 17;  // fields 5 to 21
  for (int i = 0; i < between; ++i) fields >> skipped;
  fields >> stat.started;
  return fields ? std::optional(stat) : std::nullopt;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t id = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error == std::errc() && *rest == '\0') all.push_back(id);
  }
  return all;
}

bool is_gone(const launch::Descriptor& process, std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + timeout;
  pollfd gone{process.get(), POLLIN, 0};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int result = poll(&gone, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (result >= 0) return result > 0;
    if (errno != EINTR) launch::fail(errno, "can't wait for a process");
  }
}

sigset_t awaited() {
  sigset_t set;
  sigemptyset(&set);
  for (int one : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, orphaned_signal()}) sigaddset(&set, one);
  return set;
}

}  // namespace

std::optional<ProcessIdentity> identity_of(pid_t id) {
  const auto stat = stat_of(id);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  return ProcessIdentity{id, stat->started};
}

// By system call numbers: some C libraries lack wrappers.
launch::Descriptor open_process(pid_t id) {
  return launch::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, id, 0)));
}

std::optional<launch::Descriptor> open_running(const ProcessIdentity& process) {
  launch::Descriptor open = open_process(process.id);
  if (open.get() < 0 && errno == ESRCH) return std::nullopt;
  launch::require(open.get(), fmt::format("can't open the process {}", process.id));
  // Checked after opening: an open pidfd can't change to another process.
  const auto stat = stat_of(process.id);
  if (is_gone(open, {}) || (stat && stat->started != process.started)) return std::nullopt;
  if (!stat) throw std::runtime_error(fmt::format("can't read {}/stat", folder_of(process.id)));
  return open;
}

bool kill_process(const launch::Descriptor& process, std::chrono::milliseconds timeout) {
  const long sent = syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  if (sent < 0 && errno != ESRCH) launch::fail(errno, "can't kill a process");
  return is_gone(process, timeout);
}

bool ends_soon(const ProcessIdentity& process) {
  const auto open = open_running(process);
  return !open || is_gone(*open, std::chrono::seconds(1));
}

std::vector<pid_t> children() {
  std::vector<pid_t> all;
  for (pid_t id : all_processes()) {
    const auto stat = stat_of(id);
    if (stat && stat->parent == getpid()) all.push_back(id);
  }
  return all;
}

std::set<pid_t> parents_outside(pid_t first) {
  const auto space = [](pid_t id) {
    std::error_code none;
    return std::filesystem::read_symlink(folder_of(id) + "/ns/pid", none);
  };
  const auto inside = space(first);
  std::set<pid_t> found;
  for (pid_t id : all_processes()) {
    if (id == first || inside.empty() || space(id) != inside) continue;
    const auto stat = stat_of(id);
    if (stat && stat->parent != 0 && space(stat->parent) != inside) found.insert(stat->parent);
  }
  return found;
}

std::string described(pid_t id) {
  std::ifstream file(folder_of(id) + "/comm");
  std::string name;
  std::getline(file, name);
  const auto stat = stat_of(id);
  return fmt::format("{} ({}{})", id, name, stat && stat->state == 'T' ? ", stopped" : "");
}

int orphaned_signal() {
  return SIGRTMIN;
}

BlockedSignals::BlockedSignals() {
  launch::reset_child_signal();
  const sigset_t set = awaited();
  sigprocmask(SIG_BLOCK, &set, &before_);
}

void BlockedSignals::restore() const {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> signal_to_end() {
  sigset_t set = awaited();
  sigdelset(&set, SIGCHLD);
  const timespec at_once{};
  const int signal = sigtimedwait(&set, nullptr, &at_once);
  return signal > 0 ? std::optional(signal) : std::nullopt;
}

int wait_passing_signals(pid_t child, int* received) {
  const sigset_t set = awaited();
  while (true) {
    int status = 0;
    pid_t ended = 0;
    do {
      ended = waitpid(-1, &status, WNOHANG);  // any: orphans may have been reparented to this process
      if (ended == child) return launch::exit_status(status);
    } while (ended > 0);
    siginfo_t information{};
    const int signal = sigwaitinfo(&set, &information);
    if (signal < 0 || signal == SIGCHLD) continue;
    if (received) *received = signal;
    if (signal == orphaned_signal()) {
      end_descendants({});
      return 128 + SIGKILL;
    }
    // Signals of a terminal (SI_KERNEL) have reached the child already; a second one may have another effect.
    if (information.si_code <= 0) kill(child, signal);
  }
}

void end_descendants(std::chrono::milliseconds grace) {
  using Clock = std::chrono::steady_clock;
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  const auto deadline = Clock::now() + grace;
  while (true) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0) return;
    if (ended > 0) continue;
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()).count();
    if (left <= 0) break;
    constexpr std::int64_t second = 1'000'000'000;
    const timespec timeout{left / second, left % second};
    sigtimedwait(&child_ended, nullptr, &timeout);
  }
  // The children of a killed child are reparented to this process: repeat until there are none.
  do {
    for (pid_t id : children()) kill(id, SIGKILL);
  } while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR);
}

}  // namespace quadrille::cluster
