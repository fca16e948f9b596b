#pragma once

#include <string_view>

namespace quadrille::page {

// Neither has a character that XML would have escaped, so that a page is well-formed as XML, too.
std::string_view style();
std::string_view script();
// What a page with a stepper has besides.
std::string_view stepper_style();
// The script in two parts, which make one function.
std::string_view stepper_drawing();
std::string_view stepper_controls();

}  // namespace quadrille::page
