#pragma once

#include <span>
#include <string_view>

namespace quadrille::variables {

// An environment variable that users may set. The table in the documentation is generated from these.
struct Variable {
  enum class Reader { drop_in, library };  // the drop-in alone, or the library as well

  std::string_view name;
  std::string_view default_text;  // the default, as documented
  std::string_view summary;       // as documented
  std::string_view option;        // of `quadrille run` that sets it; "" if none
  Reader reader = Reader::library;
};

std::span<const Variable> all();

// Null if there is no such variable.
const Variable* named(std::string_view name);

}  // namespace quadrille::variables
