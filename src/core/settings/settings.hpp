#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "cost/model.hpp"
#include "select/guide.hpp"
#include "select/selector.hpp"

namespace quadrille {

// What the environment sets for a communicator. Some of it must be the same on every rank, so all of it is agreed: rank
// 0's counts. Plain bytes, to be broadcast.
struct Settings {
  Preferences preferences;       // what algorithms are selected by
  std::int32_t in_flight = 32;   // QUADRILLE_IN_FLIGHT: messages of a collective under way in each direction
  std::int64_t shared = -1;      // QUADRILLE_SHARED: bytes a rank has in each lane of its node's memory; -1: unset
  bool windows = true;           // QUADRILLE_WINDOWS: 0: memory of windows is plain, and messages go instead
  std::int64_t staging = 65536;  // QUADRILLE_STAGING: bytes of each window for data that comes before a call
  bool check = false;            // QUADRILLE_CHECK: compare every call across ranks before it starts
  double patience = 0.5;         // QUADRILLE_PATIENCE: seconds until checked mode names those who are missing
  double watchdog = 0;           // QUADRILLE_WATCHDOG: seconds of waiting until what is awaited is printed; 0: never
  bool progress = false;         // QUADRILLE_PROGRESS: a thread advances what is pending; needs MPI_THREAD_MULTIPLE
  std::uint64_t shuffle = 0;     // QUADRILLE_SHUFFLE: a seed: post what is ready in random order; 0: in program order
  std::int32_t signal = 0;       // QUADRILLE_SIGNAL: a signal that prints what is awaited; 0: none
  cost::Model model;             // QUADRILLE_MACHINE, or what is known otherwise; see machine_here
  bool usual_mpi = false;        // nothing in the environment changes which algorithms the MPI chooses by itself
  // QUADRILLE_TABLE: its rules under this MPI, which the engine knows; null: there is none
  const std::vector<PlacedRule>* table = nullptr;

  // For the drop-in.
  bool off = false;                           // QUADRILLE=off: every call is passed through to MPI
  std::array<bool, collectives> forced = {};  // QUADRILLE_FORCE=all or bcast,allreduce: replaced wherever possible
  std::array<bool, collectives> only = {};    // QUADRILLE_ONLY, likewise: no others are replaced
  std::array<bool, collectives> except = {};  // QUADRILLE_EXCEPT, likewise: these are never replaced
  bool except_point_to_point = false;         // QUADRILLE_EXCEPT=p2p: nor are waits for blocking messages
  bool report = false;                        // QUADRILLE_REPORT is set
  bool trace = false;                         // QUADRILLE_TRACE is set
  bool trace_waits = false;                   // QUADRILLE_TRACE_WAITS: ranks meet before blocking collectives
  bool reorder = false;                       // QUADRILLE_REORDER: grids and graphs that may be reordered are
  // QUADRILLE_LEARN, in percent: share of the time in collectives that trials may cost beyond the MPI's own; 0: nothing
  // is tried, nor remembered
  double learn = 0.02;
  // What earlier jobs learned on such machines under this MPI, which the drop-in reads; null: nothing
  const std::vector<PlacedRule>* remembered = nullptr;

  // Where a node is oversubscribed each piece that goes through shared memory takes turns of all ranks: few large ones.
  std::int64_t shared_bytes(bool crowded) const {
    constexpr std::int64_t ample = 320 << 10;
    return shared >= 0 ? shared : crowded ? 4 * ample : ample;
  }
  // Whether algorithms may leave the leaders' level to the MPI's own collectives.
  bool offloads() const;
  // Whether somebody wants to know how long things take.
  bool watched() const { return check || watchdog > 0; }
};

// QUADRILLE_MACHINE for built-in numbers.
inline constexpr std::string_view no_machine = "none";

// The value of a variable; empty: unset.
using Lookup = std::function<std::string_view(const char* name)>;

// A variable of this process's environment, or the site's default for it; empty: neither. Throws std::invalid_argument
// if the site's file can't be read.
std::string_view setting(const char* name);

// All but the model, the table and what is remembered. Throws std::invalid_argument for what it can't read, with the
// variable's name.
Settings read_settings(const Lookup& lookup);

// Likewise; throws also for what is wrong in the files that variables name.
Settings check_settings(const Lookup& lookup);

}  // namespace quadrille
