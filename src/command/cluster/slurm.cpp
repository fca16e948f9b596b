#include "cluster/slurm.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cluster/enter.hpp"
#include "cluster/node.hpp"
#include "cluster/process.hpp"
#include "cluster/slurm_files.hpp"
#include "cluster/spawn.hpp"
#include "launch/command.hpp"
#include "launch/system.hpp"

namespace quadrille::cluster {

namespace {

using launch::Descriptor;
using launch::require;

constexpr std::chrono::seconds time_to_start(60);
constexpr int controller_port = 6817;
constexpr std::chrono::milliseconds between_looks(50);

struct Daemon {
  std::string program;
  int node;
  pid_t id;  // inside the cluster
};

std::string log_of(const std::string& program) {
  return slurm_file(program + ".log");
}

std::string random_key() {
  constexpr std::size_t bytes = 128;
  std::string key(bytes, '\0');
  require(getrandom(key.data(), key.size(), 0), "can't create a key for munge");
  return key;
}

bool listens(int port) {
  const Descriptor end(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(end.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// On a node. Orphaned, the daemon becomes a child of the keeper.
pid_t start_daemon(const std::vector<std::string>& words) {
  const std::string& program = words.front();
  const auto path = launch::find_program(program);
  const pid_t child = path ? fork() : -1;
  require(child, fmt::format("can't start {}", program));
  if (child > 0) return child;
  setsid();
  constexpr mode_t all_read = 0644;
  const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor log(open(log_of(program).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, all_read));
  dup2(null.get(), STDIN_FILENO);
  dup2(log.get(), STDOUT_FILENO);
  dup2(log.get(), STDERR_FILENO);
  close_all_but({});
  std::vector<std::string> full = words;
  full.front() = path->string();
  _exit(launch::exec_program(full));
}

// On a node: writes Slurm's files and starts munged, by which the daemons and commands of Slurm know each other.
pid_t prepare(const Options& options, const std::string& key) {
  umask(022);
  for (const char* folder : {"", "state", "spool"}) std::filesystem::create_directory(slurm_file(folder));
  write_file(slurm_file("slurm.conf"), slurm_configuration(options));
  if (options.racks > 0) write_file(slurm_file("topology.conf"), slurm_topology(options));
  const std::string key_file = slurm_file("munge.key");
  write_file(key_file, "");
  require(chmod(key_file.c_str(), S_IRUSR | S_IWUSR), fmt::format("can't protect {}", key_file));
  write_file(key_file, key);
  return start_daemon({"munged", "--foreground", "--key-file=" + key_file, "--socket=" + slurm_file("munge.socket"),
                       "--pid-file=" + slurm_file("munged.pid"), "--seed-file=" + slurm_file("munged.seed")});
}

std::string last_lines(const State& state, const Daemon& daemon) {
  return query_node(state, daemon.node, [&] {
    constexpr std::size_t most = 8;
    std::ifstream log(log_of(daemon.program));
    std::deque<std::string> lines;
    for (std::string line; std::getline(log, line);) {
      lines.push_back(line);
      if (lines.size() > most) lines.pop_front();
    }
    return fmt::format("the last lines of {} on {}:\n{}", daemon.program, node_name(daemon.node),
                       fmt::join(lines, "\n"));
  });
}

// What is not yet as it should be, and whose log may say why.
struct Complaint {
  std::string what;
  Daemon suspect;
};

// Slurm being started, from inside the cluster.
class Start {
 public:
  explicit Start(const State& state) : state_(state), nodes_(state.options.nodes) {}

  void run() {
    const std::string key = random_key();
    for (int node = 0; node < nodes_; ++node) add("munged", node, [&] { return prepare(state_.options, key); });
    wait_until_fine([this] { return complaint_about_munge(); });
    add("slurmctld", 0, [] { return start_daemon({"slurmctld", "-D"}); });
    wait_until_fine([this] { return complaint_about_controller(); });
    for (int node = 0; node < nodes_; ++node) {
      add("slurmd", node, [&] { return start_daemon({"slurmd", "-D", "-N", node_name(node)}); });
    }
    wait_until_fine([this] { return complaint_about_nodes(); });
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Look = std::function<std::optional<Complaint>()>;

  void add(const std::string& program, int node, const std::function<pid_t()>& start) {
    const std::string id = on_node(node, [&] { return std::to_string(start()); });
    daemons_.push_back({program, node, std::stoi(id)});
  }

  std::string on_node(int node, const std::function<std::string()>& function) const {
    return query_node(state_, node, [&] {
      set_environment_on_node(state_.options);
      return function();
    });
  }

  const Daemon& daemon(const std::string& program, int node) const {
    return *std::find_if(daemons_.begin(), daemons_.end(),
                         [&](const Daemon& one) { return one.program == program && one.node == node; });
  }

  std::optional<Complaint> complaint_about_munge() const {
    const auto look = [] { return std::string(std::filesystem::exists(slurm_file("munge.socket")) ? "there" : ""); };
    for (int node = 0; node < nodes_; ++node) {
      if (on_node(node, look).empty()) return Complaint{"munged does not listen", daemon("munged", node)};
    }
    return std::nullopt;
  }

  // Slurm's commands and daemons wait for seconds after they could not reach the controller: try its port first.
  std::optional<Complaint> complaint_about_controller() const {
    const auto look = [] { return std::string(listens(controller_port) ? "yes" : ""); };
    if (on_node(0, look).empty()) return Complaint{"slurmctld does not listen", daemon("slurmctld", 0)};
    return std::nullopt;
  }

  std::optional<Complaint> complaint_about_nodes() const {
    const std::string answer = on_node(0, [] {
      return launch::run({"sinfo", "--noheader", "--Node", "--format=%N %T"}).text;
    });
    std::istringstream lines(answer);
    std::map<std::string, std::string> states;
    for (std::string node, state; lines >> node >> state;) states[node] = state;
    for (int node = 0; node < nodes_; ++node) {
      const auto found = states.find(node_name(node));
      if (found == states.end()) return Complaint{"sinfo: " + answer, daemon("slurmctld", 0)};
      if (found->second != "idle") {
        return Complaint{fmt::format("{} is {}, not idle", node_name(node), found->second), daemon("slurmd", node)};
      }
    }
    return std::nullopt;
  }

  void wait_until_fine(const Look& look) const {
    while (const auto complaint = look()) {
      for (const Daemon& one : daemons_) {
        // One that has ended is a zombie until the cluster is up.
        if (!identity_of(one.id)) {
          throw std::runtime_error(fmt::format("{} ended; {}", one.program, last_lines(state_, one)));
        }
      }
      if (Clock::now() > deadline_) {
        throw std::runtime_error(fmt::format("after {} s {}; {}", time_to_start.count(), complaint->what,
                                             last_lines(state_, complaint->suspect)));
      }
      std::this_thread::sleep_for(between_looks);
    }
  }

  const State& state_;
  int nodes_;
  std::vector<Daemon> daemons_;
  Clock::time_point deadline_ = Clock::now() + time_to_start;
};

}  // namespace

void require_slurm_programs() {
  for (const char* program : {"munged", "slurmctld", "slurmd", "sinfo"}) {
    if (launch::find_program(program)) continue;
    throw std::runtime_error(
        fmt::format("--slurm: the program {} was not found: install Slurm, on Debian the packages munge slurmctld "
                    "slurmd slurm-client slurm-wlm-basic-plugins",
                    program));
  }
}

void start_slurm(const State& state) {
  if (state.user_namespace) {
    throw std::runtime_error(
        "--slurm: Slurm's daemons set supplementary groups, which the kernel denies in a user namespace of an "
        "ordinary user: run it as root");
  }
  const std::string fault = query_cluster(state, [&state]() -> std::string {
    try {
      Start(state).run();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  });
  if (!fault.empty()) throw std::runtime_error("Slurm did not start: " + fault);
}

}  // namespace quadrille::cluster
