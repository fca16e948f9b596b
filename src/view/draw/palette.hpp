#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "draw/timeline.hpp"

namespace quadrille::draw {

inline constexpr const char* ink = "#1e293b";
inline constexpr const char* quiet_ink = "#64748b";
inline constexpr const char* accent = "#2563a8";
inline constexpr const char* paper = "#ffffff";

// What the colour of an arrow shows of its data.
enum class ColourBy : std::uint8_t { nothing, part, block, source };

// Chosen to show what differs between the transfers of the timeline.
class Palette {
 public:
  explicit Palette(const Timeline& timeline);

  ColourBy colour_by() const { return colour_by_; }
  std::string of(const Transfer& transfer) const;
  std::string of_source(Rank rank) const;
  // The colours in their order, for the legend.
  std::vector<std::string> strip() const;

 private:
  bool is_everything(const Payload& payload) const;

  ColourBy colour_by_ = ColourBy::nothing;
  Rank ranks_;
  Range parts_;                  // the range of all transfers
  std::set<std::int64_t> cuts_;  // where parts begin
  std::int32_t first_block_ = 0;
  std::int32_t last_block_ = 0;
};

}  // namespace quadrille::draw
