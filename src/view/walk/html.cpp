#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "draw/palette.hpp"
#include "page/page.hpp"
#include "text/quantities.hpp"
#include "walk/walk.hpp"

namespace quadrille::walk {

namespace {

using draw::Payload;
using draw::Transfer;
using draw::TransferKind;
using page::Stepper;

// "3", "0-2, 5" and so on, of a sorted list of numbers.
std::string runs_text(const std::vector<std::int64_t>& numbers) {
  constexpr int most = 8;
  std::string text;
  int runs = 0;
  for (std::size_t first = 0; first < numbers.size(); ++runs) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (runs == most) return text + fmt::format(" and {} more", numbers.size() - first);
    text += text.empty() ? "" : ", ";
    text += last == first ? fmt::format("{}", numbers[first]) : fmt::format("{}–{}", numbers[first], numbers[last]);
    first = last + 1;
  }
  return text;
}

std::string ranks_text(std::uint64_t ranks) {
  std::vector<std::int64_t> numbers;
  for (int rank = 0; rank < 64; ++rank) {
    if ((ranks >> rank & 1U) != 0) numbers.push_back(rank);
  }
  return fmt::format("rank{} {}", numbers.size() == 1 ? "" : "s", runs_text(numbers));
}

// One and several of a kind.
std::pair<std::string, std::string> names_of(TransferKind kind) {
  switch (kind) {
    case TransferKind::put:
      return {"put into a window", "puts into windows"};
    case TransferKind::get:
      return {"get from a window", "gets from windows"};
    case TransferKind::read:
      return {"read from shared memory", "reads from shared memory"};
    case TransferKind::write:
      return {"write to shared memory", "writes to shared memory"};
    default:
      return {"message", "messages"};
  }
}

Stepper::Kind kind_of(TransferKind kind) {
  const auto [one, several] = names_of(kind);
  const bool shared = kind == TransferKind::read || kind == TransferKind::write;
  const bool pulled = kind == TransferKind::read || kind == TransferKind::get;
  if (kind == TransferKind::message) return {one, several};
  return {one, several, shared ? Stepper::Line::dashed : Stepper::Line::chained,
          pulled ? Stepper::Square::tail : Stepper::Square::head};
}

// Makes the page's words and signs of a walk.
class Telling {
 public:
  explicit Telling(const Walk& walk) : walk_(walk), palette_(walk.timeline) {
    steps_ = walk.timeline.steps;
    for (const Signal& signal : walk.signals) steps_ = std::max(steps_, step_of(signal));
    bool any = false;
    for (const Change& change : walk.changes) look_at(change.held, any);
    for (const Transfer& transfer : walk.timeline.transfers) {
      for (const Payload& piece : transfer.pieces) look_at(piece, any);
    }
  }

  Stepper told() {
    Stepper& page = page_;
    page.noun = "rank";
    page.arrows_heading = "What is sent";
    page.cells_heading = walk_.heard.empty() ? "What each rank holds" : "What each rank has heard of";
    page.columns = walk_.timeline.ranks;
    page.steps = steps_;
    if (!walk_.nodes.empty() && walk_.nodes.front() != walk_.nodes.back()) page.bands = walk_.nodes;
    page.band_noun = "node";
    page.things_are = walk_.timeline.reduces || !walk_.heard.empty()   ? Stepper::Things::combined
                      : palette_.colour_by() == draw::ColourBy::source ? Stepper::Things::sourced
                                                                       : Stepper::Things::marked;
    page.done_from = walk_.timeline.holds_from;
    page.colours = {{"var(--ink)", "var(--ink)"}, {"var(--accent)", "var(--accent)"}};
    page.without_scripts =
        "This page needs scripts to be stepped through. Without them, quadrille show prints the messages, and draws "
        "them with --svg.";
    add_arrows();
    add_rows();
    add_heard();
    add_legend();
    return std::move(page_);
  }

