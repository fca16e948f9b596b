#include "replay/world.hpp"

#include <utility>

#include "replay/simulated_world.hpp"

namespace quadrille::replay {

Outcome run(std::vector<std::unique_ptr<Plan>> plans, const Options& options) {
  return World(std::move(plans), options).run();
}

}  // namespace quadrille::replay
