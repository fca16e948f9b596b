#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "run/plan.hpp"

namespace quadrille::engine {

// Ranks that swap blocks of any size in place exchange the lengths of their chunks, and each pair takes the shorter.
// Every rank throws Error where one of them has none, or asks for what can't be done. `chunks` gets one for each rank.
class AgreeOnChunks final : public Plan {
 public:
  // Instead of a length: the rank sends other counts than it receives, or its memory can't be allocated.
  static constexpr std::int64_t unequal = -1;
  static constexpr std::int64_t exhausted = -2;

  // The program is that of an allgather of 8 bytes.
  AgreeOnChunks(std::shared_ptr<const Program> allgather, std::int64_t own, std::vector<std::int64_t>& chunks);
  bool next(Phase& phase) override;

 private:
  std::shared_ptr<const Program> allgather_;
  std::int64_t own_;
  std::vector<std::int64_t>& chunks_;
  bool exchanged_ = false;
};

}  // namespace quadrille::engine
