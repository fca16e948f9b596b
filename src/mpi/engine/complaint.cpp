#include "engine/complaint.hpp"

#include <fmt/format.h>

#include "engine/mpi.hpp"

namespace quadrille::engine {

using Of = Complaint::Of;

std::string text_of(const Complaint& complaint, std::int64_t rank) {
  const auto of_rank = [&](const std::string& what) {
    return fmt::format("data to be moved in place: rank {} {}", rank, what);
  };
  const std::int64_t detail = complaint.detail;
  switch (complaint.what) {
    case Of::nothing:
      break;
    case Of::negative:
      return of_rank(fmt::format("has a count or displacement of {}: it must not be negative", detail));
    case Of::excess:
      return of_rank("has counts and displacements that are more bytes than 64 bits can count");
    case Of::lengths:
      return of_rank(fmt::format("has {} counts or displacements: there must be one for each rank", detail));
    case Of::algorithm:
      return of_rank("names an algorithm: with any counts there are none to choose from");
    case Of::type:
      return of_rank("has no type for its elements: it is MPI_DATATYPE_NULL, or one that MPI does not describe");
    case Of::extent:
      return of_rank(
          fmt::format("has a type whose elements overlap each other: its extent is {} bytes, and its data "
                      "spans more",
                      detail));
    case Of::ragged:
      return of_rank(fmt::format("has vectors of different lengths, {} elements and more", detail));
    case Of::nobody:
      return of_rank(fmt::format("has an element for rank {}, which there is not", detail));
    case Of::uncovered:
      return of_rank(fmt::format("has vectors of {} elements, and counts that don't add up to that", detail));
    case Of::unexpected:
      return of_rank(fmt::format("expects another number of elements from rank {} than that one sends", detail));
    case Of::overlap:
      return of_rank(
          fmt::format("has blocks that overlap at element {}: those to be sent must be apart from each other, "
                      "and those to be received as well",
                      detail));
    case Of::outside:
      return of_rank(fmt::format("has a block that ends at element {}, behind the end of the data", detail));
    case Of::nowhere:
      return of_rank("has no buffer: its address is NULL, or it is a section with gaps, in Fortran");
    case Of::memory:
      return of_rank(fmt::format("may take too little memory: {} bytes are the least", detail));
    case Of::room:
      return of_rank(
          fmt::format("has no room for what it receives, and too little memory to make it: reserve {} "
                      "elements, or allow more memory",
                      detail));
    case Of::exhausted:
      return of_rank(
          fmt::format("could not allocate its buffer of {} bytes: lower the limit on memory, or free some", detail));
  }
  return {};
}

int error_code_of(const Complaint& complaint) {
  switch (complaint.what) {
    case Of::negative:
    case Of::excess:
    case Of::ragged:
    case Of::uncovered:
      return MPI_ERR_COUNT;
    case Of::type:
    case Of::extent:
      return MPI_ERR_TYPE;
    case Of::nobody:
      return MPI_ERR_RANK;
    case Of::unexpected:
      return MPI_ERR_TRUNCATE;
    case Of::nowhere:
      return MPI_ERR_BUFFER;
    case Of::memory:
    case Of::room:
    case Of::exhausted:
      return MPI_ERR_NO_MEM;
    case Of::nothing:
    case Of::lengths:
    case Of::algorithm:
    case Of::overlap:
    case Of::outside:
      break;
  }
  return MPI_ERR_ARG;
}

}  // namespace quadrille::engine
