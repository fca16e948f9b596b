#pragma once

#include <map>
#include <string>
#include <string_view>

namespace quadrille::test {

// What a formula of the catalogue is evaluated with.
struct Given {
  std::map<std::string, double, std::less<>> values;    // of letters and words: p, n, steps
  std::map<std::string, bool, std::less<>> conditions;  // as they are written: "p is odd"
  bool in_place = false;
};

struct Evaluated {
  double value = 0;
  bool applies = true;   // its "for" holds
  bool at_most = false;  // it is a bound
};

// The value of a formula of Algorithm::steps or Algorithm::cost:
//   formula   = one [";" "in place" one]
//   one       = ["at most"] sum {"," "+" sum ("if" | "unless") condition} ["," "for" condition]
//   sum       = product {("+" | "-") product}
//   product   = factor {["/"] factor}, from left to right: factors side by side are multiplied
//   factor    = number | word | function factor | "(" sum ")"
//   function  = "log2" | "log_k" | "ceil" | "floor"
// Throws std::invalid_argument for anything else, and for words and conditions that are not given.
Evaluated evaluate(std::string_view formula, const Given& given);

}  // namespace quadrille::test
