#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "page/page.hpp"
#include "profile/profile.hpp"
#include "text/quantities.hpp"

namespace quadrille::profile {

namespace {

using page::Bar;
using page::Bars;
using page::Cell;
using page::Colour;
using page::Table;
using page::Tile;

constexpr Colour grey = {};
constexpr Colour nothing = {-2};
constexpr Colour chosen = {2};
constexpr auto numeric = page::Column::Kind::number;
constexpr auto foreign = page::Column::Kind::name;

// A collective has one colour on the whole page; those that take the least time share grey.
class Painter {
 public:
  explicit Painter(const Profile& profile) {
    std::vector<std::pair<double, std::string>> order;
    for (const CollectiveTime& one : profile.collectives) order.emplace_back(-one.mean_seconds, one.collective);
    std::sort(order.begin(), order.end());
    for (auto& [seconds, name] : order) names_.push_back(std::move(name));
  }

  // Those with the most time first.
  const std::vector<std::string>& names() const { return names_; }
  Colour operator()(const std::string& collective) const {
    const auto place = std::find(names_.begin(), names_.end(), collective) - names_.begin();
    return place < page::colours ? Colour{static_cast<int>(place)} : grey;
  }
  std::vector<std::pair<std::string, Colour>> legend() const {
    std::vector<std::pair<std::string, Colour>> all;
    for (const std::string& name : names_) {
      if ((*this)(name) != grey) all.emplace_back(name, (*this)(name));
    }
    if (names_.size() > page::colours) all.emplace_back("other collectives", grey);
    return all;
  }

 private:
  std::vector<std::string> names_;
};

std::string seconds_text(double seconds) {
  return seconds == 0 ? "0 s" : text::seconds(seconds);
}

std::string time_and_share(const Profile& profile, double seconds) {
  return fmt::format("{} · {}", seconds_text(seconds), text::share(profile.share_of_run(seconds)));
}

std::string plural(std::int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", text::count(number), what, number == 1 ? "" : "s");
}

// The program's name and as many of its arguments as fit into a title.
std::string title_of(const Profile& profile) {
  if (profile.program.empty()) return "Collectives of an MPI program";
  constexpr std::size_t most = 50;
  const std::size_t end = profile.program.find(' ');
  const std::size_t slash = profile.program.rfind('/', end);
  std::string name = profile.program.substr(slash == std::string::npos ? 0 : slash + 1);
  if (name.size() > most) {
    std::size_t cut = most;
    while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xc0U) == 0x80) --cut;  // not inside a character
    name = fmt::format("{}…", name.substr(0, cut));
  }
  return fmt::format("Collectives of {}", name);
}

std::vector<std::string> facts_of(const Profile& profile) {
  std::vector<std::string> facts = {plural(profile.ranks, "rank") +
                                    (profile.nodes > 0 ? " on " + plural(profile.nodes, "node") : "")};
  for (const std::string* fact : {&profile.mpi, &profile.host, &profile.date}) {
    if (!fact->empty()) facts.push_back(*fact);
  }
  if (profile.waits == "yielding") facts.emplace_back("oversubscribed: MPI's waits were made to yield");
  if (profile.waits == "ours") facts.emplace_back("oversubscribed: waits are Quadrille's");
  return facts;
}

std::vector<Tile> tiles_of(const Profile& profile) {
  std::int64_t calls = 0;
  std::int64_t replaced = 0;
  double replaced_seconds = 0;
  for (const Calls& row : profile.calls) {
    calls += row.calls;
    replaced += row.replaced;
    replaced_seconds += row.replaced_seconds;
  }
  const double inside = profile.in_collectives();
  std::vector<Tile> tiles = {
      {"Run", seconds_text(profile.wall_seconds), "MPI_Init to MPI_Finalize"},
      {"In collectives", text::share(profile.share_of_run(inside)),
       fmt::format("{}, mean of the ranks", seconds_text(inside))},
      {"Replaced", text::share(calls > 0 ? static_cast<double>(replaced) / static_cast<double>(calls) : 0),
       fmt::format("of {}; {}", plural(calls, "call"), seconds_text(replaced_seconds))}};
  if (!profile.learned.empty()) {
    const double saved = profile.saved_seconds();
    tiles.push_back({saved < 0 ? "Lost, about" : "Saved, about", about_seconds(std::abs(saved)),
                     fmt::format("of {} by the MPI's own", about_seconds(profile.learned_native_seconds())),
                     saved > 0});
  }
  tiles.push_back({"Memory of Quadrille", text::about_bytes(profile.peak_bytes), "a rank, at most"});
  return tiles;
}

