#include "api/local_call.hpp"

#include <algorithm>
#include <limits>

#include "engine/mpi.hpp"

namespace quadrille::api {

namespace {

std::int64_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  return type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS ? 0 : size;
}

// Counts may be anything: what is too much to count is very much.
void add(std::int64_t& total, std::int64_t count, std::int64_t size) {
  constexpr std::int64_t very_much = std::numeric_limits<std::int64_t>::max();
  std::int64_t product = 0;
  if (__builtin_mul_overflow(count, size, &product) || __builtin_add_overflow(total, product, &total))
    total = very_much;
}

void describe(const detail::UserBuffer& buffer, Rank ranks, bool reduces, bool sums, LocalCall::Side& side) {
  const bool own_type = buffer.type != MPI_DATATYPE_NULL;
  side.count = buffer.count;
  side.type_bytes = buffer.types ? 1 : own_type ? size_of(buffer.type) : buffer.element_bytes;
  side.type_extent = reduces && own_type ? extent_of(buffer.type) : side.type_bytes;
  side.counted = static_cast<bool>(buffer.counts);
  for (Rank peer = 0; side.counted && sums && peer < ranks; ++peer) {
    const std::int64_t count = buffer.counts[peer];
    // Of an empty block nobody looks at the type, which may be null.
    add(side.total, count, buffer.types && count != 0 ? size_of(buffer.types[peer]) : 1);
    side.largest = std::max(side.largest, count);
  }
}

}  // namespace

std::int64_t extent_of(MPI_Datatype type) {
  MPI_Count bound = 0;
  MPI_Count extent = 0;
  MPI_Count true_extent = 0;
  if (type == MPI_DATATYPE_NULL || PMPI_Type_get_extent_x(type, &bound, &extent) != MPI_SUCCESS) return 0;
  if (PMPI_Type_get_true_extent_x(type, &bound, &true_extent) != MPI_SUCCESS) return 0;
  return std::max<std::int64_t>(extent < 0 ? -extent : extent, true_extent);
}

LocalCall local_call(const detail::Call& call, Rank rank, Rank ranks, bool all_sums) {
  const Traits& of = traits(call.collective);
  const bool receives_in_place = of.rooted && of.input == Traits::Side::all;
  const detail::UserBuffer& named = receives_in_place ? call.output : call.input;
  // Some programs give a reduction one buffer twice. MPI forbids it, and Open MPI lets it pass.
  const bool twice = of.reduces && call.input.address && call.input.address == call.output.address &&
                     (!of.rooted || call.root == rank);
  LocalCall local{.collective = call.collective, .rank = rank, .root = call.root};
  local.in_place = of.may_be_in_place && (named.address == MPI_IN_PLACE || twice);
  const Problem place{.rank = rank, .ranks = ranks, .root = call.root, .in_place = local.in_place};
  local.input.significant = block_count(call.collective, place, Buffer::input) > 0;
  local.output.significant = block_count(call.collective, place, Buffer::output) > 0;
  const bool sums = all_sums || local.in_place || sizes_are_known(call.collective);
  if (local.input.significant) describe(call.input, ranks, of.reduces, sums, local.input);
  // A reduction has one type and count everywhere, of which this side tells, whether the rank has it or not.
  if (local.output.significant || of.reduces) describe(call.output, ranks, of.reduces, sums, local.output);
  return local;
}

}  // namespace quadrille::api
