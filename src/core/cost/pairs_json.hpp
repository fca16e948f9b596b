#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cost/pairs.hpp"

namespace quadrille::cost {

// Four digits are more than any measurement has.
double rounded(double value);

// As part of a machine file, a measured pair a line.
std::string pairs_to_json(const Pairs& pairs);
// Throws std::invalid_argument that names what is wrong.
Pairs pairs_from_json(const nlohmann::json& json);

}  // namespace quadrille::cost
