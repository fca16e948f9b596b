#include "draw/legend.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace quadrille::draw {

namespace {

struct Item {
  double width;  // of the sample
  std::string text;
  std::function<void(Canvas&, Point)> sample;  // drawn from the middle of its left side
};

// The items of the legend that apply to the timeline.
class Samples {
 public:
  Samples(const Timeline& timeline, const Palette& palette, const Arrows& arrows, double scale)
      : timeline_(timeline), palette_(palette), arrows_(arrows), s_(scale) {}

  std::vector<Item> items() {
    add_colours();
    add_arrows();
    if (!timeline_.folds.empty()) {
      add(11, "reduce", [s = s_](Canvas& canvas, Point at) { draw_fold(canvas, {at.x + 5 * s, at.y}, 5 * s); });
    }
    add_lifelines();
    if (!timeline_.complete) add(0, "the run did not complete", [](Canvas&, Point) {});
    return std::move(items_);
  }

 private:
  void add(double width, std::string text, std::function<void(Canvas&, Point)> sample) {
    items_.push_back({width * s_, std::move(text), std::move(sample)});
  }

  bool any(const std::function<bool(const Transfer&)>& is) const {
    return std::any_of(timeline_.transfers.begin(), timeline_.transfers.end(), is);
  }

  void add_colours() {
    const ColourBy colour_by = palette_.colour_by();
    if (colour_by == ColourBy::nothing) return;
    const std::vector<std::string> colours = palette_.strip();
    const double each = colours.size() > 8 ? 6 : 9;
    const char* text = colour_by == ColourBy::source  ? "rank the data comes from"
                       : colour_by == ColourBy::block ? "block of the data, first to last"
                                                      : "part of the data, first to last";
    add(each * static_cast<double>(colours.size()), text, [=, s = s_](Canvas& canvas, Point at) {
      for (std::size_t i = 0; i < colours.size(); ++i) {
        canvas.box({at.x + each * s * static_cast<double>(i), at.y - 5 * s}, each * s, 10 * s, 0,
                   fmt::format(R"(fill="{}")", colours[i]));
      }
    });
  }

  void add_arrow(std::string text, double width, bool partial, const char* colour) {
    const ArrowStyle style{colour, width * s_, partial, s_};
    add(32, std::move(text), [style](Canvas& canvas, Point at) {
      draw_arrow(canvas, {at.x + 3 * style.scale, at.y}, {at.x + 32 * style.scale, at.y}, style);
    });
  }

  void add_arrows() {
    const bool data = any([](const Transfer& one) { return one.units > 0; });
    const char* colour = palette_.colour_by() == ColourBy::nothing ? accent : ink;
    if (any([&](const Transfer& one) { return arrows_.partial(one); })) add_arrow("partial result", 2, true, colour);
    if (timeline_.reduces && any([&](const Transfer& one) { return one.units > 0 && !arrows_.partial(one); })) {
      add_arrow("final result", 2, false, colour);
    }
    if (any([](const Transfer& one) { return one.units == 0; })) {
      add_arrow("signal without data", 1.6, false, accent);
    }
    if (data && arrows_.widths_differ()) {
      add(24, "more data, wider line", [s = s_, colour](Canvas& canvas, Point at) {
        canvas.element("path", fmt::format(R"(d="M{0} {1}L{2} {3}L{2} {4}Z" fill="{5}")", number(at.x), number(at.y),
                                           number(at.x + 24 * s), number(at.y - 3 * s), number(at.y + 3 * s), colour));
      });
    }
    const bool slots = any([](const Transfer& one) { return one.kind != TransferKind::message; });
    if (slots) {
      add(10, "memory that other ranks access", [s = s_](Canvas& canvas, Point at) {
        draw_slot(canvas, {at.x + 5 * s, at.y}, {quiet_ink, 1.5 * s, false, s});
      });
    }
  }

  void add_lifelines() {
    const bool some =
        std::any_of(timeline_.holds_from.begin(), timeline_.holds_from.end(), [](auto from) { return from >= 0; });
    if (!some || timeline_.transfers.empty()) return;
    const bool signals = !any([](const Transfer& one) { return one.units > 0; });
    const char* text = signals ? "has heard of every rank" : timeline_.reduces ? "has the result" : "has its data";
    add(6, text, [s = s_](Canvas& canvas, Point at) {
      canvas.line({at.x + 3 * s, at.y - 8 * s}, {at.x + 3 * s, at.y + 8 * s}, lifeline_stroke(true, s));
    });
  }

  const Timeline& timeline_;
  const Palette& palette_;
  const Arrows& arrows_;
  double s_;
  std::vector<Item> items_;
};

}  // namespace

void draw_fold(Canvas& canvas, Point centre, double radius) {
  const double arm = 0.55 * radius;
  canvas.open("g", fmt::format(R"(class="reduce" stroke="{}" stroke-width="{}")", ink, number(radius * 0.26)));
  canvas.circle(centre, radius, fmt::format(R"(fill="{}")", paper));
  canvas.element("path", fmt::format(R"(d="M{} {}h{}M{} {}v{}")", number(centre.x - arm), number(centre.y),
                                     number(2 * arm), number(centre.x), number(centre.y - arm), number(2 * arm)));
  canvas.close("g");
}

std::string lifeline_stroke(bool holds, double scale) {
  return holds ? fmt::format(R"(stroke="{}" stroke-width="{}")", "#475569", number(2.6 * scale))
               : fmt::format(R"(stroke="{}" stroke-width="{}")", "#cbd5e1", number(1.4 * scale));
}

double draw_legend(Canvas& canvas, const Timeline& timeline, const Palette& palette, const Arrows& arrows,
                   const Sheet& sheet) {
  const double s = sheet.scale;
  const double size = 14 * s;
  const double line = 23 * s;
  Point at{sheet.margin(), sheet.legend_y + line / 2};
  const std::vector<Item> items = Samples(timeline, palette, arrows, s).items();
  if (items.empty()) return 0;
  canvas.open("g", R"(class="legend")");
  for (const Item& item : items) {
    const double width = item.width + 7 * s + text_width(item.text, size);
    if (at.x > sheet.margin() && at.x + width > sheet.width - sheet.margin()) at = {sheet.margin(), at.y + line};
    item.sample(canvas, at);
    canvas.label({{at.x + item.width + 7 * s, at.y + 0.35 * size}, size, ink}, item.text);
    at.x += width + 18 * s;
  }
  canvas.close("g");
  return at.y + line / 2 - sheet.legend_y;
}

}  // namespace quadrille::draw