Bars whole_run(const Profile& profile, const Painter& painter) {
  Bars bars;
  Bar bar;
  std::map<std::string, double> seconds;
  for (const CollectiveTime& one : profile.collectives) seconds[one.collective] += one.mean_seconds;
  for (const std::string& name : painter.names()) {
    bar.parts.push_back({name, seconds[name], time_and_share(profile, seconds[name]), painter(name)});
  }
  const double rest = profile.wall_seconds - profile.in_collectives();
  bar.parts.push_back({"outside of collectives", rest, time_and_share(profile, rest), nothing});
  bars.bars = {std::move(bar)};
  bars.full = profile.wall_seconds;
  bars.legend = painter.legend();
  bars.legend.emplace_back("outside of collectives", nothing);
  return bars;
}

Bars by_collective(const Profile& profile, const Painter& painter) {
  std::map<std::string, std::pair<double, double>> sums;  // replaced, passed through
  for (const Calls& row : profile.calls) {
    sums[row.collective].first += row.replaced_seconds;
    sums[row.collective].second += row.mean_seconds - row.replaced_seconds;
  }
  Bars bars;
  bars.caption = "By collective";
  for (const std::string& name : painter.names()) {
    const auto& [replaced, passed] = sums[name];
    const Colour full = painter(name);
    bars.bars.push_back({name,
                         {{name + ", replaced", replaced, time_and_share(profile, replaced), full},
                          {name + ", passed through", passed, time_and_share(profile, passed), {full.place, true}}},
                         time_and_share(profile, replaced + passed)});
  }
  bars.legend = {{"replaced", grey}, {"passed through to MPI", {-1, true}}};
  return bars;
}

// The sums over the rows that have the same place, stacked by collective.
std::vector<Bar> stacked(const Profile& profile, const Painter& painter, const std::vector<std::string>& labels,
                         const std::function<std::size_t(const Calls&)>& place_of) {
  std::vector<std::map<std::string, double>> sums(labels.size());
  for (const Calls& row : profile.calls) sums[place_of(row)][row.collective] += row.mean_seconds;
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (sums[i].empty()) continue;
    Bar bar{labels[i], {}};
    double sum = 0;
    for (const std::string& name : painter.names()) {
      const double seconds = sums[i][name];
      sum += seconds;
      if (seconds > 0) {
        bar.parts.push_back(
            {fmt::format("{}, {}", name, labels[i]), seconds, time_and_share(profile, seconds), painter(name)});
      }
    }
    bar.text = time_and_share(profile, sum);
    bars.push_back(std::move(bar));
  }
  return bars;
}

Bars by_size(const Profile& profile, const Painter& painter) {
  std::vector<std::string> labels(size_names.begin(), size_names.end());
  for (const Calls& row : profile.calls) {
    if (std::find(labels.begin(), labels.end(), row.size) == labels.end()) labels.push_back(row.size);
  }
  return {.caption = "By size of a rank's data",
          .bars = stacked(profile, painter, labels, [&](const Calls& row) {
            return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), row.size) - labels.begin());
          })};
}