 private:
  // A step is a transfer of data: what comes before the first one is shown with it.
  static std::int64_t step_of(const Signal& signal) { return std::max<std::int64_t>(signal.step, 1); }

  void look_at(const Payload& piece, bool& any) {
    if (!any) first_ = piece;
    any = true;
    blocks_differ_ |= piece.first_block != first_.first_block;
    parts_differ_ |= piece.part != first_.part;
  }

  std::string part_text(const Payload& piece) const {
    const bool bytes = walk_.timeline.unit == "bytes";
    return runs_text_of(bytes ? "byte" : "element", piece.part);
  }

  static std::string runs_text_of(std::string_view unit, const Range& part) {
    if (part.end - part.begin == 1) return fmt::format("{} {}", unit, part.begin);
    return fmt::format("{}s {}–{}", unit, part.begin, part.end - 1);
  }

  std::string what(const Payload& piece) const {
    if (!blocks_differ_) return part_text(piece);
    const std::string block = fmt::format("block {}", piece.first_block);
    return parts_differ_ ? fmt::format("{}, {}", block, part_text(piece)) : block;
  }

  // Of several pieces: their blocks if they are of the same ranks, or each with its ranks.
  Stepper::Thing described(const std::vector<Payload>& pieces) const {
    Stepper::Thing made;
    const Payload& first = pieces.front();
    const bool alike =
        std::all_of(pieces.begin(), pieces.end(), [&](const Payload& one) { return one.ranks == first.ranks; });
    if (blocks_differ_) made.mark = fmt::format("{}", first.first_block);
    if (alike) made.whose = first.ranks;
    if (pieces.size() == 1) {
      made.what = what(first);
    } else if (alike && blocks_differ_ && !parts_differ_) {
      std::vector<std::int64_t> numbers;
      for (const Payload& one : pieces) numbers.push_back(one.first_block);
      std::sort(numbers.begin(), numbers.end());
      made.what = "blocks " + runs_text(numbers);
    } else {
      constexpr std::size_t most = 4;
      for (std::size_t i = 0; i < std::min(most, pieces.size()); ++i) {
        made.what += (i == 0 ? "" : "; ") + what(pieces[i]);
        if (!alike) made.what += " of " + ranks_text(pieces[i].ranks);
      }
      if (pieces.size() > most) made.what += fmt::format("; and {} more", pieces.size() - most);
    }
    return made;
  }

  std::size_t colour(const Payload& payload) {
    Transfer transfer;
    transfer.payload = payload;
    const std::string hex = palette_.of(transfer);
    if (hex == draw::ink) return 0;
    if (hex == draw::accent) return 1;
    return colour(hex);
  }

  std::size_t colour(const std::string& hex) {
    const auto [found, fresh] = colours_.try_emplace(hex, page_.colours.size());
    if (fresh) page_.colours.push_back({hex, fmt::format("color-mix(in srgb, {} 74%, white)", hex)});
    return found->second;
  }

  std::size_t thing(const std::vector<Payload>& pieces, const Payload& all) {
    Stepper::Thing made = described(pieces);
    made.colour = colour(all);
    return number_of(made);
  }

  std::size_t number_of(const Stepper::Thing& made) {
    const auto [found, fresh] = things_.try_emplace(made, page_.things.size());
    if (fresh) page_.things.push_back(made);
    return found->second;
  }

  std::size_t kind(const Stepper::Kind& wanted) {
    const auto found = std::find_if(page_.kinds.begin(), page_.kinds.end(),
                                    [&](const Stepper::Kind& one) { return one.name == wanted.name; });
    if (found != page_.kinds.end()) return static_cast<std::size_t>(found - page_.kinds.begin());
    page_.kinds.push_back(wanted);
    return page_.kinds.size() - 1;
  }

  std::size_t notice() {
    return kind({"notice in a window", "notices in windows", Stepper::Line::dotted, Stepper::Square::head, true});
  }

