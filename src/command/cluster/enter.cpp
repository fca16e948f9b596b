#include "cluster/enter.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <stdexcept>

#include "cluster/node.hpp"
#include "cluster/process.hpp"
#include "cluster/spawn.hpp"
#include "launch/command.hpp"
#include "launch/system.hpp"

namespace quadrille::cluster {

namespace {

using launch::Descriptor;
using launch::Pipe;
using launch::require;

constexpr int failed = 2;

// Prints the exception of the function, if any.
int safely(const std::function<int()>& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    launch::write_all(STDERR_FILENO, fmt::format("quadrille: {}\n", error.what()));
    return failed;
  }
}

Descriptor keeper_of(const State& state) {
  auto keeper = open_running(state.keeper);
  if (!keeper) throw std::runtime_error(fmt::format("the cluster '{}' is no longer up", state.options.name));
  return std::move(*keeper);
}

// The signal is raised even if the parent is already gone.
void follow_parent(const Descriptor& parent, int when_orphaned) {
  prctl(PR_SET_PDEATHSIG, when_orphaned);
  pollfd gone{parent.get(), POLLIN, 0};
  if (poll(&gone, 1, 0) > 0) raise(when_orphaned);
}

// A helper process enters the namespaces, since a process can't leave a user namespace again. What it starts there is a
// child of this process, whose ID is returned.
pid_t start_inside(const State& state, const std::function<void()>& inside) {
  const Descriptor keeper = keeper_of(state);
  Pipe result = launch::make_pipe();
  std::fflush(nullptr);
  const pid_t helper = fork();
  require(helper, "can't fork");
  if (helper == 0) {
    const int user = state.user_namespace ? CLONE_NEWUSER : 0;
    const bool entered = setns(keeper.get(), user | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET) == 0;
    const pid_t child = entered ? fork_with(CLONE_PARENT) : -1;
    if (child == 0) {
      result.write.reset();  // only the helper writes
      inside();
    }
    const int answer = child < 0 ? -errno : child;
    launch::write_all(result.write.get(), {reinterpret_cast<const char*>(&answer), sizeof answer});
    _exit(0);
  }
  result.write.reset();
  const std::string output = launch::read_all(result.read.get());
  launch::wait_for(helper);
  int answer = -ESRCH;
  if (output.size() == sizeof answer) output.copy(reinterpret_cast<char*>(&answer), sizeof answer);
  if (answer < 0) launch::fail(-answer, fmt::format("can't enter the cluster '{}'", state.options.name));
  return answer;
}

}  // namespace

int in_cluster(const State& state, const std::function<int()>& function, int when_orphaned) {
  const Descriptor self = open_process(getpid());
  require(self.get(), "can't open a process");
  const BlockedSignals blocked;
  const pid_t child = start_inside(state, [&] {
    follow_parent(self, when_orphaned);
    blocked.restore();
    _exit(safely(function));
  });
  return wait_passing_signals(child);
}

std::string query_cluster(const State& state, const std::function<std::string()>& function) {
  Pipe answer = launch::make_pipe();
  // Read after the child has ended: no answer is long enough to fill the pipe.
  const int status = in_cluster(
      state,
      [&] {
        launch::write_all(answer.write.get(), function());
        return 0;
      },
      SIGKILL);
  answer.write.reset();
  if (status != 0) throw std::runtime_error(fmt::format("the cluster '{}' does not answer", state.options.name));
  return launch::read_all(answer.read.get());
}

std::string query_node(const State& state, int node, const std::function<std::string()>& function) {
  Pipe answer = launch::make_pipe();
  const pid_t child = fork();
  require(child, "can't fork");
  if (child == 0) {
    int status = 0;
    std::string text;
    try {
      enter_node(state.holders.at(node), node, state.options.skew);
      text = function();
    } catch (const std::exception& error) {
      text = fmt::format("{}: {}", node_name(node), error.what());
      status = failed;
    }
    launch::write_all(answer.write.get(), text);
    _exit(status);
  }
  answer.write.reset();
  std::string text = launch::read_all(answer.read.get());
  if (launch::exit_status(launch::wait_for(child)) != 0) throw std::runtime_error(text);
  return text;
}

void return_to(const std::filesystem::path& folder) {
  require(chdir(folder.c_str()), fmt::format("can't change to {} inside the cluster", folder.string()),
          "file systems mounted after 'quadrille cluster up' may be invisible there: restart the cluster");
}

int run_on_node(const State& state, int node, const std::vector<std::string>& words) {
  const std::filesystem::path folder = std::filesystem::current_path();
  const auto command = [&] {
    enter_node(state.holders.at(node), node, state.options.skew);
    return_to(folder);
    set_environment_on_node(state.options);
    return launch::exec_program(words);
  };
  return in_cluster(state, command, SIGKILL);
}

int run_remote_shell(const std::filesystem::path& state_file, const std::vector<std::string>& words) {
  const State state = read_state(state_file);
  std::size_t host = 0;
  while (host < words.size() && words[host].substr(0, 1) == "-") ++host;
  if (host + 1 >= words.size()) throw std::invalid_argument("the launcher passed no host and command");
  const int node = node_of(words[host], state.options.nodes);
  const std::filesystem::path folder = std::filesystem::current_path();
  enter_node(state.holders.at(node), node, state.options.skew);
  return_to(folder);
  set_environment_on_node(state.options);
  // As ssh does: the arguments form one command.
  const std::vector<std::string> command(words.begin() + static_cast<std::ptrdiff_t>(host) + 1, words.end());
  return launch::exec_program({"/bin/sh", "-c", fmt::format("{}", fmt::join(command, " "))});
}

}  // namespace quadrille::cluster
