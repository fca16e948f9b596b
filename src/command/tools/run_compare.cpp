#include "tools/run_compare.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "cluster/process.hpp"
#include "files/replace.hpp"
#include "launch/command.hpp"
#include "launch/system.hpp"
#include "measure/runs.hpp"
#include "text/quantities.hpp"

namespace quadrille::tools {

namespace {

struct FinishedRun {
  int status = 0;
  double seconds = 0;
  std::string errors;  // what it wrote to stderr, if that was not shown
};

// Every run reads the same input: a file from where it stands, or nothing.
class Input {
 public:
  Input() : start_(lseek(STDIN_FILENO, 0, SEEK_CUR)), none_(open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

  // In the child.
  void attach() const {
    if (start_ < 0 || lseek(STDIN_FILENO, start_, SEEK_SET) < 0) dup2(none_.get(), STDIN_FILENO);
  }

 private:
  off_t start_;  // -1: can't be read twice
  launch::Descriptor none_;
};

FinishedRun run_once(const Words& words, const Input& input, bool shown) {
  const launch::Descriptor quiet(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const launch::Descriptor errors(memfd_create("stderr", MFD_CLOEXEC));
  launch::require(errors.get(), "can't create an anonymous file");
  const cluster::BlockedSignals blocked;
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  launch::require(child, fmt::format("can't start {}", words.front()));
  if (child == 0) {
    blocked.restore();
    input.attach();
    if (!shown) {
      dup2(quiet.get(), STDOUT_FILENO);
      dup2(errors.get(), STDERR_FILENO);
    }
    _exit(launch::exec_program(words));
  }
  FinishedRun finished;
  int received = 0;
  finished.status = cluster::wait_passing_signals(child, &received);
  // A launcher may end well all the same. SIGUSR1 and SIGUSR2 are the program's.
  if (received != 0 && received != SIGUSR1 && received != SIGUSR2) finished.status = 128 + received;
  finished.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  lseek(errors.get(), 0, SEEK_SET);
  if (finished.status != 0) finished.errors = launch::read_all(errors.get());
  return finished;
}

int report_failure(const FinishedRun& run, const std::string& which) {
  fmt::print(stderr, "{}quadrille: {} failed with exit status {}\n", run.errors, which, run.status);
  return run.status;
}

std::optional<measure::CollectiveTimes> take_times(const std::filesystem::path& report, double run) {
  std::string text;
  {
    std::ifstream file(report);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::error_code none;
  std::filesystem::remove(report, none);
  return measure::collective_times(text, run);
}

}  // namespace

std::filesystem::path temporary_report() {
  // Other nodes are likely to see the current folder, but not /tmp.
  for (const std::filesystem::path& folder :
       {std::filesystem::current_path(), std::filesystem::temp_directory_path()}) {
    if (access(folder.c_str(), W_OK) == 0) return folder / fmt::format(".quadrille-report-{}.json", getpid());
  }
  throw std::runtime_error("can't write to the current folder, nor to that of temporary files: set TMPDIR");
}

int compare_runs(const ComparedCommands& commands, std::size_t pairs, const std::optional<std::string>& json) {
  const Input input;
  fmt::print(stderr, "quadrille: an untimed run, which measures the share of collectives\n");
  const FinishedRun observed = run_once(commands.observed, input, true);
  const auto times = take_times(commands.report, observed.seconds);
  if (observed.status != 0) return report_failure(observed, "the untimed run");
  measure::PairedRuns runs;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    for (bool with : {measure::starts_with(pair), !measure::starts_with(pair)}) {
      const std::string which = fmt::format("run {} of {} {}", pair + 1, pairs, with ? "with" : "without");
      const FinishedRun run = run_once(with ? commands.with : commands.without, input, false);
      if (run.status != 0) return report_failure(run, which);
      (with ? runs.with : runs.without).push_back(run.seconds);
      const bool whole = runs.with.size() == runs.without.size();
      fmt::print(
          stderr, "quadrille: {}: {}{}\n", which, text::seconds(run.seconds),
          whole ? fmt::format(", so far {} times as fast", measure::times_text(judge(runs).speedup.middle)) : "");
    }
  }
  fmt::print("{}", measure::to_text(runs, times));
  if (json) files::replace_file(*json, measure::to_json(runs, times));
  return 0;
}

}  // namespace quadrille::tools
