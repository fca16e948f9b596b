#pragma once

#include <quadrille/detail/call.hpp>
#include <quadrille/detail/range_call.hpp>

namespace quadrille::api {

// A call on ranges as one on buffers: lengths are checked against one another, and data in place is recognised by its
// address. It refers to what the other owns. Throws Error.
detail::Call checked(const detail::RangeCall& call, int rank, int ranks);

}  // namespace quadrille::api
