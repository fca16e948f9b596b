// All of fmt that is not a template, and the templates that its headers only declare: see fmt.cmake.

#include <fmt/format.h>

#include <locale>
#include <string>

namespace quadrille {

std::string templates_of_fmt(const std::locale& locale, double wide, float narrow) {
  return fmt::format(locale, "{:L} {:L} {}", 1000, wide, narrow);
}

}  // namespace quadrille