// Those with the most time; the others together.
Bars by_communicator(const Profile& profile, const Painter& painter) {
  constexpr std::size_t most = 10;
  std::vector<std::pair<double, std::size_t>> order(profile.communicators.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i].second = i;
  for (const Calls& row : profile.calls) order[row.communicator].first -= row.mean_seconds;
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> places(order.size());
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < order.size(); ++i) {
    places[order[i].second] = std::min(i, most);
    if (i < most) labels.push_back(profile.communicators[order[i].second].title());
  }
  if (order.size() > most) labels.push_back(fmt::format("{} others", order.size() - most));
  return {.caption = "By communicator",
          .bars = stacked(profile, painter, labels, [&](const Calls& row) { return places[row.communicator]; })};
}

Cell number(std::string text, double value) {
  return {std::move(text), value};
}

Table all_calls(const Profile& profile) {
  Table table;
  table.columns = {{"Collective"},
                   {"Size", {}, "of a rank's data"},
                   {"Communicator", foreign},
                   {"Calls", numeric, "of all ranks"},
                   {"Data", numeric, "of all ranks"},
                   {"Time", numeric, "mean of the ranks"},
                   {"Share", numeric, "of the run"},
                   {"Slowest rank", numeric, "the longest time of any rank"},
                   {"Replaced", numeric, "share of the calls"}};
  table.sorted = 5;
  table.where_rest = "They are in the JSON file.";
  std::vector<const Calls*> rows;
  for (const Calls& row : profile.calls) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Calls* a, const Calls* b) { return a->mean_seconds > b->mean_seconds; });
  for (const Calls* row : rows) {
    const auto size = std::find(size_names.begin(), size_names.end(), row->size) - size_names.begin();
    const double replaced = row->calls > 0 ? static_cast<double>(row->replaced) / static_cast<double>(row->calls) : 0;
    table.rows.push_back({{row->collective},
                          {row->size, static_cast<double>(size)},
                          {profile.communicators[row->communicator].title()},
                          number(text::count(row->calls), static_cast<double>(row->calls)),
                          number(text::about_bytes(row->bytes), static_cast<double>(row->bytes)),
                          number(seconds_text(row->mean_seconds), row->mean_seconds),
                          number(text::share(profile.share_of_run(row->mean_seconds)), row->mean_seconds),
                          number(seconds_text(row->largest_seconds), row->largest_seconds),
                          number(text::share(replaced), replaced)});
  }
  return table;
}

Table outcomes(const Profile& profile) {
  struct Row {
    const std::string* collective;
    bool replaced;
    const std::string* what;
    std::int64_t calls;
  };
  std::vector<Row> rows;
  std::map<std::string, std::int64_t> all;
  for (const AlgorithmUse& one : profile.algorithms) {
    rows.push_back({&one.collective, true, &one.algorithm, one.calls});
    all[one.collective] += one.calls;
  }
  for (const PassedThrough& one : profile.passed) {
    rows.push_back({&one.collective, false, &one.why, one.calls});
    all[one.collective] += one.calls;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.calls > b.calls; });
  Table table;
  table.columns = {{"Collective"},
                   {"What became of it"},
                   {"By which algorithm, or why not", foreign},
                   {"Calls", numeric},
                   {"Share", numeric, "of the collective's calls"}};
  table.sorted = 3;
  table.where_rest = "They are in the JSON file.";
  for (const Row& row : rows) {
    const double share = static_cast<double>(row.calls) / std::max(1.0, static_cast<double>(all[*row.collective]));
    table.rows.push_back({{*row.collective},
                          {row.replaced ? "replaced" : "passed through"},
                          {*row.what},
                          number(text::count(row.calls), static_cast<double>(row.calls)),
                          number(text::share(share), share)});
  }
  return table;
}

