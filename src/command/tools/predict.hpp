#pragma once

#include <string>

#include "forecast/forecast.hpp"
#include "settings/settings.hpp"

namespace quadrille::tools {

// With a ~ where it is a price.
std::string text_of(const forecast::Seconds& time);

// `quadrille predict --trace`: a program's collectives on a machine of that name, as text or JSON.
void predict_trace(const std::string& file, const Settings& settings, const std::string& machine,
                   const forecast::Options& options, bool all, bool json);

}  // namespace quadrille::tools
