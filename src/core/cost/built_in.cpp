#include "cost/built_in.hpp"

namespace quadrille::cost {

double byte_on_ethernet(double bits_a_second) {
  constexpr double with_headers = 1.045;
  return with_headers * 8 / bits_a_second;
}

Model built_in(NetworkKind kind, std::int64_t megabits) {
  Model model;
  model.node = {.latency = 0.2e-6, .overhead = 0.12e-6, .work = 0.35e-9, .wire = 0, .eager = 4096, .rendezvous = 3e-6};
  if (kind == NetworkKind::kernel) {
    model.network = {
        .latency = 20e-6, .overhead = 4e-6, .work = 0.3e-9, .wire = 0.8e-9, .eager = 65536, .rendezvous = 40e-6};
  } else {
    model.network = {
        .latency = 1e-6, .overhead = 0.25e-6, .work = 0.02e-9, .wire = 0.08e-9, .eager = 8192, .rendezvous = 2e-6};
  }
  if (megabits > 0) {
    const double bits = 1e6 * static_cast<double>(megabits);
    model.network.wire = kind == NetworkKind::kernel ? byte_on_ethernet(bits) : 8 / bits;
  }
  model.rack = model.network;
  model.rack.latency *= kind == NetworkKind::kernel ? 2 : 1.5;
  model.flag = 0.1e-6;
  model.copy = 0.1e-9;
  model.reduce = 0.15e-9;
  model.operation = 0.04e-6;
  model.call = 0.2e-6;
  model.wake = 4e-6;
  return model;
}

}  // namespace quadrille::cost
