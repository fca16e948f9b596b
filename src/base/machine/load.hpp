#pragma once

#include <cstdint>

namespace quadrille::machine {

// What the processors of this machine have done since it started, and this process since it did.
struct Load {
  double busy = 0;  // seconds that all processors worked for processes or for other virtual machines
  double own = 0;   // seconds of this process
};
// `busy` is 0 if the system does not tell.
Load load();

// Processors of the machine, whoever may use them.
double processors();

// The same for processes on one machine, whatever namespaces they are in.
std::uint64_t identity();

}  // namespace quadrille::machine
