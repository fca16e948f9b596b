#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"

namespace quadrille::test {

// Calls that send something else than is known, or of which nothing is known, with the cause. A file has a line for
// each kind: collective, algorithm as the library names it, ranks, doubles, what differs, and the cause; * stands for
// any number or name. What differs is `division`, if messages are those that are known, with an element or 3 % more or
// less each; `messages`, if the bytes of each pair are known; or `bytes`. `aborts` says instead that the MPI ends the
// program if the call is in place, so that it isn't run. Lines that begin with # are comments.
class Exceptions {
 public:
  enum class Differ { none, division, messages, bytes };

  // Throws std::runtime_error if it can't be read.
  explicit Exceptions(const std::string& path);

  Differ of(const Call& call, std::string_view algorithm, Rank ranks) const;
  bool aborts(const Call& call, std::string_view algorithm, Rank ranks) const;

 private:
  struct Kind {
    std::string collective;
    std::string algorithm;
    std::string ranks;
    std::string count;
    Differ what = Differ::none;  // none: it aborts
  };
  const Kind* find(const Call& call, std::string_view algorithm, Rank ranks, bool that_aborts) const;

  std::vector<Kind> kinds_;
};

}  // namespace quadrille::test
