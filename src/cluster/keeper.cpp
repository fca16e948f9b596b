#include "cluster/keeper.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "cluster/network.hpp"
#include "cluster/node.hpp"
#include "cluster/spawn.hpp"
#include "launch/command.hpp"
#include "launch/system.hpp"

namespace quadrille::cluster {

namespace {

using launch::Descriptor;
using launch::Pipe;
using launch::require;
using nlohmann::json;

constexpr const char* container_remedy = "in a container, start it as a privileged one";

// Who is root in the cluster's user namespace, and himself outside.
struct Owner {
  uid_t user;
  gid_t group;
};

void map_user(const Owner& owner) {
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", fmt::format("0 {} 1", owner.user));
  write_file("/proc/self/gid_map", fmt::format("0 {} 1", owner.group));
}

// Nothing that is mounted here is seen outside, and /proc shows the processes of the cluster.
void mount_own() {
  require(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "can't make mounts private", container_remedy);
  require(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr), "can't mount /proc",
          container_remedy);
  require(mount("tmpfs", shared_memory, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"),
          fmt::format("can't mount a file system in memory on {}", shared_memory), container_remedy);
}

void be_a_daemon() {
  setsid();
  umask(022);
  require(chdir("/"), "can't go to /");
  const Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
  require(null.get(), "can't open /dev/null");
  for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null.get(), standard);
  prctl(PR_SET_NAME, "quadrille-keep");
}

// Of the remote shell of the launchers: this command itself.
std::string agent_text(const Options& options) {
  return fmt::format("#!/bin/sh\nexec {} cluster agent --state {} -- \"$@\"\n",
                     launch::shell_word(std::filesystem::read_symlink("/proc/self/exe").string()),
                     launch::shell_word(state_file(options.name).string()));
}

// The whole network, when this returns. The nodes' processes as the cluster counts them.
std::vector<pid_t> build(const Options& options, const std::string& agent) {
  mount_own();
  turn_off_ipv6();
  write_file(hosts_file, hosts_text(options.nodes));
  Pipe start = launch::make_pipe();
  std::vector<Node> nodes;
  std::vector<pid_t> holders;
  for (int node = 0; node < options.nodes; ++node) {
    nodes.push_back(make_node(options, node, agent, start));
    holders.push_back(nodes.back().holder);
  }
  configure("ip", switch_links(options, holders));
  start.write.reset();  // the nodes' interfaces are there: each sets up its own
  configure("tc", switch_shapes(options));
  for (const Node& node : nodes) {
    const std::string fault = launch::read_all(node.report.get());
    if (!fault.empty()) throw std::runtime_error(fault);
  }
  return holders;
}

// The first process of the cluster's own namespace of processes: all others end with it, and with them their
// interfaces and mounts. It is the switch, whose interfaces are in its network namespace.
[[noreturn]] void keep(const Options& options, const std::string& agent, int report, int accepted,
                       const std::optional<Owner>& owner) {
  close_all_but({report, accepted});
  try {
    be_a_daemon();
    if (owner) map_user(*owner);
    const json holders = build(options, agent);
    launch::write_all(report, json{{"holders", holders}}.dump());
  } catch (const std::exception& error) {
    launch::write_all(report, json{{"fault", error.what()}}.dump());
    _exit(1);
  }
  close(report);
  // Whoever started this writes a byte when the cluster is on record. If it ends before that, so does the cluster.
  if (launch::read_all(accepted).empty()) _exit(1);
  close(accepted);
  while (true) {
    if (wait(nullptr) < 0 && errno == ECHILD) pause();
  }
}

// What would help where the kernel refuses namespaces.
std::string remedy_for(int error) {
  if (error == ENOSPC) {
    return "there are too many namespaces: raise user.max_user_namespaces and its like by sysctl";
  }
  if (error == EINVAL || error == ENOSYS) {
    return "this takes a kernel with namespaces of users, processes, networks and mounts (CONFIG_NAMESPACES)";
  }
  return fmt::format(
      "run it as root, or let users make namespaces by sysctl (kernel.unprivileged_userns_clone=1 on Debian, "
      "kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu); {}",
      container_remedy);
}

// A keeper that is ended again unless it is let go.
class Keeper {
 public:
  Keeper(const Options& options, const Pipe& report, const Pipe& accepted) {
    constexpr unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET;
    const std::string agent = agent_text(options);
    std::optional<Owner> owner;
    id_ = geteuid() == 0 ? fork_with(flags) : -1;
    if (id_ < 0) {
      // Not root, or a root that may not do this.
      owner = {geteuid(), getegid()};
      id_ = fork_with(flags | CLONE_NEWUSER);
      user_namespace_ = true;
    }
    if (id_ < 0) launch::fail(errno, "can't make namespaces", remedy_for(errno));
    if (id_ == 0) keep(options, agent, report.write.get(), accepted.read.get(), owner);
  }
  ~Keeper() {
    if (id_ == 0) return;
    kill(id_, SIGKILL);
    while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  pid_t id() const { return id_; }
  bool user_namespace() const { return user_namespace_; }
  void let_go() { id_ = 0; }

 private:
  pid_t id_ = 0;
  bool user_namespace_ = false;
};

// The nodes' holders, from what the keeper reported.
std::vector<pid_t> holders_in(const std::string& report) {
  const json object = json::parse(report, nullptr, false);
  if (object.is_discarded()) throw std::runtime_error("the cluster was ended before it was up");
  if (object.contains("fault")) throw std::runtime_error(object["fault"].get<std::string>());
  return object["holders"].get<std::vector<pid_t>>();
}

void refuse_second(const std::string& name) {
  const std::string option = name == Options().name ? "" : fmt::format(" --name {}", name);
  throw std::runtime_error(fmt::format(
      "the cluster '{}' is up already: take it down by 'quadrille cluster down{}', or give this one another --name",
      name, option));
}

}  // namespace

State up(const Options& options) {
  check(options);
  for (const char* program : {"ip", "tc"}) {
    if (!launch::find_program(program)) {
      throw std::runtime_error(fmt::format("the program {} is missing: install iproute2", program));
    }
  }
  if (find_state(options.name)) refuse_second(options.name);
  Pipe report = launch::make_pipe();
  Pipe accepted = launch::make_pipe();
  Keeper keeper(options, report, accepted);
  report.write.reset();
  accepted.read.reset();
  State state;
  state.options = options;
  state.holders = holders_in(launch::read_all(report.read.get()));
  state.user_namespace = keeper.user_namespace();
  const auto process = process_numbered(keeper.id());
  if (!process) throw std::runtime_error("the cluster was ended before it was up");
  state.keeper = *process;
  if (!write_state(state)) refuse_second(options.name);
  launch::write_all(accepted.write.get(), "y");
  keeper.let_go();
  return state;
}

void down(const std::string& name) {
  const State state = need_state(name);
  if (const auto keeper = opened(state.keeper)) end(*keeper);
  remove_state(name);
}

}  // namespace quadrille::cluster
