#pragma once

#include <memory>
#include <quadrille/quadrille.hpp>

#include "api/calls.hpp"
#include "engine/moving.hpp"

namespace quadrille::api {

// What both interfaces stand on.

// Collective over `comm`, an intracommunicator. Throws Error for what can't be served.
std::shared_ptr<engine::Context> context_of(MPI_Comm comm);

// A call from its start to its end.
void run(engine::Context& context, const detail::Call& call, const Options& options);
// A call made ready, with the options that a user passed.
detail::Handle handle(const std::shared_ptr<engine::Context>& context, const detail::Call& call,
                      const Options& options);

// Data to be moved within its own memory, made ready; what comes of it goes to `moved`.
detail::Handle handle(const std::shared_ptr<engine::Context>& context, const detail::Move& move, const Options& options,
                      const std::shared_ptr<Moved>& moved);

}  // namespace quadrille::api
