#include "cluster/keeper.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "cluster/network.hpp"
#include "cluster/node.hpp"
#include "cluster/process.hpp"
#include "cluster/slurm.hpp"
#include "cluster/spawn.hpp"
#include "launch/command.hpp"
#include "launch/system.hpp"

namespace quadrille::cluster {

namespace {

using launch::Descriptor;
using launch::Pipe;
using launch::require;
using nlohmann::json;

// What the keeper inherits from the process that starts it.
struct KeeperDescriptors {
  int report;         // pipe to write the result to
  int accepted;       // pipe to read the accepted state from
  int while_process;  // pidfd of the process with which the cluster ends; negative: none
};

constexpr const char* container_remedy = "in a container, run it privileged";

// The user who is root in the cluster's user namespace.
struct Owner {
  uid_t user;
  gid_t group;
};

void map_user(const Owner& owner) {
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", fmt::format("0 {} 1", owner.user));
  write_file("/proc/self/gid_map", fmt::format("0 {} 1", owner.group));
}

// Mounts stay private, and /proc shows the processes of the cluster.
void mount_private() {
  require(mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr), "can't make mounts private", container_remedy);
  require(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr), "can't mount /proc",
          container_remedy);
  require(mount("tmpfs", shared_memory, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"),
          fmt::format("can't mount a tmpfs on {}", shared_memory), container_remedy);
}

void daemonise() {
  setsid();
  umask(022);
  require(chdir("/"), "can't change to /");
  const Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
  require(null.get(), "can't open /dev/null");
  for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null.get(), standard);
  prctl(PR_SET_NAME, keeper_name.data());
}

// The script that launchers call as their remote shell: it runs this command.
std::string agent_text(const std::filesystem::path& file) {
  return fmt::format("#!/bin/sh\nexec {} cluster agent --state {} -- \"$@\"\n",
                     launch::shell_word(std::filesystem::read_symlink("/proc/self/exe").string()),
                     launch::shell_word(file.string()));
}

// Sets up the whole network. Returns the nodes' processes, with their IDs inside the cluster.
std::vector<pid_t> build(const Options& options, const std::string& agent) {
  mount_private();
  set_up_stack();
  write_file(hosts_file, hosts_text(options.nodes));
  Pipe start = launch::make_pipe();
  std::vector<Node> nodes;
  std::vector<pid_t> holders;
  for (int node = 0; node < options.nodes; ++node) {
    nodes.push_back(make_node(options, node, agent, start));
    holders.push_back(nodes.back().holder);
  }
  configure("ip", switch_links(options, holders));
  start.write.reset();  // the nodes' interfaces exist: each node configures its own
  configure("tc", switch_shapes(options));
  for (const Node& node : nodes) {
    const std::string fault = launch::read_all(node.report.get());
    if (!fault.empty()) throw std::runtime_error(fault);
  }
  return holders;
}

// Detects that a file was removed or replaced.
class WatchedFile {
 public:
  explicit WatchedFile(std::filesystem::path file)
      : file_(std::move(file)), seen_(stat(file_.c_str(), &before_) == 0) {}
  // False if the file was never visible, as below a file system that this process mounted over.
  bool is_gone() const {
    struct stat now {};
    if (!seen_) return false;
    if (stat(file_.c_str(), &now) < 0) return errno == ENOENT || errno == ENOTDIR;
    return now.st_dev != before_.st_dev || now.st_ino != before_.st_ino;
  }

 private:
  std::filesystem::path file_;
  struct stat before_ {};
  bool seen_;
};

// Waits until the process, if any, ends or the state file is removed. Meanwhile it reaps orphans, as process 1 must.
void wait_for_end(const std::filesystem::path& file, int while_process) {
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ended, nullptr);
  const Descriptor signals(signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK));
  const WatchedFile watched(file);
  // poll ignores negative descriptors.
  std::array<pollfd, 2> events{{{while_process, POLLIN, 0}, {signals.get(), POLLIN, 0}}};
  while (!watched.is_gone()) {
    constexpr int second = 1000;
    poll(events.data(), events.size(), second);
    if (events[0].revents != 0) return;
    launch::read_all(signals.get());
    while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
  }
}

