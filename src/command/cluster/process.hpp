#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launch/system.hpp"

namespace quadrille::cluster {

// A process that stays the same one when its number is used again.
struct ProcessIdentity {
  pid_t id = 0;
  std::int64_t started = 0;  // in clock ticks since the machine booted
  bool operator==(const ProcessIdentity&) const = default;
};

// Nothing if there is no such process, or only what is left of one until its parent looks.
std::optional<ProcessIdentity> identity_of(pid_t id);

// A descriptor of a process; less than 0 as errno says.
launch::Descriptor open_process(pid_t id);

// A descriptor of the process, if it still lives. Throws std::runtime_error where that can't be told.
std::optional<launch::Descriptor> open_running(const ProcessIdentity& process);

// KeeperDescriptors it at once, and waits until it is gone. False if it is still there after a time of timeout.
bool kill_process(const launch::Descriptor& process, std::chrono::milliseconds timeout);

// Whether the process is gone, or goes within a second.
bool ends_soon(const ProcessIdentity& process);

// Of others in the namespace of processes that has this first one: parents outside. Until they have waited for their
// children, the first can't end.
std::set<pid_t> parents_outside(pid_t first);

// "12 (name, stopped)"
std::string described(pid_t id);

// Children of this process, dead ones that were not waited for included.
std::vector<pid_t> children();

// Waits for a child, to which it passes on the signals that a person or a program sent to this process, and returns its
// exit status. On the orphaned signal it ends all descendants at once. The signals must be blocked: BlockedSignals.
int wait_passing_signals(pid_t child);
int orphaned_signal();

// A blocked signal other than SIGCHLD that has come already. It is taken.
std::optional<int> signal_to_end();

// Blocks what wait_passing_signals waits for.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals() { restore(); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  void restore() const;

 private:
  sigset_t before_{};
};

// Returns when this process, which must be the one that its orphaned descendants come to, has no descendants any more:
// it ends those that are left after a time of grace. The signals must be blocked.
void end_descendants(std::chrono::milliseconds grace);

}  // namespace quadrille::cluster