  void add_arrows() {
    std::int64_t most = 1;
    for (const Transfer& one : walk_.timeline.transfers) most = std::max(most, one.units);
    for (const Transfer& one : walk_.timeline.transfers) {
      Stepper::Arrow arrow{.step = std::max<std::int64_t>(one.step, 1), .from = one.from, .to = one.to};
      arrow.around = one.around;
      arrow.hollow = walk_.timeline.reduces && one.units > 0 && !one.payload.all;
      if (one.units > 0) {
        arrow.kind = kind(kind_of(one.kind));
        arrow.thing = static_cast<std::ptrdiff_t>(thing(one.pieces, one.payload));
        const std::string_view unit = walk_.timeline.unit;
        arrow.amount =
            fmt::format("{} {}", text::count(one.units), unit.substr(0, unit.size() - (one.units == 1 ? 1 : 0)));
        arrow.width = 1 + static_cast<int>(4 * one.units > most) + static_cast<int>(2 * one.units > most);
      } else if (one.kind == TransferKind::put) {
        arrow.kind = notice();
      } else {
        arrow.kind =
            kind({"message without data", "messages without data", Stepper::Line::solid, Stepper::Square::none, true});
        arrow.width = 1;
      }
      page_.arrows.push_back(std::move(arrow));
    }
    for (const Signal& one : walk_.signals) {
      const std::size_t as = one.board == Board::notice ? notice()
                                                        : kind({"counter in shared memory", "counters in shared memory",
                                                                Stepper::Line::dotted, Stepper::Square::tail, true});
      page_.arrows.push_back({.step = step_of(one), .from = one.from, .to = one.to, .kind = as, .width = 1});
    }
  }

  static std::string name_of(Buffer buffer) {
    if (buffer == Buffer::slot) return "shared memory of its own";
    if (buffer == Buffer::box) return "boxes in its window";
    if (buffer == Buffer::staging) return "staging in its window";
    return std::string(quadrille::name(buffer));
  }

  void add_rows() {
    for (const Place& place : walk_.places) {
      const bool alone = std::none_of(walk_.places.begin(), walk_.places.end(), [&](const Place& other) {
        return other.buffer == place.buffer && other.block != place.block;
      });
      const bool divided = std::any_of(walk_.places.begin(), walk_.places.end(), [&](const Place& other) {
        return other.buffer == place.buffer && other.block == place.block && other.part != place.part;
      });
      const std::string_view unit = walk_.timeline.unit.substr(0, walk_.timeline.unit.size() - 1);
      std::string row = alone ? "" : fmt::format("block {}", place.block);
      const std::string part = runs_text_of(unit, place.part);
      if (alone) row = part;
      if (!alone && divided) row += ", " + part.substr(part.find(' ') + 1);
      page_.rows.push_back({name_of(place.buffer), row, place.ranks});
    }
    for (const Change& one : walk_.changes) {
      page_.changes.push_back({one.step, one.rank, static_cast<std::size_t>(one.place), thing({one.held}, one.held)});
    }
  }

  // Where nothing but signals is sent: how many ranks have been heard of.
  void add_heard() {
    if (walk_.heard.empty()) return;
    page_.rows.push_back({"heard of", "ranks", ~std::uint64_t{0}});
    for (std::size_t step = 0; step < walk_.heard.size(); ++step) {
      for (std::size_t rank = 0; rank < walk_.heard[step].size(); ++rank) {
        const std::uint64_t heard = walk_.heard[step][rank];
        if (step > 0 && heard == walk_.heard[step - 1][rank]) continue;
        const std::size_t held = number_of({.what = "signals", .mark = "", .whose = heard, .colour = 1});
        page_.changes.push_back({static_cast<std::int64_t>(step), static_cast<std::int32_t>(rank), 0, held});
      }
    }
  }

