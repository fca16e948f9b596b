#pragma once

#include <stdexcept>
#include <string>

#include "quadrille/detail/export.h"

namespace quadrille {

/// The exception that the library throws. what() says what is wrong and how to correct it.
class QUADRILLE_EXPORT Error : public std::runtime_error {
 public:
  /// `code` is an error code of MPI.
  Error(int code, const std::string& what) : std::runtime_error(what), code_(code) {}

  /// MPI's code of the error, MPI_ERR_COUNT for instance: what the functions of C return.
  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace quadrille
