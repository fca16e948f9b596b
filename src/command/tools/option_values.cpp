#include "tools/option_values.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "algorithms/naming.hpp"
#include "text/size.hpp"

namespace quadrille::tools {

CLI::Validator collective_names() {
  const auto rename = [](std::string& word) -> std::string {
    try {
      word = name(require_collective(word));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  return {rename, ""};
}

CLI::Validator sizes_in_bytes() {
  const auto count = [](std::string& word) -> std::string {
    const auto bytes = text::parse_bytes(word);
    if (!bytes) return fmt::format("'{}' is not a size: use 8, 64KiB or 1MB", word);
    word = std::to_string(*bytes);
    return {};
  };
  return {count, ""};
}

}  // namespace quadrille::tools