  void add_legend() {
    using Look = Stepper::Sign::Look;
    auto& legend = page_.legend;
    const draw::ColourBy by = palette_.colour_by();
    if (by != draw::ColourBy::nothing) {
      std::vector<std::size_t> strip;
      for (const std::string& hex : palette_.strip()) strip.push_back(colour(hex));
      legend.push_back({Look::colours,
                        by == draw::ColourBy::source  ? "rank that the data comes from"
                        : by == draw::ColourBy::block ? "block of the data, first to last"
                                                      : "part of the data, first to last",
                        strip});
    }
    const auto uses = [&](std::size_t colour) {
      return std::any_of(page_.things.begin(), page_.things.end(),
                         [&](const auto& one) { return one.colour == colour; });
    };
    if (by != draw::ColourBy::nothing && uses(0)) legend.push_back({Look::colours, "several of these", {0}});
    if ((by == draw::ColourBy::nothing && !page_.things.empty()) || uses(1)) {
      legend.push_back({Look::colours, walk_.heard.empty() ? "data" : "ranks heard of", {1}});
    }
    for (std::size_t i = 0; i < page_.kinds.size(); ++i) legend.push_back({Look::line, page_.kinds[i].name, {}, i});
    const auto any_arrow = [&](auto&& is) { return std::any_of(page_.arrows.begin(), page_.arrows.end(), is); };
    if (any_arrow([](const auto& one) { return one.hollow; })) {
      legend.push_back({Look::hollow, "partial result"});
      if (any_arrow([](const auto& one) { return one.thing >= 0 && !one.hollow; }))
        legend.push_back({Look::full, "final result"});
    }
    const auto heavy = [](const auto& one) { return one.thing >= 0 && one.width == 3; };
    const auto light = [](const auto& one) { return one.thing >= 0 && one.width != 3; };
    if (any_arrow(heavy) && any_arrow(light)) legend.push_back({Look::width, "more data, wider line"});
    if (walk_.timeline.reduces) legend.push_back({Look::share, "filled: the share of ranks combined"});
    if (!page_.rows.empty()) legend.push_back({Look::changed, "new in this step"});
    const bool some = std::any_of(page_.done_from.begin(), page_.done_from.end(), [](auto from) { return from >= 0; });
    if (some)
      legend.push_back({Look::done, walk_.heard.empty() ? "rank that has its result" : "rank that has heard of all"});
    if (!page_.bands.empty()) legend.push_back({Look::band, "ranks of a node"});
  }

  const Walk& walk_;
  draw::Palette palette_;
  std::int64_t steps_ = 0;
  Payload first_;
  bool blocks_differ_ = false;
  bool parts_differ_ = false;
  std::map<std::string, std::size_t> colours_;
  std::map<Stepper::Thing, std::size_t> things_;
  Stepper page_;
};

}  // namespace

namespace {

// "8 ranks", "14 steps", "112 messages" and so on.
std::vector<std::string> facts_of(const Walk& walk) {
  const auto counted = [](std::int64_t number, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", text::count(number), number == 1 ? one : many);
  };
  const draw::Timeline& timeline = walk.timeline;
  std::vector<std::string> facts = {counted(timeline.ranks, "rank", "ranks"), counted(timeline.steps, "step", "steps")};
  for (const TransferKind kind :
       {TransferKind::message, TransferKind::put, TransferKind::get, TransferKind::read, TransferKind::write}) {
    const auto number = std::count_if(timeline.transfers.begin(), timeline.transfers.end(),
                                      [&](const Transfer& transfer) { return transfer.kind == kind; });
    const auto [one, several] = names_of(kind);
    if (number > 0) facts.push_back(counted(number, one, several));
  }
  return facts;
}

}  // namespace

std::string to_html(const Walk& walk, const Heading& heading) {
  std::vector<std::string> facts = facts_of(walk);
  facts.insert(facts.end(), heading.facts.begin(), heading.facts.end());
  page::Page page(heading.title, facts);
  page.section("Step by step").stepper(Telling(walk).told());
  if (!heading.paragraphs.empty()) {
    page::Section& about = page.section("About it");
    for (const std::string& paragraph : heading.paragraphs) about.text(paragraph);
  }
  page.footer(heading.footer);
  return page.html();
}

}  // namespace quadrille::walk
