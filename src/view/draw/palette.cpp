#include "draw/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace quadrille::draw {

namespace {

using Colour = std::array<double, 3>;

// Of similar contrast on white; interpolated for other numbers than eight.
constexpr std::array<Colour, 8> wheel = {{{200, 57, 79},
                                          {222, 116, 36},
                                          {190, 142, 8},
                                          {96, 150, 48},
                                          {24, 148, 128},
                                          {36, 124, 196},
                                          {92, 84, 204},
                                          {158, 70, 172}}};

// The maximum number of colours that the legend shows individually.
constexpr std::int64_t most_swatches = 16;

// `place` from 0 to 1.
std::string colour_at(double place) {
  const double at = std::clamp(place * wheel.size() - 0.5, 0.0, wheel.size() - 1.0);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, wheel.size() - 1);
  const double share = at - static_cast<double>(low);
  std::array<int, 3> mixed{};
  for (std::size_t i = 0; i < 3; ++i) {
    mixed[i] = static_cast<int>(std::lround(wheel[low][i] * (1 - share) + wheel[high][i] * share));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2]);
}

double middle(double first, double last, double begin, double end) {
  return ((first + last) / 2 - begin) / (end - begin);
}

}  // namespace

Palette::Palette(const Timeline& timeline) : ranks_(timeline.ranks) {
  std::uint64_t sources = 0;
  const Payload* first = nullptr;
  bool parts_differ = false;
  for (const Transfer& transfer : timeline.transfers) {
    const Payload& payload = transfer.payload;
    if (payload.ranks == 0) continue;
    if (!first) {
      first = &payload;
      parts_ = payload.part;
      first_block_ = payload.first_block;
      last_block_ = payload.last_block;
    }
    parts_differ |= payload.part != first->part;
    parts_ = {std::min(parts_.begin, payload.part.begin), std::max(parts_.end, payload.part.end)};
    first_block_ = std::min(first_block_, payload.first_block);
    last_block_ = std::max(last_block_, payload.last_block);
    cuts_.insert(payload.part.begin);
    sources |= payload.ranks;
  }
  // Reduced data comes from all ranks, so it is distinguished by its place in the result.
  if (!timeline.reduces && std::popcount(sources) > 1) {
    colour_by_ = ColourBy::source;
  } else if (last_block_ > first_block_) {
    colour_by_ = ColourBy::block;
  } else if (parts_differ) {
    colour_by_ = ColourBy::part;
  }
}

bool Palette::is_everything(const Payload& payload) const {
  return colour_by_ == ColourBy::part ? payload.part == parts_
                                      : payload.first_block == first_block_ && payload.last_block == last_block_;
}

std::string Palette::of(const Transfer& transfer) const {
  const Payload& payload = transfer.payload;
  if (payload.ranks == 0 || colour_by_ == ColourBy::nothing) return accent;
  if (colour_by_ == ColourBy::source) {
    return std::has_single_bit(payload.ranks) ? of_source(std::countr_zero(payload.ranks)) : ink;
  }
  if (is_everything(payload)) return ink;
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  if (colour_by_ == ColourBy::block) {
    return colour_at(middle(payload.first_block, payload.last_block + 1, first_block_, last_block_ + 1));
  }
  return colour_at(middle(real(payload.part.begin), real(payload.part.end), real(parts_.begin), real(parts_.end)));
}

std::string Palette::of_source(Rank rank) const {
  return colour_at((rank + 0.5) / ranks_);
}

std::vector<std::string> Palette::strip() const {
  const auto parts = static_cast<std::int64_t>(cuts_.size());
  const std::int64_t blocks = std::int64_t{last_block_} - first_block_ + 1;
  const std::int64_t wanted = colour_by_ == ColourBy::source ? ranks_ : colour_by_ == ColourBy::block ? blocks : parts;
  const std::int64_t count = std::min(wanted, most_swatches);
  std::vector<std::string> colours;
  for (std::int64_t i = 0; i < count; ++i) {
    colours.push_back(colour_at((static_cast<double>(i) + 0.5) / static_cast<double>(count)));
  }
  return colours;
}

}  // namespace quadrille::draw
