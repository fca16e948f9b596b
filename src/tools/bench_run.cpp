#include <stdexcept>

#include "tools/bench.hpp"

namespace quadrille::tools {

int run_benchmark(std::vector<std::string>) {
  throw std::invalid_argument("start it under mpirun: mpirun -n 4 quadrille bench ...");
}

}  // namespace quadrille::tools
