#pragma once

#include <memory>
#include <quadrille/detail/call.hpp>
#include <quadrille/detail/handle.hpp>
#include <quadrille/detail/in_place_exchange.hpp>
#include <quadrille/exchange.hpp>
#include <quadrille/options.hpp>

#include "api/calls.hpp"

namespace quadrille::api {

// What the C++ and the C interface have in common.

// Throws Error for communicators that are not supported, and before MPI_Init.
void require_intracommunicator(MPI_Comm comm);

// Returns when all ranks of the communicator have called it. Pending collectives advance meanwhile.
void meet(MPI_Comm comm);
// Collective over `comm`, an intracommunicator. Throws Error for communicators that are not supported.
std::shared_ptr<engine::Context> context_of(MPI_Comm comm);

// A blocking call.
void run(engine::Context& context, const detail::Call& call, const Options& options);
// A call that is ready to start.
detail::Handle handle(const std::shared_ptr<engine::Context>& context, const detail::Call& call,
                      const Options& options);

// An exchange in place that is ready to start; each run fills in the result.
detail::Handle handle(const std::shared_ptr<engine::Context>& context, const detail::InPlaceExchange& exchange,
                      const Options& options, const std::shared_ptr<ExchangeResult>& result);

}  // namespace quadrille::api
