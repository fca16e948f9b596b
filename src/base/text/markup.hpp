#pragma once

#include <string>
#include <string_view>

namespace quadrille::text {

// For text and quoted attributes of XML and HTML. Characters that XML does not allow are omitted, and what is no UTF-8
// becomes U+FFFD.
std::string escaped(std::string_view text);

// For a terminal or a log: control characters, which may move the cursor, become '?', and so does what is no UTF-8.
std::string printable(std::string_view text);

}  // namespace quadrille::text
