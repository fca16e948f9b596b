#pragma once

#include <span>
#include <string_view>

namespace quadrille::variables {

// A variable of the environment that users may set. The documents' table is made of these.
struct Variable {
  enum class Reader { drop_in, library };  // what the drop-in alone reads, or the library as well

  std::string_view name;
  std::string_view unless_set;  // the default, in a document
  std::string_view meaning;     // in a document
  std::string_view option;      // of `quadrille run`, that sets it; "" if none does
  Reader reader = Reader::library;
};

std::span<const Variable> all();

// Null if there is none of that name.
const Variable* named(std::string_view name);

}  // namespace quadrille::variables
