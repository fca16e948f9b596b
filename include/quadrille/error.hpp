#pragma once

#include <stdexcept>
#include <string>

#include "quadrille/export.hpp"

namespace quadrille {

/// What every call of the library throws. what() says what went wrong and what to change.
class QUADRILLE_EXPORT Error : public std::runtime_error {
 public:
  /// `code` is an error code of MPI.
  Error(int code, const std::string& what) : std::runtime_error(what), code_(code) {}

  /// The error code that a caller in C gets.
  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace quadrille
