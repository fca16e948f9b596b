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

// Identifies a process even if its ID is reused.
struct ProcessIdentity {
  pid_t id = 0;
  std::int64_t started = 0;  // in clock ticks since boot
  bool operator==(const ProcessIdentity&) const = default;
};

// Nothing if there is no such process, or it is a zombie.
std::optional<ProcessIdentity> identity_of(pid_t id);

// A pidfd; negative on error, see errno.
launch::Descriptor open_process(pid_t id);

// A pidfd of the process, if it is still running. Throws std::runtime_error if that can't be determined.
std::optional<launch::Descriptor> open_running(const ProcessIdentity& process);

// Sends SIGKILL and waits until the process is gone. False on timeout.
bool kill_process(const launch::Descriptor& process, std::chrono::milliseconds timeout);

// Whether the process is gone, or ends within a second.
bool ends_soon(const ProcessIdentity& process);

// The parents outside of processes in the PID namespace whose process 1 is `first`. It can't end before they have
// reaped their children.
std::set<pid_t> parents_outside(pid_t first);

// "12 (name, stopped)"
std::string described(pid_t id);

// The children of this process, including zombies.
std::vector<pid_t> children();

// Waits for a child and returns its exit status. Forwards signals that a user or program sends to this process. On the
// orphaned signal it kills all descendants. The signals must be blocked: BlockedSignals. `received` becomes the last
// one, if there was any.
int wait_passing_signals(pid_t child, int* received = nullptr);
int orphaned_signal();

// Consumes and returns a pending blocked signal other than SIGCHLD.
std::optional<int> signal_to_end();

// Blocks the signals that wait_passing_signals handles.
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

// Returns when this process, which must be a subreaper, has no descendants any more. Kills those left after the grace
// period. The signals must be blocked.
void end_descendants(std::chrono::milliseconds grace);

}  // namespace quadrille::cluster
