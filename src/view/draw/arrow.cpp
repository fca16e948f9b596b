#include "draw/arrow.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace quadrille::draw {

namespace {

Point between(Point from, Point to, double share) {
  return {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
}

double distance(Point from, Point to) {
  return std::hypot(to.x - from.x, to.y - from.y);
}

std::string stroke(const ArrowStyle& style) {
  const double s = style.scale;
  const std::string dashes =
      style.partial ? fmt::format(R"( stroke-dasharray="{} {}")", number(5 * s), number(3.5 * s)) : "";
  return fmt::format(R"(stroke="{}" stroke-width="{}"{})", style.colour, number(style.width), dashes);
}

void draw_tail(Canvas& canvas, Point at, const ArrowStyle& style) {
  canvas.circle(at, 1.3 * style.scale + style.width / 2, fmt::format(R"(fill="{}")", style.colour));
}

// The shaft ends at the base of the head.
void draw_shaft_and_head(Canvas& canvas, Point from, Point to, const ArrowStyle& style) {
  const double length = distance(from, to);
  const double head = 7.5 * style.scale + style.width;
  const double half = 0.42 * head;
  const Point base = between(from, to, 1 - std::min(head / length, 1.0));
  const Point across{-(to.y - from.y) / length * half, (to.x - from.x) / length * half};
  canvas.line(from, base, stroke(style));
  const std::string paint = style.partial
                                ? fmt::format(R"(fill="{}" stroke="{}" stroke-width="{}" stroke-linejoin="round")",
                                              paper, style.colour, number(1.3 * style.scale))
                                : fmt::format(R"(fill="{}")", style.colour);
  canvas.element("path",
                 fmt::format(R"(d="M{} {}L{} {}L{} {}Z" {})", number(to.x), number(to.y), number(base.x + across.x),
                             number(base.y + across.y), number(base.x - across.x), number(base.y - across.y), paint));
}

}  // namespace

void draw_arrow(Canvas& canvas, Point from, Point to, const ArrowStyle& style) {
  draw_shaft_and_head(canvas, from, to, style);
  draw_tail(canvas, from, style);
}

void draw_slot(Canvas& canvas, Point centre, const ArrowStyle& style) {
  const double half = 4 * style.scale;
  canvas.box({centre.x - half, centre.y - half}, 2 * half, 2 * half, style.scale,
             fmt::format(R"(fill="{}" stroke="{}" stroke-width="{}")", paper, style.colour, number(1.5 * style.scale)));
}

// The two halves of an arrow that wraps around.
struct Arrows::Around {
  Point leaves;   // at the sender
  Point out;      // at the edge
  Point in;       // at the opposite edge
  Point arrives;  // at the receiver
  Rank apart;     // the shorter distance
};

Arrows::Arrows(const Timeline& timeline, const Palette& palette, const Sheet& sheet)
    : timeline_(timeline), palette_(palette), page_(sheet) {
  bool first = true;
  for (const Transfer& transfer : timeline.transfers) {
    if (transfer.units == 0) continue;
    least_units_ = first ? transfer.units : std::min(least_units_, transfer.units);
    most_units_ = std::max(most_units_, transfer.units);
    first = false;
  }
}

Arrows::Around Arrows::around(const Transfer& transfer) const {
  const bool rightward = transfer.to < transfer.from;
  const double turn = (rightward ? 1 : -1) * page_.column * timeline_.ranks;
  const Point from{page_.x(transfer.from), page_.leave_y(transfer.step)};
  const Point to{page_.x(transfer.to), page_.arrive_y(transfer.step)};
  const double edge = rightward ? page_.right : page_.left;
  const double share = (edge - from.x) / (to.x + turn - from.x);
  const Point out = between(from, {to.x + turn, to.y}, share);
  return {from, out, {out.x - turn, out.y}, to, timeline_.ranks - std::abs(transfer.to - transfer.from)};
}

ArrowStyle Arrows::style(const Transfer& transfer) const {
  const double s = page_.scale;
  double width = transfer.units == 0 ? 1.6 : 2.0;
  if (transfer.units > 0 && widths_differ()) {
    width = 1.2 + 2.0 * std::sqrt(static_cast<double>(transfer.units) / static_cast<double>(most_units_));
  }
  return {palette_.of(transfer), width * s, partial(transfer), s};
}

// Distance from the arrow's tip to the lifeline.
double Arrows::stop(const Transfer& transfer) const {
  const bool folded =
      std::binary_search(timeline_.folds.begin(), timeline_.folds.end(), Fold{transfer.to, transfer.step});
  if (folded) return page_.fold_radius() + page_.scale;
  const bool into_slot = transfer.kind == TransferKind::put || transfer.kind == TransferKind::write;
  return into_slot ? 5 * page_.scale : 1.5 * page_.scale;
}

void Arrows::draw(Canvas& canvas, const Transfer& transfer) const {
  const ArrowStyle look = style(transfer);
  const Around path = around(transfer);
  const char* kind = transfer.kind == TransferKind::message ? "message"
                     : transfer.kind == TransferKind::put   ? "put"
                     : transfer.kind == TransferKind::get   ? "get"
                                                            : "shared";
  canvas.open("g", fmt::format(R"(class="{}")", kind));
  canvas.text_element("title", "", description(transfer));
  const Point start = transfer.around ? path.in : path.leaves;
  const Point tip = between(start, path.arrives, 1 - stop(transfer) / distance(start, path.arrives));
  if (transfer.around) canvas.line(path.leaves, path.out, stroke(look));
  draw_shaft_and_head(canvas, start, tip, look);
  if (transfer.kind == TransferKind::read || transfer.kind == TransferKind::get) {
    draw_slot(canvas, path.leaves, look);
  } else {
    draw_tail(canvas, path.leaves, look);
  }
  if (transfer.kind == TransferKind::put || transfer.kind == TransferKind::write) draw_slot(canvas, path.arrives, look);
  canvas.close("g");
}

void Arrows::label_ends(Canvas& canvas, const Transfer& transfer) const {
  const Around path = around(transfer);
  const double size = 12.5 * page_.scale;
  const double room = (page_.arrive_y(1) - page_.leave_y(1)) / path.apart;
  if (!transfer.around || room < 0.85 * size) return;
  const std::string colour = palette_.of(transfer);
  const bool rightward = transfer.to < transfer.from;
  const auto put = [&](Point at, bool leaving, Rank peer) {
    const bool right = leaving == rightward;
    const char* arrow = rightward ? "→" : "←";
    const std::string text = right ? fmt::format("{}{}", arrow, peer) : fmt::format("{}{}", peer, arrow);
    const double x = at.x + (right ? 2 : -2) * page_.scale;
    canvas.label({{x, at.y + 0.35 * size}, size, colour, right ? "start" : "end"}, text);
  };
  put(path.out, true, transfer.to);
  put(path.in, false, transfer.from);
}

std::string Arrows::description(const Transfer& transfer) const {
  std::string text = fmt::format("step {}: rank {} to rank {}", transfer.step, transfer.from, transfer.to);
  if (transfer.units == 0) return text + ", signal";
  const Payload& payload = transfer.payload;
  text += fmt::format(", {} {}", transfer.units, timeline_.unit);
  if (palette_.colour_by() == ColourBy::part)
    text += fmt::format(", from {} to {}", payload.part.begin, payload.part.end - 1);
  if (palette_.colour_by() == ColourBy::block)
    text += fmt::format(", blocks {} to {}", payload.first_block, payload.last_block);
  if (timeline_.reduces) text += partial(transfer) ? ", partial" : ", final";
  return text;
}

}  // namespace quadrille::draw
