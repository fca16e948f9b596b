#include "page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "page/assets.hpp"
#include "text/markup.hpp"
#include "text/quantities.hpp"

namespace quadrille::page {

namespace {

using text::escaped;

// So that a page stays below 300 KB: of a table's rows.
constexpr std::size_t most_table_bytes = 100 << 10;

std::string class_of(const Colour& colour) {
  if (colour.place == -2) return "e";
  const std::string_view hatched = colour.hatched ? " h" : "";
  return colour.place < 0 ? std::string(hatched.substr(hatched.empty() ? 0 : 1))
                          : fmt::format("c{}{}", colour.place % colours, hatched);
}

std::string class_attribute(std::string_view names) {
  return names.empty() ? "" : fmt::format(R"( class="{}")", names);
}

double length_of(const Bar& bar) {
  double sum = 0;
  for (const Part& part : bar.parts) sum += std::max(part.value, 0.0);
  return sum;
}

// What a reader who can't see the bar is told.
std::string in_words(const Bar& bar) {
  std::string words;
  for (const Part& part : bar.parts) {
    if (part.value > 0) words += fmt::format("{}{} {}", words.empty() ? "" : ", ", part.name, part.text);
  }
  return words;
}

void write_bar(std::string& out, const Bar& bar, double full, bool labelled) {
  out += bar.bold ? R"(<li class="strong">)" : "<li>";
  if (labelled) out += fmt::format(R"(<span class="l">{}</span>)", escaped(bar.label));
  out += fmt::format(R"(<span class="b" role="img" aria-label="{}">)", escaped(in_words(bar)));
  for (const Part& part : bar.parts) {
    if (!(part.value > 0) || !(full > 0)) continue;
    out += fmt::format(R"(<i{} style="width:{:.4g}%" title="{}"></i>)", class_attribute(class_of(part.colour)),
                       100 * part.value / full, escaped(fmt::format("{}\n{}", part.name, part.text)));
  }
  out += "</span>";
  if (labelled) out += fmt::format(R"(<span class="t">{}</span>)", escaped(bar.text));
  out += "</li>\n";
}

void write_bars(std::string& out, const std::vector<Bar>& bars, double full, bool labelled) {
  for (const Bar& bar : bars) full = std::max(full, length_of(bar));
  out += "<ul class=\"bars\" role=\"list\">\n";
  for (const Bar& bar : bars) write_bar(out, bar, full, labelled);
  out += "</ul>";
}

std::string_view class_of(Column::Kind kind) {
  return kind == Column::Kind::number ? "n" : kind == Column::Kind::name ? "w" : "";
}

std::string cell_of(const Column& column, const Cell& cell, bool heads_row) {
  std::string inside = escaped(cell.text);
  if (!cell.bars.empty()) {
    inside.clear();
    write_bars(inside, cell.bars, 0, true);
  }
  if (!cell.detail.empty()) inside += fmt::format("<small>{}</small>", escaped(cell.detail));
  const std::string_view tag = heads_row ? "th" : "td";
  return fmt::format("<{}{}{}{}>{}</{}>", tag, heads_row ? R"( scope="row")" : "",
                     class_attribute(class_of(column.kind)),
                     cell.value ? fmt::format(R"( data-v="{:.6g}")", *cell.value) : "", inside, tag);
}

}  // namespace

Section& Section::text(std::string paragraph) {
  contents_.emplace_back(Paragraph{std::move(paragraph)});
  return *this;
}

Section& Section::bars(Bars bars) {
  contents_.emplace_back(std::move(bars));
  return *this;
}

Section& Section::bars(std::vector<Bars> several) {
  contents_.emplace_back(std::move(several));
  return *this;
}

Section& Section::table(Table table) {
  contents_.emplace_back(std::move(table));
  return *this;
}

Section& Section::drawing(std::string svg, std::string caption) {
  contents_.emplace_back(Drawing{std::move(svg), std::move(caption)});
  return *this;
}

Section& Section::stepper(Stepper stepper) {
  if (stepper.columns > most_columns) throw std::length_error("more columns than a page has room for");
  contents_.emplace_back(std::move(stepper));
  return *this;
}

void Section::write(std::string& out, const Paragraph& paragraph) {
  out += fmt::format("<p>{}</p>\n", escaped(paragraph.text));
}

void Section::write(std::string& out, const Drawing& drawing) {
  out += fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n", escaped(drawing.caption), drawing.svg);
}

void Section::write(std::string& out, const Bars& bars) {
  // A single bar without a label takes the whole width.
  const bool labelled = bars.bars.size() != 1 || !bars.bars.front().label.empty();
  out += labelled ? "<figure>" : R"(<figure class="alone">)";
  if (!bars.caption.empty()) out += fmt::format("<figcaption>{}</figcaption>\n", escaped(bars.caption));
  write_bars(out, bars.bars, bars.full, labelled);
  if (!bars.legend.empty()) {
    out += "\n<ul class=\"key\">";
    for (const auto& [name, colour] : bars.legend) {
      out += fmt::format("<li><i{}></i>{}</li>", class_attribute(class_of(colour)), escaped(name));
    }
    out += "</ul>";
  }
  out += "</figure>\n";
}

void Section::write(std::string& out, const std::vector<Bars>& several) {
  out += "<div class=\"pair\">\n";
  for (const Bars& bars : several) write(out, bars);
  out += "</div>\n";
}

void Section::write(std::string& out, const Table& table) {
  out += R"(<div class="scroll"><table>)";
  if (!table.caption.empty()) out += fmt::format("<caption>{}</caption>", escaped(table.caption));
  out += "\n<thead><tr>";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    out += fmt::format(R"(<th scope="col"{}{}{}>{}</th>)", class_attribute(class_of(column.kind)),
                       column.hint.empty() ? "" : fmt::format(R"( title="{}")", escaped(column.hint)),
                       table.sorted == i ? R"( aria-sort="descending")" : "", escaped(column.title));
  }
  out += "</tr></thead>\n<tbody>\n";
  const std::size_t start = out.size();
  std::size_t shown = 0;
  for (const std::vector<Cell>& row : table.rows) {
    std::string line = "<tr>";
    for (std::size_t i = 0; i < std::min(row.size(), table.columns.size()); ++i) {
      line += cell_of(table.columns[i], row[i], i == 0);
    }
    line += "</tr>\n";
    if (out.size() - start + line.size() > most_table_bytes) break;
    out += line;
    ++shown;
  }
  out += "</tbody></table></div>\n";
  if (const std::size_t left_out = table.rows.size() - shown; left_out > 0) {
    out += fmt::format("<p class=\"more\">{} more row{} not shown. {}</p>\n",
                       text::count(static_cast<std::int64_t>(left_out)), left_out == 1 ? " is" : "s are",
                       escaped(table.where_rest));
  }
}