// The MPI's own first; what was chosen in bold.
std::vector<Bar> candidates(const Learned& one) {
  std::vector<Learned::Tried> tried = one.tried;
  const auto has = [&](const std::string& name) {
    return std::any_of(tried.begin(), tried.end(), [&](const Learned::Tried& each) { return each.name == name; });
  };
  if (!has("native") && one.native_seconds > 0) tried.insert(tried.begin(), {"native", one.native_seconds});
  if (!has(one.verdict)) tried.push_back({one.verdict, one.seconds});
  std::vector<Bar> bars;
  for (const Learned::Tried& each : tried) {
    const bool is_native = each.name == "native";
    const bool is_verdict = each.name == one.verdict;
    const std::string name = is_native ? "MPI's own" : each.name;
    std::string time = seconds_text(each.seconds);
    std::string in_words = time;
    if (!is_native && one.native_seconds > 0) {
      const double ratio = each.seconds / one.native_seconds;
      time += fmt::format(" · ×{:.2f}", ratio);
      in_words += fmt::format(", {:.2f} times the MPI's own", ratio);
    }
    if (is_verdict)
      in_words += fmt::format("\nchosen; began with: {}", one.start == "native" ? "MPI's own" : one.start);
    const Colour colour = is_native ? grey : is_verdict ? chosen : Colour{-1, true};
    bars.push_back({name, {{name, each.seconds, in_words, colour}}, time, is_verdict});
  }
  return bars;
}

Table learned_cases(const Profile& profile) {
  std::vector<const Learned*> cases;
  for (const Learned& one : profile.learned) cases.push_back(&one);
  std::stable_sort(cases.begin(), cases.end(),
                   [](const Learned* a, const Learned* b) { return a->saved_seconds > b->saved_seconds; });
  Table table;
  table.columns = {{"Calls of", foreign, "collective, size of a rank's data, communicator"},
                   {"Calls", numeric, "of a rank"},
                   {"Replaced", numeric, "share of the calls"},
                   {"Time of a call", {}, "by each candidate; the one in bold was chosen"},
                   {"Saved", numeric, "against the MPI's own as measured"}};
  table.sorted = 4;
  table.where_rest = "They are in the JSON file.";
  for (const Learned* one : cases) {
    const double replaced = one->calls > 0 ? static_cast<double>(one->replaced) / static_cast<double>(one->calls) : 0;
    std::string where = Communicator{one->communicator, one->ranks, 1}.title();
    if (one->nodes > 1) where += fmt::format(" on {}", plural(one->nodes, "node"));
    table.rows.push_back(
        {{.text = fmt::format("{}, {}", one->collective, range_text(one->from, one->to)), .detail = std::move(where)},
         number(text::count(one->calls), static_cast<double>(one->calls)),
         number(text::share(replaced), replaced),
         {one->verdict, one->seconds, candidates(*one)},
         number(seconds_text(one->saved_seconds), one->saved_seconds)});
  }
  return table;
}

}  // namespace

std::string to_html(const Profile& profile) {
  const Painter painter(profile);
  page::Page page(title_of(profile), facts_of(profile));
  page.tiles(tiles_of(profile));
  const double inside = profile.in_collectives();
  page::Section& times =
      page.section("Where the time went")
          .text(fmt::format("{} of {} were spent in blocking collectives, waiting for other ranks included.",
                            seconds_text(inside), seconds_text(profile.wall_seconds)))
          .bars(whole_run(profile, painter))
          .bars(by_collective(profile, painter));
  if (profile.communicators.size() > 1) {
    times.bars({by_size(profile, painter), by_communicator(profile, painter)});
  } else {
    times.bars(by_size(profile, painter));
  }
  if (!profile.learned.empty()) {
    std::string saved = saved_text(profile);
    saved.front() = static_cast<char>(saved.front() - 'a' + 'A');
    page.section("Learned in the run")
        .text(fmt::format("{}. The candidate in bold was chosen.", saved))
        .table(learned_cases(profile));
  }
  page.section("Replaced and passed through")
      .text("Calls of all ranks. Non-blocking, persistent and neighbourhood collectives are counted here only.")
      .table(outcomes(profile));
  page.section("All calls")
      .text(
          "Blocking calls by collective, size and communicator. Calls and data are those of all ranks, times their "
          "mean.")
      .table(all_calls(profile));
  if (!profile.program.empty()) page.footer(fmt::format("Program of rank 0: {}", profile.program));
  return page.html();
}

}  // namespace quadrille::profile
