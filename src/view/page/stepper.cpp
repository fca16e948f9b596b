#include "page/stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "text/markup.hpp"

namespace quadrille::page {

namespace {

using nlohmann::ordered_json;
using text::escaped;

// Numbers as digits of base 64, as many as the largest one takes: a page of 64 columns stays small.
constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

constexpr int digits_of_set = 11;  // 64 bits

// For numbers below `count`.
int digits_for(std::size_t count) {
  int needed = 1;
  for (std::size_t reached = digits.size(); reached < count; reached *= digits.size()) ++needed;
  return needed;
}

void pack(std::string& out, std::uint64_t number, int places) {
  std::string packed;
  for (int i = 0; i < places; ++i, number /= digits.size()) packed += digits[number % digits.size()];
  out.append(packed.rbegin(), packed.rend());
}

// Each once, in the order in which they are first seen.
template <class Item>
class Numbers {
 public:
  std::size_t of(const Item& item) {
    const auto [found, fresh] = numbers_.try_emplace(item, all_.size());
    if (fresh) all_.push_back(item);
    return found->second;
  }
  const std::vector<Item>& all() const { return all_; }

 private:
  std::map<Item, std::size_t> numbers_;
  std::vector<Item> all_;
};

template <class... Items>
ordered_json list_of(const Items&... items) {
  ordered_json all = ordered_json::array();
  (all.push_back(ordered_json(items)), ...);
  return all;
}

// Rows of numbers, a column each with as many digits as it needs.
class Packed {
 public:
  explicit Packed(std::vector<std::size_t> counts) {
    for (const std::size_t count : counts) widths_.push_back(digits_for(count));
  }
  void add(std::string& out, const std::vector<std::size_t>& numbers) const {
    for (std::size_t i = 0; i < numbers.size(); ++i) pack(out, numbers[i], widths_[i]);
  }
  const std::vector<int>& widths() const { return widths_; }

