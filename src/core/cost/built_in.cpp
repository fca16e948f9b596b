#include "cost/built_in.hpp"

namespace quadrille::cost {

Model built_in(std::int32_t cores) {
  Model model;
  model.node = {.latency = 0.2e-6, .overhead = 0.12e-6, .work = 0.35e-9, .wire = 0, .eager = 4096, .rendezvous = 3e-6};
  model.network = {
      .latency = 20e-6, .overhead = 4e-6, .work = 0.3e-9, .wire = 0.8e-9, .eager = 65536, .rendezvous = 40e-6};
  model.rack = model.network;
  model.rack.latency *= 2;
  model.flag = 0.1e-6;
  model.copy = 0.1e-9;
  model.reduce = 0.15e-9;
  model.operation = 0.04e-6;
  model.call = 0.2e-6;
  model.cores = cores;
  model.wake = 4e-6;
  return model;
}

}  // namespace quadrille::cost
