#include "draw/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "draw/arrow.hpp"
#include "draw/canvas.hpp"
#include "draw/legend.hpp"
#include "draw/palette.hpp"
#include "draw/picture.hpp"
#include "draw/sheet.hpp"
#include "draw/timeline.hpp"

namespace quadrille::draw {

namespace {

void draw_title(Canvas& canvas, const Title& title, const Sheet& sheet) {
  double y = sheet.margin();
  if (!title.heading.empty()) {
    canvas.label({{sheet.margin(), y + 18 * sheet.scale}, 21 * sheet.scale, ink, "start", true}, title.heading);
    y += 26 * sheet.scale;
  }
  if (!title.subheading.empty()) {
    canvas.label({{sheet.margin(), y + 14 * sheet.scale}, sheet.text_size(), quiet_ink}, title.subheading);
  }
}

void draw_bands(Canvas& canvas, const Timeline& timeline, const Sheet& sheet) {
  const double size = sheet.text_size();
  canvas.open("g", R"(class="steps")");
  for (std::int64_t step = 1; step <= timeline.steps; ++step) {
    const double top = sheet.top_of(step);
    const char* fill = step % 2 == 1 ? "#f1f5f9" : "#fafbfd";
    canvas.box({sheet.left, top}, sheet.right - sheet.left, sheet.band, 0, fmt::format(R"(fill="{}")", fill));
    const Point at{sheet.steps_x(), top + sheet.band / 2 + 0.35 * size};
    canvas.label({at, size, quiet_ink, "end"}, step == 1 ? "step 1" : std::to_string(step));
  }
  canvas.close("g");
}

void draw_lifelines(Canvas& canvas, const Timeline& timeline, const Sheet& sheet) {
  const double end = sheet.bands_end + 8 * sheet.scale;
  canvas.open("g", R"(class="lifelines")");
  for (Rank rank = 0; rank < timeline.ranks; ++rank) {
    const double x = sheet.x(rank);
    const std::int64_t from = timeline.holds_from[static_cast<std::size_t>(rank)];
    canvas.open("g", R"(class="lifeline")");
    canvas.line({x, sheet.boxes_y}, {x, end}, lifeline_stroke(false, sheet.scale));
    if (from >= 0) {
      const double y = from == 0 ? sheet.boxes_y : sheet.arrive_y(from);
      canvas.line({x, y}, {x, end}, lifeline_stroke(true, sheet.scale));
    }
    canvas.close("g");
  }
  canvas.close("g");
}

void draw_ranks(Canvas& canvas, const Timeline& timeline, const Palette& palette, const Sheet& sheet) {
  const double size = std::min(17 * sheet.scale, 0.58 * sheet.column);
  const double width = std::min(34 * sheet.scale, 0.84 * sheet.column);
  const double height = 1.6 * size;
  const double text = sheet.text_size();
  canvas.label({{sheet.steps_x(), sheet.boxes_y + 0.35 * text}, text, quiet_ink, "end"}, "rank");
  for (Rank rank = 0; rank < timeline.ranks; ++rank) {
    // Filled with the colour of its data or, if colours mean something else, to show that it holds its result from the
    // start.
    const bool source = palette.colour_by() == ColourBy::source;
    const bool filled = source || timeline.holds_from[static_cast<std::size_t>(rank)] == 0;
    const std::string colour = source ? palette.of_source(rank) : filled ? "#475569" : "#94a3b8";
    const Point centre{sheet.x(rank), sheet.boxes_y};
    canvas.box({centre.x - width / 2, centre.y - height / 2}, width, height, 0.3 * height,
               fmt::format(R"(class="rank" fill="{}" stroke="{}" stroke-width="{}")", filled ? colour : paper, colour,
                           number(1.4 * sheet.scale)));
    canvas.label({{centre.x, centre.y + 0.35 * size}, size, filled ? paper : ink, "middle", true},
                 std::to_string(rank));
  }
}

// Arrows that wrap around fade out towards the edge.
void draw_fade(Canvas& canvas, const Sheet& sheet, bool right) {
  const double over = 6 * sheet.scale;  // strokes and heads extend beyond the band
  const double width = sheet.column / 2 + over;
  const char* id = right ? "fade-right" : "fade-left";
  canvas.open("linearGradient", fmt::format(R"(id="{}" x1="{:d}" x2="{:d}")", id, right, !right));
  canvas.element("stop", fmt::format(R"(offset="0.25" stop-color="{}")", paper));
  canvas.element("stop", fmt::format(R"(offset="0.95" stop-color="{}" stop-opacity="0")", paper));
  canvas.close("linearGradient");
  canvas.box({right ? sheet.right + over - width : sheet.left - over, sheet.bands_y}, width,
             sheet.bands_end - sheet.bands_y, 0, fmt::format("fill='url(#{})'", id));
}

void draw_transfers(Canvas& canvas, const Timeline& timeline, const Arrows& arrows, const Sheet& sheet) {
  for (const Transfer& transfer : timeline.transfers) arrows.draw(canvas, transfer);
  if (timeline.around) {
    draw_fade(canvas, sheet, false);
    draw_fade(canvas, sheet, true);
    for (const Transfer& transfer : timeline.transfers) arrows.label_ends(canvas, transfer);
  }
  if (timeline.transfers.empty()) {
    const double y = sheet.legend_y;
    canvas.label({{(sheet.left + sheet.right) / 2, y}, sheet.text_size(), quiet_ink, "middle"}, "no messages");
  }
  for (const Fold& fold : timeline.folds) {
    const double y = fold.step == 0 ? sheet.bands_y - sheet.fold_radius() : sheet.arrive_y(fold.step);
    draw_fold(canvas, {sheet.x(fold.rank), y}, sheet.fold_radius());
  }
}

std::string assembled(const Canvas& body, const Title& title, const Sheet& sheet) {
  const std::string described = fmt::format(
      "{}{}A column per rank, time runs from top to bottom, and every arrow is a transfer from one rank to another.",
      title.subheading, title.subheading.empty() ? "" : ". ");
  return svg_of({title.heading, described, sheet.width, sheet.height, 12 * sheet.scale}, body.str());
}

}  // namespace

std::string svg(const verify::Subject& subject, const Title& title) {
  if (subject.schedules.size() > static_cast<std::size_t>(most_ranks)) {
    throw std::invalid_argument(
        fmt::format("a drawing of {} ranks is not legible: use at most {}", subject.schedules.size(), most_ranks));
  }
  verify::Expressions expressions(subject.commutative);
  const verify::Execution execution = verify::execute(subject, expressions, verify::Keep::data_too);
  const Timeline timeline = timeline_of(subject, execution, expressions);
  const Palette palette(timeline);
  Sheet sheet = sheet_for(timeline, title);
  const Arrows arrows(timeline, palette, sheet);
  Canvas body;
  draw_title(body, title, sheet);
  draw_bands(body, timeline, sheet);
  draw_lifelines(body, timeline, sheet);
  draw_transfers(body, timeline, arrows, sheet);
  draw_ranks(body, timeline, palette, sheet);
  sheet.height += draw_legend(body, timeline, palette, arrows, sheet) + sheet.margin();
  return assembled(body, title, sheet);
}

}  // namespace quadrille::draw