 private:
  std::vector<int> widths_;
};

void add_things(ordered_json& data, const Stepper& stepper) {
  Numbers<std::pair<std::string, std::string>> whats;
  Numbers<std::uint64_t> sets;
  for (const Stepper::Thing& thing : stepper.things) {
    whats.of({thing.what, thing.mark});
    sets.of(thing.whose);
  }
  const Packed packed({whats.all().size(), sets.all().size(), stepper.colours.size()});
  std::string things, members;
  for (const Stepper::Thing& thing : stepper.things) {
    packed.add(things, {whats.of({thing.what, thing.mark}), sets.of(thing.whose), thing.colour});
  }
  for (const std::uint64_t set : sets.all()) pack(members, set, digits_of_set);
  data["things"] = list_of(packed.widths(), things);
  data["sets"] = members;
  data["whats"] = ordered_json::array();
  data["marks"] = ordered_json::array();
  for (const auto& [what, mark] : whats.all()) {
    data["whats"].push_back(what);
    data["marks"].push_back(mark);
  }
}

// By step from 0, with the looks that they share.
void add_arrows(ordered_json& data, const Stepper& stepper) {
  Numbers<std::tuple<std::size_t, int, bool, bool, std::string>> looks;
  const auto look_of = [&](const Stepper::Arrow& one) {
    return looks.of({one.kind, one.width, one.hollow, one.around, one.amount});
  };
  for (const Stepper::Arrow& arrow : stepper.arrows) look_of(arrow);
  const Packed packed({most_columns, most_columns, looks.all().size(), stepper.things.size() + 1});
  std::vector<std::string> steps(static_cast<std::size_t>(stepper.steps) + 1);
  for (const Stepper::Arrow& arrow : stepper.arrows) {
    packed.add(steps.at(static_cast<std::size_t>(arrow.step)),
               {static_cast<std::size_t>(arrow.from), static_cast<std::size_t>(arrow.to), look_of(arrow),
                static_cast<std::size_t>(arrow.thing + 1)});
  }
  data["arrows"] = list_of(packed.widths(), steps);
  data["looks"] = ordered_json::array();
  for (const auto& [kind, width, hollow, around, amount] : looks.all()) {
    data["looks"].push_back(list_of(kind, width, hollow ? 1 : 0, around ? 1 : 0, amount));
  }
}

void add_changes(ordered_json& data, const Stepper& stepper) {
  const Packed packed({most_columns, stepper.rows.size(), stepper.things.size()});
  std::vector<std::string> steps(static_cast<std::size_t>(stepper.steps) + 1);
  for (const Stepper::Change& change : stepper.changes) {
    packed.add(steps.at(static_cast<std::size_t>(change.step)),
               {static_cast<std::size_t>(change.column), change.row, change.thing});
  }
  data["changes"] = list_of(packed.widths(), steps);
}

// A digit for each column; nothing if all have it.
std::string columns_of(const Stepper::Row& row, std::int32_t columns) {
  const std::uint64_t all = ~std::uint64_t{0} >> (most_columns - columns);
  std::string bits;
  if ((row.columns & all) == all) return bits;
  for (std::int32_t i = 0; i < columns; ++i) bits += (row.columns >> i & 1U) != 0 ? '1' : '0';
  return bits;
}

ordered_json rows_of(const Stepper& stepper) {
  ordered_json groups = ordered_json::array();
  for (const Stepper::Row& row : stepper.rows) {
    if (groups.empty() || groups.back()["name"] != row.group) {
      groups.push_back({{"name", row.group}, {"rows", ordered_json::array()}, {"has", ordered_json::array()}});
    }
    groups.back()["rows"].push_back(row.name);
    groups.back()["has"].push_back(columns_of(row, stepper.columns));
  }
  return groups;
}

std::string data_of(const Stepper& stepper) {
  ordered_json data = {{"noun", stepper.noun},   {"columns", stepper.columns}, {"steps", stepper.steps},
                       {"bands", stepper.bands}, {"band", stepper.band_noun},  {"done", stepper.done_from}};
  data["combined"] = stepper.things_are == Stepper::Things::combined;
  data["sourced"] = stepper.things_are == Stepper::Things::sourced;
  data["kinds"] = ordered_json::array();
  for (const Stepper::Kind& kind : stepper.kinds) {
    data["kinds"].push_back(list_of(kind.name, static_cast<int>(kind.line), static_cast<int>(kind.square),
                                    kind.signal ? 1 : 0, kind.several));
  }
  add_things(data, stepper);
  add_arrows(data, stepper);
  data["groups"] = rows_of(stepper);
  add_changes(data, stepper);
  std::string json;
  for (char c : data.dump(-1, ' ', false, ordered_json::error_handler_t::replace)) {
    if (c == '<') {
      json += "\\u003c";
    } else if (c == '&') {
      json += "\\u0026";
    } else if (c == '>') {
      json += "\\u003e";
    } else {
      json += c;
    }
  }
  return json;
}

std::string_view name_of(Stepper::Line line) {
  switch (line) {
    case Stepper::Line::dashed:
      return " dashed";
    case Stepper::Line::chained:
      return " chained";
    case Stepper::Line::dotted:
      return " dotted";
    default:
      return "";
  }
}

// An arrow as the script draws them, from left to right.
std::string arrow_sample(const Stepper::Kind& kind, std::string_view more = "") {
  std::string svg = fmt::format(R"(<svg width="38" height="14"><g class="a{}{}"><path class="s" d="M5 7H28"/>)",
                                name_of(kind.line), kind.signal ? " w1" : more);
  svg += R"(<path class="h" d="M37 7L28 3.2V10.8Z"/>)";
  if (kind.square == Stepper::Square::tail) {
    svg += R"(<rect class="q" x="1.5" y="3.5" width="7" height="7"/>)";
  } else {
    svg += R"(<circle class="t" cx="5" cy="7" r="2.6"/>)";
  }
  if (kind.square == Stepper::Square::head) svg += R"(<rect class="q" x="30" y="3.5" width="7" height="7"/>)";
  return svg + "</g></svg>";
}

std::string sample_of(const Stepper& stepper, const Stepper::Sign& sign) {
  using Look = Stepper::Sign::Look;
  switch (sign.look) {
    case Look::colours: {
      const std::size_t each = sign.colours.size() > 8 ? 6 : 11;
      std::string svg = fmt::format(R"(<svg width="{}" height="12">)", each * sign.colours.size());
      for (std::size_t i = 0; i < sign.colours.size(); ++i) {
        svg += fmt::format(R"(<rect class="f k{}" x="{}" width="{}" height="12"/>)", sign.colours[i], i * each, each);
      }
      return svg + "</svg>";
    }
    case Look::line:
      return arrow_sample(stepper.kinds.at(sign.kind));
    case Look::hollow:
      return arrow_sample({}, " hollow");
    case Look::full:
      return arrow_sample({});
    case Look::width:
      return R"(<svg width="30" height="12"><path class="f" d="M0 5.5L30 1V11L0 6.5Z"/></svg>)";
    case Look::share:
      return R"(<svg width="30" height="12"><rect class="e" width="30" height="12"/><rect class="f" width="13" height="12"/></svg>)";
    case Look::changed:
      return R"(<svg width="22" height="14"><rect class="e" x="1" y="1" width="20" height="12"/><rect class="new" x="1" y="1" width="20" height="12"/></svg>)";
    case Look::done:
      return R"(<b class="r done">3</b>)";
    default:
      return R"(<svg width="22" height="12"><rect class="band" width="22" height="12"/></svg>)";
  }
}

void write_legend(std::string& out, const Stepper& stepper) {
  out += "<ul class=\"key signs\" aria-label=\"Legend\">\n";
  for (const Stepper::Sign& sign : stepper.legend) {
    out +=
        fmt::format("<li><span aria-hidden=\"true\">{}</span>{}</li>\n", sample_of(stepper, sign), escaped(sign.text));
  }
  out += "</ul>\n";
}

void write_controls(std::string& out, const Stepper& stepper) {
  const auto button = [&](std::string_view name, std::string_view label, std::string_view path) {
    out += fmt::format(R"(<button type="button" class="{}" aria-label="{}" title="{}">)"
                       R"(<svg width="16" height="16" aria-hidden="true"><path d="{}"/></svg></button>)",
                       name, label.substr(0, label.find(" (")), label, path);
  };
  out += "<div class=\"controls\" role=\"group\" aria-label=\"Steps\">\n<span class=\"buttons\">";
  button("first", "To the start (Home)", "M3 3H5V13H3ZM13 3V13L6 8Z");
  button("back", "Step back (left arrow)", "M11 3V13L4 8Z");
  button("play", "Play (space)", "M4 2L14 8L4 14Z");
  button("next", "Step forward (right arrow)", "M5 3V13L12 8Z");
  button("last", "To the end (End)", "M11 3H13V13H11ZM3 3V13L10 8Z");
  out += fmt::format(
      "</span>\n<input type=\"range\" min=\"0\" max=\"{}\" value=\"0\" step=\"1\" aria-label=\"Step\"/>\n"
      "<output class=\"where\"></output>\n<label>Follow <select class=\"follow\"><option value=\"-1\">all {}s</option>",
      stepper.steps, escaped(stepper.noun));
  for (std::int32_t i = 0; i < stepper.columns; ++i) {
    out += fmt::format("<option value=\"{0}\">{1} {0}</option>", i, escaped(stepper.noun));
  }
  out += "</select></label>\n";
  const bool data = std::any_of(stepper.arrows.begin(), stepper.arrows.end(),
                                [&](const auto& one) { return !stepper.kinds.at(one.kind).signal; });
  const bool signals = std::any_of(stepper.arrows.begin(), stepper.arrows.end(),
                                   [&](const auto& one) { return stepper.kinds.at(one.kind).signal; });
  if (data && signals) {
    out += "<label><input type=\"checkbox\" class=\"signals\" checked=\"checked\"/> signals</label>\n";
  }
  out += "</div>\n";
}

}  // namespace

std::string colours_of(const Stepper& stepper) {
  std::string rules, dark;
  for (std::size_t i = 0; i < stepper.colours.size(); ++i) {
    rules += fmt::format(".k{}{{--k:{}}}", i, stepper.colours[i].light);
    dark += fmt::format(".k{}{{--k:{}}}", i, stepper.colours[i].dark);
  }
  return fmt::format("{}\n@media screen and (prefers-color-scheme: dark){{{}}}\n", rules, dark);
}

void write(std::string& out, const Stepper& stepper) {
  out += "<div class=\"stepper\">\n";
  write_controls(out, stepper);
  out += "<p class=\"now\" role=\"status\" aria-live=\"polite\"></p>\n<div class=\"stage\">\n";
  out += fmt::format(
      "<figure class=\"flow\"><figcaption>{}</figcaption><div class=\"pane\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"{}\"></div></figure>\n",
      escaped(stepper.arrows_heading), escaped(stepper.arrows_heading));
  if (!stepper.rows.empty()) {
    out += fmt::format(
        "<figure class=\"held\"><figcaption>{}</figcaption><div class=\"pane\" tabindex=\"0\" role=\"group\" "
        "aria-label=\"{}\"></div></figure>\n",
        escaped(stepper.cells_heading), escaped(stepper.cells_heading));
  }
  out += "</div>\n";
  write_legend(out, stepper);
  out +=
      "<div class=\"lists\"><div class=\"moves\"><h3></h3><ul></ul></div><div "
      "class=\"holds\"><h3></h3><ul></ul></div></div>\n";
  out += fmt::format("<noscript><p>{}</p></noscript>\n<script type=\"application/json\">{}</script>\n</div>\n",
                     escaped(stepper.without_scripts), data_of(stepper));
}

}  // namespace quadrille::page
