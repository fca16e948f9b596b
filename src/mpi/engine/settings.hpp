#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "algorithms/catalogue.hpp"
#include "engine/mpi.hpp"
#include "engine/rules.hpp"

namespace quadrille::engine {

// What a communicator was told by the environment. Some of it must be the same on every rank, so all
// of it is agreed: rank 0's word counts. Plain bytes, to be broadcast.
struct Settings {
  std::int64_t memory =
      0;  // QUADRILLE_MEMORY: bytes a rank, on each communicator, for scratch and packing; 0: no bound
  std::int64_t part = 1 << 30;  // QUADRILLE_PART: longer messages travel in parts of so many bytes
  std::int32_t in_flight = 32;  // QUADRILLE_IN_FLIGHT: messages of a collective under way in each direction
  // Over TCP Open MPI sends 64 KiB at once, headers included; longer messages wait for an answer first.
  std::int64_t segment = 32768;  // QUADRILLE_SEGMENT: bytes of a segment, for algorithms that pipeline
  std::int64_t shared = -1;      // QUADRILLE_SHARED: bytes a rank has in each lane of its node's memory; -1: not told
  bool check = false;            // QUADRILLE_CHECK: compare every call across ranks before it starts
  double patience = 0.5;         // QUADRILLE_PATIENCE: seconds until checked mode names those who are missing
  double watchdog = 0;           // QUADRILLE_WATCHDOG: seconds of waiting until what is awaited is printed; 0: never
  bool progress = false;         // QUADRILLE_PROGRESS: a thread advances what is pending; needs MPI_THREAD_MULTIPLE
  std::uint64_t shuffle = 0;     // QUADRILLE_SHUFFLE: a seed: post what is ready in random order; 0: in program order
  std::int32_t signal = 0;       // QUADRILLE_SIGNAL: a signal that prints what is awaited; 0: none
  // QUADRILLE_ALGORITHM=allreduce=ring,bcast=binomial: their places in the catalogue, from 1; 0: not told
  std::array<std::int32_t, collectives> algorithm = {};
  std::array<std::int32_t, collectives> width = {};  // the numbers behind their names; 0: not told

  const Rules* table = nullptr;  // QUADRILLE_TABLE: what it says under this MPI; null: there is none

  // For the drop-in.
  bool off = false;                           // QUADRILLE=off: everything is handed down
  std::array<bool, collectives> forced = {};  // QUADRILLE_FORCE=all or bcast,allreduce: served wherever they can be
  std::array<bool, collectives> only = {};    // QUADRILLE_ONLY, likewise: the others are never served
  std::array<bool, collectives> except = {};  // QUADRILLE_EXCEPT, likewise: these are never served
  bool except_point_to_point = false;         // QUADRILLE_EXCEPT=p2p: nor are blocking messages waited for
  bool report = false;                        // QUADRILLE_REPORT is set

  Choice told(Collective collective) const;
  // Where ranks share cores each piece that goes through shared memory takes turns of all of them: few large ones.
  std::int64_t shared_bytes(bool crowded) const {
    constexpr std::int64_t ample = 320 << 10;
    return shared >= 0 ? shared : crowded ? 4 * ample : ample;
  }
  // Whether somebody wants to know how long things take.
  bool watched() const { return check || watchdog > 0; }

  // What the environment of this rank says. Throws Error for what it can't read, with the variable's name.
  static Settings from_environment();
};

// A variable of this rank's environment, or what the site has set in its place; empty: neither. Throws Error if the
// site's file can't be read.
std::string_view setting(const char* name);

// What rank 0's environment says. Collective; if it can't be read, every rank throws the same Error.
Settings agreed_settings(MPI_Comm comm);

}  // namespace quadrille::engine
