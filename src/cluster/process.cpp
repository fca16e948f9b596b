#include "cluster/process.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace quadrille::cluster {

namespace {

struct Stat {
  char state = 'X';
  pid_t parent = 0;
  std::int64_t started = 0;
};

// /proc/ID/stat: "ID (name) state parent ...", the start as field 22; a name may have blanks and brackets.
std::optional<Stat> stat_of(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(end_of_name + 1));
  Stat stat;
  fields >> stat.state >> stat.parent;
  std::string skipped;
  constexpr int between = 17;  // fields 5 to 21
  for (int i = 0; i < between; ++i) fields >> skipped;
  fields >> stat.started;
  return fields ? std::optional(stat) : std::nullopt;
}

sigset_t awaited() {
  sigset_t set;
  sigemptyset(&set);
  for (int one : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, orphaned_signal()}) sigaddset(&set, one);
  return set;
}

}  // namespace

std::optional<Process> process_numbered(pid_t id) {
  const auto stat = stat_of(id);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  return Process{id, stat->started};
}

// By numbers: not every C library has functions for these.
launch::Descriptor open_process(pid_t id) {
  return launch::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, id, 0)));
}

std::optional<launch::Descriptor> opened(const Process& process) {
  launch::Descriptor open = open_process(process.id);
  if (open.get() < 0) return std::nullopt;
  // Only now: what is open can't become another one.
  const auto now = process_numbered(process.id);
  if (!now || now->started != process.started) return std::nullopt;
  return open;
}

void end(const launch::Descriptor& process) {
  syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  pollfd gone{process.get(), POLLIN, 0};
  while (poll(&gone, 1, -1) < 0 && errno == EINTR) continue;
}

std::vector<pid_t> children() {
  std::vector<pid_t> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t id = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc() || *rest != '\0') continue;
    const auto stat = stat_of(id);
    if (stat && stat->parent == getpid()) all.push_back(id);
  }
  return all;
}

int orphaned_signal() {
  return SIGRTMIN;
}

BlockedSignals::BlockedSignals() {
  std::signal(SIGCHLD, SIG_DFL);  // whoever ignores it leaves that to the programs it starts, and they have no children
  const sigset_t set = awaited();
  sigprocmask(SIG_BLOCK, &set, &before_);
}

void BlockedSignals::restore() const {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int wait_passing_signals(pid_t child) {
  const sigset_t set = awaited();
  while (true) {
    int status = 0;
    pid_t ended = 0;
    do {
      ended = waitpid(-1, &status, WNOHANG);  // any: orphans may have come to this process
      if (ended == child) return launch::exit_status(status);
    } while (ended > 0);
    siginfo_t information{};
    const int signal = sigwaitinfo(&set, &information);
    if (signal < 0 || signal == SIGCHLD) continue;
    if (signal == orphaned_signal()) {
      end_descendants({});
      return 128 + SIGKILL;
    }
    // What a terminal sends (code SI_KERNEL) has reached the child as well; twice would mean more than once.
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
    const timespec patience{left / second, left % second};
    sigtimedwait(&child_ended, nullptr, &patience);
  }
  // A child's children are ours once it is gone: each turn finds those that there are.
  do {
    for (pid_t id : children()) kill(id, SIGKILL);
  } while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR);
}

}  // namespace quadrille::cluster
