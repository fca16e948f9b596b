#include "draw/sheet.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace quadrille::draw {

namespace {

double column_for(Rank ranks) {
  if (ranks <= 4) return 92;
  if (ranks <= 8) return 68;
  if (ranks <= 16) return 54;
  if (ranks <= 32) return 46;
  return 40;
}

// A taller band makes long arrows steeper.
double band_for(const Timeline& timeline) {
  Rank longest = 0;
  for (const Transfer& transfer : timeline.transfers) {
    const Rank apart = std::abs(transfer.to - transfer.from);
    longest = std::max(longest, std::min(apart, timeline.ranks - apart));
  }
  return std::clamp(36.0 + 5.0 * longest, 42.0, 68.0);
}

}  // namespace

Sheet sheet_for(const Timeline& timeline, const Title& title) {
  // Up to this width a sheet is not scaled.
  constexpr double usual_width = 640;
  Sheet sheet;
  sheet.column = column_for(timeline.ranks);
  const double steps_label = 58;
  const double natural = steps_label + sheet.column * std::max<Rank>(timeline.ranks, 1);
  sheet.scale = std::clamp(natural / usual_width, 1.0, 2.2);
  const double s = sheet.scale;
  sheet.band = s * band_for(timeline);

  const double headings = std::max(text_width(title.heading, 22 * s), text_width(title.subheading, 15 * s));
  sheet.beside = (timeline.around ? 28 : 0) * s;
  sheet.left = sheet.margin() + steps_label * s + sheet.beside;
  sheet.right = sheet.left + sheet.column * std::max<Rank>(timeline.ranks, 1);
  sheet.width = std::max({sheet.right + sheet.beside + sheet.margin(), headings + 2 * sheet.margin(), 360 * s});
  // A narrow drawing is centred.
  const double spare = sheet.width - sheet.margin() - sheet.beside - sheet.right;
  sheet.left += spare / 2;
  sheet.right += spare / 2;
  sheet.first_x = sheet.left + sheet.column / 2;

  double y = sheet.margin();
  if (!title.heading.empty()) y += 26 * s;
  if (!title.subheading.empty()) y += 20 * s;
  sheet.boxes_y = y + 20 * s;
  sheet.bands_y = sheet.boxes_y + 24 * s;
  sheet.bands_end = sheet.bands_y + sheet.band * static_cast<double>(timeline.steps);
  sheet.legend_y = sheet.bands_end + (timeline.transfers.empty() ? 40 : 20) * s;
  sheet.height = sheet.legend_y;
  return sheet;
}

}  // namespace quadrille::draw
