#include "draw/page.hpp"

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

Page page_for(const Timeline& timeline, const Title& title) {
  // Up to this width a page is not scaled.
  constexpr double usual_width = 640;
  Page page;
  page.column = column_for(timeline.ranks);
  const double steps_label = 58;
  const double natural = steps_label + page.column * std::max<Rank>(timeline.ranks, 1);
  page.scale = std::clamp(natural / usual_width, 1.0, 2.2);
  const double s = page.scale;
  page.band = s * band_for(timeline);

  const double headings = std::max(text_width(title.heading, 22 * s), text_width(title.subheading, 15 * s));
  page.beside = (timeline.around ? 28 : 0) * s;
  page.left = page.margin() + steps_label * s + page.beside;
  page.right = page.left + page.column * std::max<Rank>(timeline.ranks, 1);
  page.width = std::max({page.right + page.beside + page.margin(), headings + 2 * page.margin(), 360 * s});
  // A narrow drawing is centred.
  const double spare = page.width - page.margin() - page.beside - page.right;
  page.left += spare / 2;
  page.right += spare / 2;
  page.first_x = page.left + page.column / 2;

  double y = page.margin();
  if (!title.heading.empty()) y += 26 * s;
  if (!title.subheading.empty()) y += 20 * s;
  page.boxes_y = y + 20 * s;
  page.bands_y = page.boxes_y + 24 * s;
  page.bands_end = page.bands_y + page.band * static_cast<double>(timeline.steps);
  page.legend_y = page.bands_end + (timeline.transfers.empty() ? 40 : 20) * s;
  page.height = page.legend_y;
  return page;
}

}  // namespace quadrille::draw
