#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace quadrille::text {

// Bytes as users write them: 8, 64K, 64KiB, 64KB, 1MB, 2g. All units are powers of 1024.
std::optional<std::int64_t> parse_bytes(std::string_view text);

}  // namespace quadrille::text
