#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quadrille::page {

// Something that happens in steps between columns: arrows from column to column, and cells, a row of them for each
// place that columns have, whose contents change. A reader steps through it and follows a column. All that can be seen
// is given; the page computes none of it.
struct Stepper {
  // What a cell holds or an arrow carries.
  struct Thing {
    std::string what;
    std::string mark;         // of what it is, in a cell that has room for it
    std::uint64_t whose = 0;  // a bit for each column that it comes from; none: `what` says all
    std::size_t colour = 0;   // index into colours

    friend auto operator<=>(const Thing&, const Thing&) = default;
  };
  // What a thing of several columns is: theirs, or combined from them, and whole when from all. Cells are marked with
  // what, with the column that it comes from, or with how many are combined.
  enum class Things : std::uint8_t { marked, sourced, combined };
  struct Colour {
    std::string light;  // as CSS has it
    std::string dark;
  };
  enum class Line : std::uint8_t { solid, dashed, chained, dotted };
  enum class Square : std::uint8_t { none, tail, head };  // memory that others access
  struct Kind {
    std::string name;
    std::string several;
    Line line = Line::solid;
    Square square = Square::none;
    bool signal = false;  // may be hidden
  };
  struct Arrow {
    std::int64_t step = 0;  // from 1
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::size_t kind = 0;       // index into kinds
    std::ptrdiff_t thing = -1;  // index into things; -1: no data
    std::string amount = {};
    int width = 2;        // 1 to 4
    bool hollow = false;  // its head
    bool around = false;  // the edges
  };
  struct Row {
    std::string group;  // rows of a group follow one another
    std::string name;
    std::uint64_t columns = 0;  // a bit for each that has it
  };
  struct Change {
    std::int64_t step = 0;  // 0: at the start
    std::int32_t column = 0;
    std::size_t row = 0;
    std::size_t thing = 0;
  };
  // A swatch of several colours, or another sign, and what it means.
  struct Sign {
    enum class Look : std::uint8_t { colours, line, hollow, full, width, share, changed, done, band };
    Look look = Look::colours;
    std::string text;
    std::vector<std::size_t> colours = {};
    std::size_t kind = 0;
  };

  std::string noun;  // of a column: "rank"
  std::string arrows_heading;
  std::string cells_heading;
  std::int32_t columns = 0;  // at most 64
  std::int64_t steps = 0;
  std::vector<std::int32_t> bands = {};  // by column: the number of its band; none: no bands
  std::string band_noun = {};
  std::vector<std::int64_t> done_from = {};  // by column: the step from which it has all it wants; -1: never
  std::vector<Colour> colours = {};
  std::vector<Kind> kinds = {};
  Things things_are = Things::marked;
  std::vector<Thing> things = {};
  std::vector<Arrow> arrows = {};
  std::vector<Row> rows = {};
  std::vector<Change> changes = {};  // by step
  std::vector<Sign> legend = {};
  std::string without_scripts = {};  // what to do instead
};

inline constexpr std::int32_t most_columns = 64;

void write(std::string& out, const Stepper& stepper);

// A rule for each colour, in both modes, for the page's head.
std::string colours_of(const Stepper& stepper);

}  // namespace quadrille::page
