#include "engine/chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <quadrille/error.hpp>
#include <string>
#include <utility>

#include "engine/mpi.hpp"
#include "meet/words.hpp"
#include "select/budget.hpp"

namespace quadrille::engine {

AgreeOnChunks::AgreeOnChunks(std::shared_ptr<const Program> allgather, std::int64_t own,
                             std::vector<std::int64_t>& chunks)
    : allgather_(std::move(allgather)), own_(own), chunks_(chunks) {}

bool AgreeOnChunks::next(Phase& phase) {
  if (!std::exchange(exchanged_, true)) {
    phase = meet::gather_words(allgather_, own_, chunks_);
    return true;
  }
  const auto refuse_if_any = [this](std::int64_t word, int code, const std::string& why) {
    const auto found = std::find(chunks_.begin(), chunks_.end(), word);
    if (found != chunks_.end()) throw Error(code, fmt::format("rank {} {}", found - chunks_.begin(), why));
  };
  refuse_if_any(unequal, MPI_ERR_COUNT,
                "sends other counts than it receives, in place: alltoallv_in_place can do that");
  refuse_if_any(
      0, MPI_ERR_NO_MEM,
      fmt::format("may not take enough memory to swap data in place: {} bytes are the least", Budget::least_to_swap));
  refuse_if_any(exhausted, MPI_ERR_NO_MEM,
                "could not allocate its buffer to swap data in place: lower the limit on memory, or free some");
  for (std::int64_t& one : chunks_) one = std::min(one, own_);
  return false;
}

}  // namespace quadrille::engine
