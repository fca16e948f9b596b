#pragma once

#include <quadrille/detail/call.hpp>

#include "select/case.hpp"

namespace quadrille::api {

// What an element takes in memory, wherever its data lies.
std::int64_t extent_of(MPI_Datatype type);

// A call in numbers: which sides this rank has, their counts and the sizes of their types. Nothing is checked. What the
// options say, and of a reduction whether it commutes, is for the caller to fill in. Sums of counts, which take a look
// at each, are there where a Case or a budget needs them, or if `all_sums` asks for them.
LocalCall local_call(const detail::Call& call, Rank rank, Rank ranks, bool all_sums = false);

}  // namespace quadrille::api
