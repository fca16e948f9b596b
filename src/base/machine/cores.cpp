#include "machine/cores.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace quadrille::machine {

namespace {

// The number of processors in a line such as "Cpus_allowed: f,ffffffff" of /proc/PID/status; 0 if there is none.
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

// The CPU quota of the control groups, in processors; infinite if there is none.
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

// Nodes of `quadrille cluster` share one machine.
int emulated_nodes() {
  const char* nodes = std::getenv("QUADRILLE_CLUSTER_NODES");
  return nodes ? std::max(std::atoi(nodes), 1) : 1;
}

double cores_of_machine(Affinity affinity) {
  const int own = allowed_processors(getpid());
  const int processors = affinity == Affinity::process ? own : std::max(allowed_processors(getppid()), own);
  return std::min<double>(std::max(processors, 1), allowed_share());
}

}  // namespace

double usable_cores(Affinity affinity) {
  return cores_of_machine(affinity) / emulated_nodes();
}

double cores_of_all_nodes() {
  return cores_of_machine(Affinity::launcher);
}

int ranks_on_node(int ranks) {
  // Slurm's may be "4(x2),3": the first number applies to most nodes.
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "PALS_LOCAL_SIZE",
                           "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}) {
    const char* value = std::getenv(name);
    if (value && std::atoi(value) > 0) return std::atoi(value);
  }
  return ranks;
}

int rank_by_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PALS_RANKID", "SLURM_PROCID"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return 0;
}

}  // namespace quadrille::machine
