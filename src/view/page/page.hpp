#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "page/stepper.hpp"

// Pages for a browser, each one HTML file that loads nothing: figures, bars and tables that are sorted by a click. Dark
// or light as the reader prefers, also without scripts and on paper. All text is escaped.
namespace quadrille::page {

// A colour of the palette. Beyond the last one they start again.
struct Colour {
  int place = -1;  // -1: grey; -2: that of an empty bar
  bool hatched = false;

  bool operator==(const Colour&) const = default;
};
inline constexpr int colours = 8;

// A key figure.
struct Tile {
  std::string label;
  std::string value;
  std::string detail = {};
  bool good = false;  // worth a colour
};

// A piece of a bar; what it is and how much are shown when the pointer is over it.
struct Part {
  std::string name;
  double value = 0;
  std::string text = {};
  Colour colour = {};
};

struct Bar {
  std::string label;
  std::vector<Part> parts;
  std::string text = {};  // behind it
  bool bold = false;
};

// Horizontal bars on a common scale.
struct Bars {
  std::string caption = {};
  std::vector<Bar> bars = {};
  std::vector<std::pair<std::string, Colour>> legend = {};
  double full = 0;  // what fills the width; 0: the longest
};

struct Column {
  // Numbers are aligned to the right. Names come from outside, and may be long: they are broken anywhere.
  enum class Kind { text, number, name };
  std::string title;
  Kind kind = Kind::text;
  std::string hint = {};
};

struct Cell {
  std::string text = {};
  std::optional<double> value = {};  // what it is sorted by; the text if there is none
  std::vector<Bar> bars = {};        // small ones, instead of the text
  std::string detail = {};           // in a line of its own
};

// The most important rows first: if there are too many, the last are left out, and the page says how many.
struct Table {
  std::string caption = {};
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};
  std::optional<std::size_t> sorted = {};  // by this column, the largest first
  std::string where_rest = {};             // "They are in the JSON file."
};

class Section {
 public:
  explicit Section(std::string heading) : heading_(std::move(heading)) {}

  Section& text(std::string paragraph);
  Section& bars(Bars bars);
  // Side by side, if there is room.
  Section& bars(std::vector<Bars> several);
  Section& table(Table table);
  // A drawing as draw/ makes them. It is not escaped.
  Section& drawing(std::string svg, std::string caption);
  // One a page. It takes the window's whole width.
  Section& stepper(Stepper stepper);

 private:
  friend class Page;
  struct Paragraph {
    std::string text;
  };
  struct Drawing {
    std::string svg;
    std::string caption;
  };
  using Content = std::variant<Paragraph, Bars, std::vector<Bars>, Table, Drawing, Stepper>;

  static void write(std::string& out, const Paragraph& paragraph);
  static void write(std::string& out, const Bars& bars);
  static void write(std::string& out, const std::vector<Bars>& several);
  static void write(std::string& out, const Table& table);
  static void write(std::string& out, const Drawing& drawing);
  static void write(std::string& out, const Stepper& stepper) { page::write(out, stepper); }

  std::string heading_;
  std::vector<Content> contents_;
};

class Page {
 public:
  // `facts` stand below the title, in one line.
  explicit Page(std::string title, std::vector<std::string> facts = {})
      : title_(std::move(title)), facts_(std::move(facts)) {}

  Page& tiles(std::vector<Tile> tiles);
  // Valid as long as the page.
  Section& section(std::string heading);
  // The last line.
  Page& footer(std::string text);

  std::string html() const;

 private:
  const Stepper* stepper() const;

  std::string title_;
  std::vector<std::string> facts_;
  std::vector<Tile> tiles_;
  std::deque<Section> sections_;
  std::string footer_;
};

}  // namespace quadrille::page
