#pragma once

#include <cstdint>
#include <memory>
#include <quadrille/detail/call.hpp>
#include <string_view>

#include "algorithms/catalogue.hpp"
#include "engine/context.hpp"

namespace quadrille::api {

using Prepared = std::unique_ptr<engine::Task>;

// How a call is to be served, the same on every rank.
struct Wishes {
  Choice algorithm = {};     // none: it is chosen
  bool fixed_order = false;  // of a reduction: folded from rank 0 up, left to right
  std::int64_t memory = 0;   // bytes a rank; 0: no bound but the communicator's
  bool by_table = false;     // only where a rule of the table holds
};

// What the call keeps beyond its start: types and operations that the user may free. A blocking call need not.
enum class Handles : std::uint8_t { borrowed, kept };

// A collective as MPI's callers describe it, made into a task that is bound and ready to start. Throws Error for
// arguments that can't be served; what all ranks must pass alike is refused on all of them alike. Null, on all ranks,
// where only the table is to be followed and it has no rule.
Prepared prepare(engine::Context& context, const detail::Call& call, const Wishes& wishes, Handles handles);

// The algorithm of that name; none if the name is empty. Throws Error where there is none, with the names there are.
Choice named(Collective collective, std::string_view name);

}  // namespace quadrille::api