// Process 1 of the cluster's PID namespace: all others end with it, and with them their interfaces and mounts. Its
// network namespace holds the switch.
[[noreturn]] void run_keeper(const Options& options, const std::filesystem::path& file, const std::string& agent,
                             const KeeperDescriptors& ends, const std::optional<Owner>& owner) {
  try {
    close_all_but({ends.report, ends.accepted, ends.while_process});
    daemonise();
    if (owner) map_user(*owner);
    const json holders = build(options, agent);
    launch::write_all(ends.report, json{{"holders", holders}}.dump());
  } catch (const std::exception& error) {
    launch::write_all(ends.report, json{{"fault", error.what()}}.dump());
    _exit(1);
  }
  close(ends.report);
  try {
    // The parent sends the state once it is on file. If the parent dies before that, the cluster ends.
    const State state = from_text(launch::read_all(ends.accepted));
    close(ends.accepted);
    wait_for_end(file, ends.while_process);
    remove_state(file, state);
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

// For a kernel that denies namespaces.
std::string remedy_for(int error) {
  if (error == ENOSPC) {
    return "too many namespaces: raise the sysctl user.max_user_namespaces and similar limits";
  }
  if (error == EINVAL || error == ENOSYS) {
    return "a kernel with user, PID, network and mount namespaces is required (CONFIG_NAMESPACES)";
  }
  return fmt::format(
      "run it as root, or enable user namespaces by sysctl (kernel.unprivileged_userns_clone=1 on Debian, "
      "kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu); {}",
      container_remedy);
}

// Kills the keeper unless it is released.
class Keeper {
 public:
  Keeper(const Options& options, const KeeperDescriptors& ends) {
    launch::reset_child_signal();
    constexpr unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET;
    const std::filesystem::path file = state_file(options.name);  // inside the namespace it would be root's
    const std::string agent = agent_text(file);
    std::optional<Owner> owner;
    id_ = geteuid() == 0 ? fork_with(flags) : -1;
    if (id_ < 0) {
      // Not root, or a root without the privilege.
      owner = {geteuid(), getegid()};
      id_ = fork_with(flags | CLONE_NEWUSER);
      user_namespace_ = true;
    }
    if (id_ < 0) launch::fail(errno, "can't create namespaces", remedy_for(errno));
    if (id_ == 0) run_keeper(options, file, agent, ends, owner);
  }
  ~Keeper() {
    if (id_ == 0) return;
    kill(id_, SIGKILL);
    while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) continue;  // launch::wait_for may throw
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  pid_t id() const { return id_; }
  bool user_namespace() const { return user_namespace_; }
  void release() { id_ = 0; }

 private:
  pid_t id_ = 0;
  bool user_namespace_ = false;
};

// The nodes' holders, from the keeper's report.
std::vector<pid_t> holders_in(const std::string& report) {
  const json object = json::parse(report, nullptr, false);
  if (object.is_discarded()) throw std::runtime_error("the cluster was killed before it was up");
  if (object.contains("fault")) throw std::runtime_error(object["fault"].get<std::string>());
  return object["holders"].get<std::vector<pid_t>>();
}

void refuse_second(const std::string& name) {
  const std::string option = name == Options().name ? "" : fmt::format(" --name {}", name);
  throw std::runtime_error(fmt::format(
      "the cluster '{}' is already up: take it down by 'quadrille cluster down{}', or choose another --name", name,
      option));
}

[[noreturn]] void refuse_to_wait(const State& state, const std::set<pid_t>& outside) {
  std::vector<std::string> parents;
  for (pid_t parent : outside) {
    if (identity_of(parent)) parents.push_back(described(parent));
  }
  throw std::runtime_error(
      fmt::format("the cluster '{}' was killed, but waits for a command outside with child processes there{}{}: "
                  "continue or end that",
                  state.options.name, parents.empty() ? "" : ", process ", fmt::join(parents, ", ")));
}

}  // namespace

State up(const Options& options, std::optional<pid_t> while_process) {
  check(options);
  const Descriptor while_descriptor = while_process ? open_process(*while_process) : Descriptor();
  refuse(while_process && while_descriptor.get() < 0, fmt::format("--while: no process {}", while_process.value_or(0)));
  for (const char* program : {"ip", "tc"}) {
    if (!launch::find_program(program)) {
      throw std::runtime_error(fmt::format("the program {} was not found: install iproute2", program));
    }
  }
  if (options.slurm) require_slurm_programs();
  if (find_state(options.name)) refuse_second(options.name);
  Pipe report = launch::make_pipe();
  Pipe accepted = launch::make_pipe();
  Keeper keeper(options, {report.write.get(), accepted.read.get(), while_descriptor.get()});
  report.write.reset();
  accepted.read.reset();
  State state;
  state.options = options;
  state.holders = holders_in(launch::read_all(report.read.get()));
  state.user_namespace = keeper.user_namespace();
  const auto process = identity_of(keeper.id());
  if (!process) throw std::runtime_error("the cluster was killed before it was up");
  state.keeper = *process;
  set_origin(state);
  if (options.slurm) start_slurm(state);
  if (!write_state(state)) refuse_second(options.name);
  launch::write_all(accepted.write.get(), to_text(state));
  keeper.release();
  return state;
}

void down(const std::string& name) {
  const State state = require_state(name);
  if (const auto keeper = open_running(state.keeper)) {
    constexpr std::chrono::seconds timeout(5);
    const auto parents = parents_outside(state.keeper.id);  // not known any more once their children are dead
    if (!kill_process(*keeper, timeout)) refuse_to_wait(state, parents);
  }
  remove_state(state_file(name), state);
}

}  // namespace quadrille::cluster
