#pragma once

#include <string>
#include <vector>

#include "run/backend.hpp"

namespace quadrille {

// One rank's part in a collective as a machine that a backend's words drive: a schedule under way (Runner), or a
// protocol that decides by what arrives. Not thread-safe.
class Machine {
 public:
  virtual ~Machine() = default;

  // Begins; what was begun before, if anything, must be done.
  virtual void start() = 0;

  // Posts what is ready. Returns whether anything happened.
  virtual bool advance() = 0;

  // The backend's word that a message or a flush has ended.
  virtual void complete(Token token) = 0;

  virtual bool done() const = 0;

  // For people: what is posted and not complete, one each.
  virtual std::vector<std::string> awaited() const = 0;
};

}  // namespace quadrille
