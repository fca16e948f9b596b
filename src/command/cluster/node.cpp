#include "cluster/node.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string>

#include "cluster/network.hpp"
#include "cluster/process.hpp"
#include "cluster/slurm_files.hpp"
#include "cluster/spawn.hpp"

namespace quadrille::cluster {

namespace {

using launch::require;

constexpr int new_time = 0x80;  // CLONE_NEWTIME, which some C libraries lack
constexpr int own_namespaces = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS;

// For nodes created from now on. The clocks of neighbouring nodes are minutes apart, and not by whole seconds.
void set_clocks(int node) {
  require(unshare(new_time), "can't create a time namespace",
          "a kernel with time namespaces is required (CONFIG_TIME_NS, since Linux 5.6): omit --skew");
  const int seconds = 5 + 601 * node;
  const int nanoseconds = (37'000'000 * (node + 1)) % 1'000'000'000;
  write_file("/proc/self/timens_offsets", fmt::format("monotonic {0} {1}\nboottime {0} {1}\n", seconds, nanoseconds));
}

std::string racks_text(const Options& options) {
  std::string text;
  for (int rack = 0; rack < options.racks; ++rack) {
    text += fmt::format("rack{}:", rack);
    for (int node = 0; node < options.nodes; ++node) {
      if (rack_of(options, node) == rack) text += ' ' + node_name(node);
    }
    text += '\n';
  }
  return text;
}

void set_up_node(const Options& options, int node, const std::string& agent) {
  const std::string name = node_name(node);
  require(sethostname(name.data(), name.size()), "can't set the host name");
  require(mount(hosts_file, "/etc/hosts", nullptr, MS_BIND, nullptr), "can't mount /etc/hosts",
          "the file must exist; it may be empty");
  require(mount("tmpfs", shared_memory, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"),
          fmt::format("can't mount a tmpfs on {}", shared_memory));
  write_file(agent_file, agent);
  constexpr mode_t runnable = 0755;
  require(chmod(agent_file, runnable), fmt::format("can't make {} executable", agent_file));
  if (options.racks > 0) write_file(racks_file, racks_text(options));
  set_up_stack();
  prctl(PR_SET_NAME, "quadrille-node");
}

[[noreturn]] void run_holder(const Options& options, int node, const std::string& agent, int report, int start) {
  try {
    close_all_but({report, start});
    set_up_node(options, node, agent);
    launch::read_all(start);
    configure("ip", node_links(options, node));
    configure("tc", node_shapes(options, node));
  } catch (const std::exception& error) {
    launch::write_all(report, fmt::format("{}: {}", node_name(node), error.what()));
    _exit(1);
  }
  close(report);
  close(start);
  while (true) pause();
}

}  // namespace

Node make_node(const Options& options, int node, const std::string& agent, const launch::Pipe& start) {
  if (options.skew) set_clocks(node);
  launch::Pipe report = launch::make_pipe();
  const pid_t holder = fork_with(own_namespaces);
  require(holder, fmt::format("can't create namespaces for {}", node_name(node)),
          errno == ENOSPC ? "use fewer --nodes, or raise the sysctl user.max_net_namespaces and similar limits" : "");
  if (holder == 0) run_holder(options, node, agent, report.write.get(), start.read.get());
  return {holder, std::move(report.read)};
}

void enter_node(pid_t holder, int node, bool skew) {
  const std::string remedy = "restart the cluster";
  const launch::Descriptor process = open_process(holder);
  require(process.get(), fmt::format("{} is gone: its process was killed", node_name(node)), remedy);
  require(setns(process.get(), own_namespaces | (skew ? new_time : 0)), fmt::format("can't enter {}", node_name(node)),
          remedy);
}

void set_environment_on_node(const Options& options) {
  if (options.slurm) setenv("SLURM_CONF", slurm_file("slurm.conf").c_str(), 1);
  if (options.racks > 0) setenv("QUADRILLE_RACKS", racks_file, 0);
}

}  // namespace quadrille::cluster
