#include "tools/supervised_launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>
#include <thread>
#include <utility>

#include "cluster/process.hpp"
#include "launch/system.hpp"
#include "text/quantities.hpp"
#include "tools/bench.hpp"

namespace quadrille::tools {

namespace {

// Waits for a child, and ends it if its report does not change for too long, or on a signal.
void wait_for_launch(pid_t child, const std::filesystem::path& report, double timeout, FinishedLaunch& finished) {
  constexpr double grace = 5;
  auto changed = Clock::now();
  auto told = Clock::time_point::max();  // to end
  std::filesystem::file_time_type last;
  const auto end = [&] {
    kill(child, told == Clock::time_point::max() ? SIGTERM : SIGKILL);
    told = Clock::now();
  };
  while (true) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      finished.status = launch::exit_status(status);
      return;
    }
    std::error_code none;
    const auto now = std::filesystem::last_write_time(report, none);
    if (!none && std::exchange(last, now) != now) changed = Clock::now();
    if (const auto signal = cluster::signal_to_end()) {
      finished.signal = *signal;
      end();
    } else if (told != Clock::time_point::max()) {
      if (seconds_since(told) > grace) end();
    } else if (seconds_since(changed) > timeout) {
      finished.timed_out = true;
      end();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

FinishedLaunch launch_once(const Words& words, const std::filesystem::path& report, double timeout) {
  std::error_code none;
  std::filesystem::remove(report, none);
  const launch::Descriptor quiet(open("/dev/null", O_RDWR | O_CLOEXEC));
  const launch::Descriptor errors(memfd_create("stderr", MFD_CLOEXEC));
  launch::require(errors.get(), "can't create an anonymous file");
  const cluster::BlockedSignals blocked;
  const pid_t child = fork();
  launch::require(child, fmt::format("can't start {}", words.front()));
  if (child == 0) {
    blocked.restore();
    dup2(quiet.get(), STDIN_FILENO);
    dup2(quiet.get(), STDOUT_FILENO);
    dup2(errors.get(), STDERR_FILENO);
    _exit(launch::exec_program(words));
  }
  FinishedLaunch finished;
  wait_for_launch(child, report, timeout, finished);
  lseek(errors.get(), 0, SEEK_SET);
  finished.errors = launch::read_all(errors.get());
  if (std::filesystem::exists(report, none)) {
    measure::Report measured = read_report(report);
    finished.points = std::move(measured.points);
    finished.provenance = std::move(measured.provenance);
    std::filesystem::remove(report, none);
  }
  return finished;
}

std::string reason(const FinishedLaunch& launch, double timeout) {
  if (launch.timed_out) return fmt::format("not done in {}", text::duration(timeout));
  if (launch.status == 0) return "no result";
  // What the MPI says first, behind its banners.
  std::istringstream lines(launch.errors);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("rror") != std::string::npos || line.find("failed") != std::string::npos) {
      return fmt::format("exit status {}: {}", launch.status, line.substr(0, 200));
    }
  }
  return fmt::format("exit status {}", launch.status);
}

}  // namespace quadrille::tools
