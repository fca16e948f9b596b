#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <quadrille/call.hpp>
#include <vector>

#include "api/handle.hpp"

namespace quadrille::bench {

// A collective on so many bytes, as every rank of a communicator calls it: by the MPI's own function or by ours, on the
// same buffers. The bytes are a rank's own: what it passes in, or gets where the root alone passes something in. Of
// collectives whose blocks have counts of their own, the counts differ.
class Exercise {
 public:
  Exercise(Collective collective, std::int64_t bytes, int rank, int ranks);

  Collective collective() const { return collective_; }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t input_bytes() const { return input_bytes_; }
  std::int64_t output_bytes() const { return output_bytes_; }

  // What the buffers are for the call; `root` counts where there is one.
  void native(const void* input, void* output, int root, MPI_Comm comm) const;
  void ours(const void* input, void* output, int root, engine::Context& context, const Options& options) const;

 private:
  detail::Call call(const void* input, void* output, int root) const;

  Collective collective_;
  std::int64_t bytes_;
  int rank_;
  std::int64_t input_bytes_ = 0;
  std::int64_t output_bytes_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
  MPI_Op op_ = MPI_OP_NULL;
  int count_ = 0;  // elements of a block, or of all there is
  std::vector<int> send_counts_, send_places_, receive_counts_, receive_places_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace quadrille::bench
