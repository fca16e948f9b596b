#include "engine/waiting.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <thread>

namespace quadrille::engine {

namespace {

using namespace std::chrono_literals;

// The processors that a line such as "Cpus_allowed: f,ffffffff" of /proc/PID/status allows; 0 if there is none.
int allowed_processors(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  constexpr std::string_view key = "Cpus_allowed:";
  while (std::getline(status, line)) {
    if (!line.starts_with(key)) continue;
    int processors = 0;
    for (char digit : line.substr(key.size())) {
      if (std::isxdigit(static_cast<unsigned char>(digit)) == 0) continue;
      processors += std::popcount(static_cast<unsigned>(std::stoi(std::string(1, digit), nullptr, 16)));
    }
    return processors;
  }
  return 0;
}

// Processors' worth of time that control groups allow; infinite where they set no bound.
double allowed_share() {
  double quota = 0;
  double period = 0;
  std::ifstream two("/sys/fs/cgroup/cpu.max");  // "max 100000" or "150000 100000"
  if (two >> quota >> period && period > 0) return quota / period;
  std::ifstream one("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream of("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (one >> quota && of >> period && quota > 0 && period > 0) return quota / period;
  return std::numeric_limits<double>::infinity();
}

}  // namespace

double usable_cores() {
  // A launcher binds each rank to a core or two of its own; the launcher itself runs where all of them may.
  const int processors = std::max(allowed_processors(getppid()), allowed_processors(getpid()));
  // Nodes that `quadrille cluster` makes share one machine.
  const char* nodes = std::getenv("QUADRILLE_CLUSTER_NODES");
  const int sharing = nodes ? std::max(std::atoi(nodes), 1) : 1;
  return std::min<double>(std::max(processors, 1), allowed_share()) / sharing;
}

int ranks_on_node(int ranks) {
  // Slurm's may read "4(x2),3": the first number is that of most nodes.
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "PALS_LOCAL_SIZE",
                           "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}) {
    const char* value = std::getenv(name);
    if (value && std::atoi(value) > 0) return std::atoi(value);
  }
  return ranks;
}

Patience Patience::of(bool more_ranks_than_cores) {
  if (more_ranks_than_cores) return {.spin = 0ns, .yield = 2ms, .sleep = 50us, .longest_sleep = 1ms};
  return {.spin = 20us, .yield = 20ms, .sleep = 50us, .longest_sleep = 1ms};
}

Patience Patience::with_mpi() {
  return {.spin = 0ns, .yield = 2ms, .sleep = 50us, .longest_sleep = 100us};
}

void Waiter::idle() {
  // The clock costs as much as a look at MPI: while spinning, the first looks go without.
  const int looks_without_clock = patience_.spin > 0ns ? 16 : 0;
  if (looks_ < looks_without_clock) {
    ++looks_;
    return;
  }
  const auto now = Clock::now();
  if (looks_ == looks_without_clock) {
    ++looks_;
    since_ = now;
  }
  const auto idle_for = now - since_;
  if (idle_for < patience_.spin) return;
  if (idle_for < patience_.yield) {
    sched_yield();
  } else {
    // The longer it has waited, the less a little more matters; many ranks that look often keep the others from
    // working.
    std::this_thread::sleep_for(std::clamp<Clock::duration>(idle_for / 8, patience_.sleep, patience_.longest_sleep));
  }
}

}  // namespace quadrille::engine
