#pragma once

#include <string_view>

namespace quadrille::page {

// Neither has a character that XML would have escaped, so that a page is well-formed as XML, too.
std::string_view style();
std::string_view script();

}  // namespace quadrille::page
