#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <quadrille/detail/call.hpp>
#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "api/handle.hpp"
#include "compose/problem.hpp"
#include "schedule/schedule.hpp"

namespace quadrille::bench {

// A collective on so many bytes, as every rank of a communicator calls it: by the MPI's own function or by ours, on the
// same buffers. The bytes are a rank's own: what it passes in, or gets where the root alone passes something in; of
// those asked for, as many as make blocks of whole elements, and one of each at least. Of collectives whose blocks have
// counts of their own, the counts differ.
class Exercise {
 public:
  Exercise(Collective collective, std::int64_t bytes, int rank, int ranks);

  Collective collective() const { return collective_; }
  std::int64_t bytes() const { return bytes_; }
  // Why it can't be run; empty if it can. The same on all ranks.
  const std::string& refusal() const { return refusal_; }
  std::int64_t input_bytes() const { return input_bytes_; }
  std::int64_t output_bytes() const { return output_bytes_; }

  // What the buffers are for the call; `root` counts where there is one.
  void native(const void* input, void* output, int root, MPI_Comm comm) const;
  void ours(const void* input, void* output, int root, engine::Context& context, const Options& options) const;
  // What ours executes on this rank; nothing if the algorithm, or the library's choice if that is empty, can't.
  std::optional<Schedule> schedule(const void* input, void* output, int root, engine::Context& context,
                                   const std::string& algorithm) const;
  // What ours is to the algorithm of a variant; valid as long as the exercise.
  Problem problem(const Variant& variant, std::int64_t segment_bytes) const;

 private:
  void find_counts(std::int64_t block);
  detail::Call call(const void* input, void* output, int root) const;

  Collective collective_;
  std::int64_t bytes_;
  int rank_;
  int ranks_;
  std::string refusal_;
  std::int64_t element_ = 1;  // bytes
  std::int64_t input_bytes_ = 0;
  std::int64_t output_bytes_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
  MPI_Op op_ = MPI_OP_NULL;
  int count_ = 0;  // elements of a block, or of all there is
  std::vector<int> send_counts_, send_places_, receive_counts_, receive_places_;
  std::vector<MPI_Datatype> types_;
  std::optional<Shares> shares_;
};

}  // namespace quadrille::bench
