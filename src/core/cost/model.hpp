#pragma once

#include <cstdint>

namespace quadrille::cost {

// How messages travel between ranks at one kind of distance. Times are seconds.
struct Link {
  double latency = 0;      // from the end of the sender's work to the beginning of the receiver's
  double overhead = 0;     // work of a core for a message, at each end
  double work = 0;         // likewise, for a byte
  double wire = 0;         // for a byte, on the link of a node or rack in one direction; 0: there is no wire
  std::int64_t eager = 0;  // bytes; longer messages wait until the receive is posted
  double rendezvous = 0;   // and for so long after that
  double exchange = 1;     // a byte takes so many times as long on the wire while one comes from where it goes
};

// A collective of the MPI's own among one rank of each node, such as a network does in hardware. Times are seconds.
struct Offload {
  double latency = 0;  // 0: it is not known, or no faster than messages
  double byte = 0;     // for each, beyond that
};

// A machine in a few numbers: what the time of a collective is computed from.
struct Model {
  Link node;     // between ranks of a node
  Link network;  // between nodes
  Link rack;     // between racks; their uplinks are wires of their own

  Offload offload;

  double flag = 0;       // from a counter in shared memory being set to another core seeing it
  double copy = 0;       // of a byte, in a core
  double reduce = 0;     // likewise
  double operation = 0;  // for each operation of a schedule, in a core
  double call = 0;       // for beginning a collective, in a core

  std::int32_t cores = 0;    // of a node; 0: one for each rank
  double wake = 0;           // where there are fewer of them than ranks: a turn of a rank, in which it looks around
  bool one_machine = false;  // all nodes share those cores, as on an emulated cluster
};

}  // namespace quadrille::cost
