#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quadrille::text {

// The name that a mistyped word most likely means; empty: none is near. Letters' case doesn't count, nor does - for _.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

// For the end of an error message: ": did you mean list?", or `otherwise` if no name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names, std::string_view otherwise);

}  // namespace quadrille::text
