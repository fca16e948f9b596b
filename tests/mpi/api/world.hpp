#pragma once

#include <cstdlib>
#include <initializer_list>
#include <quadrille/quadrille.hpp>
#include <string>
#include <utility>

namespace quadrille::test {

using Environment = std::initializer_list<std::pair<const char*, std::string>>;

// A communicator of all ranks, made while the environment says more than usual.
inline Communicator world(Environment environment = {}, MPI_Comm parent = MPI_COMM_WORLD) {
  for (const auto& [name, value] : environment) setenv(name, value.c_str(), 1);
  Communicator comm(parent);
  for (const auto& [name, value] : environment) unsetenv(name);
  return comm;
}

}  // namespace quadrille::test