Page& Page::tiles(std::vector<Tile> tiles) {
  tiles_ = std::move(tiles);
  return *this;
}

Section& Page::section(std::string heading) {
  return sections_.emplace_back(std::move(heading));
}

Page& Page::footer(std::string text) {
  footer_ = std::move(text);
  return *this;
}

const Stepper* Page::stepper() const {
  for (const Section& section : sections_) {
    for (const Section::Content& content : section.contents_) {
      if (const auto* found = std::get_if<Stepper>(&content)) return found;
    }
  }
  return nullptr;
}

std::string Page::html() const {
  const Stepper* steps = stepper();
  // The policy lets a browser load nothing, whatever the text says.
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      R"(<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; )"
      "script-src "
      "'unsafe-inline'; img-src data:\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<link rel=\"icon\" "
      "href=\"data:,\"/>\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<header>\n<h1>{0}</h1>\n",
      escaped(title_),
      steps ? fmt::format("{}{}{}", style(), stepper_style(), colours_of(*steps)) : std::string(style()));
  if (!facts_.empty()) {
    out += R"(<ul class="facts">)";
    for (const std::string& fact : facts_) out += fmt::format("<li>{}</li>", escaped(fact));
    out += "</ul>\n";
  }
  if (!tiles_.empty()) {
    out += "<dl class=\"tiles\">\n";
    for (const Tile& tile : tiles_) {
      out += fmt::format(R"(<div{}><dt>{}</dt><dd class="v">{}</dd>)", tile.good ? R"( class="good")" : "",
                         escaped(tile.label), escaped(tile.value));
      if (!tile.detail.empty()) out += fmt::format(R"(<dd class="d">{}</dd>)", escaped(tile.detail));
      out += "</div>\n";
    }
    out += "</dl>\n";
  }
  out += "</header>\n<main>\n";
  for (const Section& section : sections_) {
    out += fmt::format("<section>\n<h2>{}</h2>\n", escaped(section.heading_));
    for (const Section::Content& content : section.contents_) {
      std::visit([&](const auto& one) { Section::write(out, one); }, content);
    }
    out += "</section>\n";
  }
  out += "</main>\n";
  if (!footer_.empty()) out += fmt::format("<footer>{}</footer>\n", escaped(footer_));
  return out + fmt::format("<script>{}{}{}</script>\n</body>\n</html>\n", script(), steps ? stepper_drawing() : "",
                           steps ? stepper_controls() : "");
}

}  // namespace quadrille::page
