#include "cluster/run.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <utility>

#include "cluster/enter.hpp"
#include "cluster/machine.hpp"
#include "cluster/network.hpp"
#include "cluster/node.hpp"
#include "cluster/process.hpp"
#include "cluster/spawn.hpp"
#include "hosts/launch_files.hpp"
#include "launch/command.hpp"
#include "launch/system.hpp"

namespace quadrille::cluster {

namespace {

using launch::Mpi;
using launch::require;

// Runs a function on each node in turn, ignoring failures.
void on_each_node(const State& state, const std::function<void()>& function) {
  for (int node = 0; node < state.options.nodes; ++node) {
    try {
      query_node(state, node, [&] {
        function();
        return std::string();
      });
    } catch (const std::exception&) {
      continue;
    }
  }
}

// A folder of the same name on every node, for the launcher's files. Removed when the job ends.
class Folder {
 public:
  explicit Folder(const State& state) : state_(state), path_(fmt::format("{}/quadrille-XXXXXX", shared_memory)) {
    require(mkdtemp(path_.data()) ? 0 : -1, fmt::format("can't create a folder in {}", shared_memory));
    on_each_node(state_, [this] { std::filesystem::create_directory(path_); });
  }
  ~Folder() {
    on_each_node(state_, [this] { std::filesystem::remove_all(path_); });
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string hosts() const { return path_ + "/hosts"; }

 private:
  const State& state_;
  std::string path_;
};

void set_environment(const Options& options, const std::string& machine) {
  const auto set = [](const char* name, std::int64_t value) { setenv(name, std::to_string(value).c_str(), 1); };
  set("QUADRILLE_CLUSTER_NODES", options.nodes);
  set("QUADRILLE_CLUSTER_RATE", options.rate);
  if (options.racks > 0) {
    set("QUADRILLE_CLUSTER_RACKS", options.racks);
    set("QUADRILLE_CLUSTER_UPLINK", uplink_of(options));
  }
  if (!machine.empty()) setenv("QUADRILLE_MACHINE", machine.c_str(), 0);
  // Root, or root in a user namespace.
  set("OMPI_ALLOW_RUN_AS_ROOT", 1);
  set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", 1);
  // Otherwise ranks spin, and oversubscribed they measure the scheduler: an allreduce of 8 bytes took 94 ms instead of
  // 4. A user's own setting is kept.
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

// Ranks of Open MPI poll 10,000 times a second during start-up and shutdown. 64 of them on 2 cores took 100 seconds
// instead of 4. Timer slack coalesces their sleeps.
void let_sleeps_be_coarse() {
  constexpr auto slack = std::chrono::milliseconds(1);
  prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(std::chrono::nanoseconds(slack).count()), 0, 0, 0);
}

// Since version 5 the launcher's parameters have other names; those that it doesn't know it ignores.
std::vector<std::string> words_for_openmpi(const Job& job, const Folder& folder) {
  const std::string network(subnet);
  const std::vector<std::pair<std::string, std::string>> parameters = {// Not Slurm's, even within an allocation.
                                                                       {"plm", "^slurm"},
                                                                       {"ras", "^slurm"},
                                                                       {"plm_rsh_agent", agent_file},
                                                                       {"plm_ssh_agent", agent_file},
                                                                       {"plm_rsh_no_tree_spawn", "1"},
                                                                       {"plm_ssh_no_tree_spawn", "1"},
                                                                       {"btl_tcp_if_include", network},
                                                                       {"oob_tcp_if_include", network},
                                                                       {"orte_tmpdir_base", folder.path()},
                                                                       {"prte_tmpdir_base", folder.path()}};
  std::vector<std::string> words = {job.launcher, "-n",           std::to_string(job.mapping.size()),
                                    "--hostfile", folder.hosts(), "--map-by",
                                    "seq",        "--bind-to",    "none"};
  for (const auto& [name, value] : parameters) words.insert(words.end(), {"--mca", name, value});
  return words;
}

std::vector<std::string> words_for_mpich(const Job& job, const Folder& folder) {
  return {job.launcher,     "-n",      std::to_string(job.mapping.size()), "-f", folder.hosts(), "-launcher", "ssh",
          "-launcher-exec", agent_file};
}

// Runs inside the cluster: starts the launcher, and kills all its descendants, orphans included, when it ends.
int supervise(const std::vector<std::string>& words, const BlockedSignals& blocked) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // A signal sent before the launcher exists would be lost.
  if (const auto signal = signal_to_end()) return 128 + *signal;
  const pid_t child = fork();
  require(child, fmt::format("can't start {}", words.front()));
  if (child == 0) {
    blocked.restore();
    _exit(launch::exec_program(words));
  }
  const int status = wait_passing_signals(child);
  // Open MPI's daemons clean up after their launcher has ended.
  end_descendants(std::chrono::seconds(2));
  return status;
}

}  // namespace

int run_job(const State& state, const Job& job) {
  const bool openmpi = job.mpi == Mpi::openmpi;
  // First, since the mapping may be impossible.
  const std::string hosts = openmpi ? hosts::one_a_line(hosts_of(job.mapping)) : hosts_for_mpich(job.mapping);
  const std::filesystem::path here = std::filesystem::current_path();
  const std::string machine = machine_file(state.options, std::string(launch::name(job.mpi)));
  const auto job_on_first_node = [&] {
    const BlockedSignals blocked;  // until the folder is removed
    enter_node(state.holders.front(), 0, state.options.skew);
    return_to(here);
    const Folder folder(state);
    write_file(folder.hosts(), hosts);
    set_environment(state.options, machine);
    set_environment_on_node(state.options);
    let_sleeps_be_coarse();
    const auto words_for = openmpi ? words_for_openmpi : words_for_mpich;
    std::vector<std::string> words = words_for(job, folder);
    words.insert(words.end(), job.program.begin(), job.program.end());
    if (!job.variables.empty()) {
      const auto launcher = openmpi ? launch::Launcher::openmpi : launch::Launcher::hydra;
      words = launch::with_variables(launcher, std::move(words), job.variables);
    }
    return supervise(words, blocked);
  };
  return in_cluster(state, job_on_first_node, orphaned_signal());
}

}  // namespace quadrille::cluster
