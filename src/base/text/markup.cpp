#include "text/markup.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace quadrille::text {

namespace {

// The character that a text starts with, and its bytes; 0 bytes: it is no UTF-8.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Character first_of(std::string_view text) {
  constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[bytes] || code > 0x10ffff || surrogate ? Character{} : Character{code, bytes};
}

// append(character, its bytes) for each; a byte that is no UTF-8 comes as `replacement`.
template <class Append>
void for_each_character(std::string_view text, std::string_view replacement, const Append& append) {
  while (!text.empty()) {
    const Character next = first_of(text);
    append(next.bytes == 0 ? 0xfffd : next.code, next.bytes == 0 ? replacement : text.substr(0, next.bytes));
    text.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
  }
}

// C0, DEL and C1.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for_each_character(text, "\xef\xbf\xbd", [&](std::uint32_t code, std::string_view bytes) {
    switch (code) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        const bool allowed = code == '\n' || code == '\t' || (!is_control(code) && code != 0xfffe && code != 0xffff);
        if (allowed) out += bytes;
    }
  });
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for_each_character(text, "?",
                     [&](std::uint32_t code, std::string_view bytes) { out += is_control(code) ? "?" : bytes; });
  return out;
}

}  // namespace quadrille::text
