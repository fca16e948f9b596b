#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quadrille::text {

// The words of a text in lines of at most `width` bytes; a longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace quadrille::text
