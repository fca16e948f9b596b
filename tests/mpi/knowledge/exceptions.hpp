#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"

namespace quadrille::test {

// Calls that send something else than is known, or of which nothing is known, with the cause. A file has a line for
// each kind: collective, algorithm as the library names it, ranks, doubles, and the cause; * stands for any. Lines that
// begin with # are comments.
class Exceptions {
 public:
  // Throws std::runtime_error if it can't be read.
  explicit Exceptions(const std::string& path);

  bool contain(const Call& call, std::string_view algorithm, Rank ranks) const;

 private:
  struct Kind {
    std::string collective;
    std::string algorithm;
    std::string ranks;
    std::string count;
  };
  std::vector<Kind> kinds_;
};

}  // namespace quadrille::test
