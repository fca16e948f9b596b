#include "learn/lessons.hpp"

#include <algorithm>
#include <iterator>

#include "select/prices.hpp"

namespace quadrille::learn {

namespace {

// Programs with more cases than that call each of them too seldom.
constexpr std::size_t most_lessons = 256;
// What calls in a row must take of the time of those that are fastest alone, to be worth trials of their own.
constexpr double much_less = 0.7;

// What each of the calls takes that a lesson times together.
double seconds_in_a_row(const Priced& priced) {
  constexpr auto calls = static_cast<double>(Lesson::calls_in_a_row);
  return (priced.seconds + (calls - 1) * priced.in_a_row) / calls;
}

// Calls with a root overlap if there are many in a row: the root of a bcast need not wait for anybody. Then what takes
// least may not be what ends first, but what keeps no link and no core busy for long. Null: there is no such variant.
const Priced* best_in_a_row(const Prices::Ranking& ranking, Collective collective) {
  if (!traits(collective).rooted || ranking.variants.empty()) return nullptr;
  const auto best =
      std::min_element(ranking.variants.begin(), ranking.variants.end(),
                       [](const Priced& a, const Priced& b) { return seconds_in_a_row(a) < seconds_in_a_row(b); });
  return seconds_in_a_row(*best) < much_less * seconds_in_a_row(ranking.variants.front()) ? &*best : nullptr;
}

}  // namespace

bool is_usual(const Case& asked) {
  return asked.memory == 0 && !asked.in_place && asked.commutative && !asked.fixed_order &&
         (asked.operation >= 0 || !traits(asked.collective).reduces);
}

Lessons::Lessons(const Selector& selector, std::span<const PlacedRule> remembered, double share, const Credit& credit)
    : selector_(&selector), share_(share), credit_(credit) {
  const Placement& here = selector.placement();
  std::copy_if(remembered.begin(), remembered.end(), std::back_inserter(remembered_),
               [&](const PlacedRule& one) { return one.ranks == here.ranks && one.nodes == here.nodes; });
}

// Null: nothing.
const PlacedRule* Lessons::remembered(const Case& one) const {
  if (!is_usual(one)) return nullptr;
  const std::int64_t bytes = one.bytes();
  const auto found = std::find_if(remembered_.begin(), remembered_.end(), [&](const PlacedRule& known) {
    return known.rule.collective == one.collective && known.rule.from <= bytes && bytes <= known.rule.to;
  });
  return found == remembered_.end() ? nullptr : &*found;
}

// A table was measured, and whoever names an algorithm wants that one.
bool Lessons::may_learn(const Case& asked) const {
  return share_ > 0 && selector_->prices() && asked.ranks > 1 && sizes_are_known(asked.collective) &&
         !selector_->guide().knows(asked.collective) && !selector_->preferences().variant(asked.collective);
}

// What runs the representative may not run every case that it stands for.
bool Lessons::can_run_all(const CaseLesson& known, const Case& asked) const {
  const Requirements& requirements = selector_->requirements();
  return std::all_of(known.variants.begin() + 1,
                     known.variants.begin() + static_cast<std::ptrdiff_t>(known.lesson.candidates()),
                     [&](const Variant& variant) { return requirements.fits(variant, asked); });
}

// The candidates: the MPI's own function, what is remembered, what is cheapest in a row, and the cheapest algorithms,
// each with its best segment.
std::unique_ptr<CaseLesson> Lessons::begin(const Case& one) const {
  const Requirements& requirements = selector_->requirements();
  const Prices::Ranking& ranking = selector_->prices()->ranking(one);
  std::array<Variant, Lesson::most_candidates> variants = {};
  std::array<double, Lesson::most_candidates> expected = {ranking.native};
  std::size_t count = 1;
  const auto add = [&](const Variant& variant, double seconds) {
    const bool there = std::any_of(variants.begin() + 1, variants.begin() + static_cast<std::ptrdiff_t>(count),
                                   [&](const Variant& other) { return other.place == variant.place; });
    if (!requirements.fits(variant, one) || there || count == variants.size()) return false;
    variants[count] = variant;
    expected[count++] = seconds;
    return true;
  };
  auto start = CaseLesson::Start::price;
  std::size_t first = 0;
  std::array<double, Lesson::most_candidates> known = {};
  if (const PlacedRule* found = remembered(one)) {
    const Variant& variant = found->rule.variant;
    const bool runs =
        variant && requirements.can_run(variant, one) && add(variant, selector_->prices()->price(variant, one));
    if (runs || !variant) start = CaseLesson::Start::remembered;
    if (runs) first = 1;
    known[0] = found->native_seconds;
    if (runs) known[1] = found->seconds;
  }
  const Priced* const in_a_row = best_in_a_row(ranking, one.collective);
  if (in_a_row) add(in_a_row->variant, seconds_in_a_row(*in_a_row));
  for (const Priced& priced : ranking.variants) add(priced.variant, priced.seconds);
  if (start == CaseLesson::Start::price) {
    const Decision decision = selector_->decide(one, {.native = Request::Native::unless_faster});
    for (std::size_t who = 1; who < count; ++who) {
      if (!decision.native() && variants[who].place == decision.variant.place) first = who;
    }
  }
  return std::make_unique<CaseLesson>(
      CaseLesson{.one = one,
                 .variants = variants,
                 .start = start,
                 .lesson = {{expected.data(), count},
                            first,
                            share_,
                            {known.data(), count},
                            traits(one.collective).rooted ? Lesson::Calls::overlapping : Lesson::Calls::apart}});
}

CaseLesson* Lessons::find(const Case& asked) {
  if (!may_learn(asked)) return nullptr;
  const Case one = representative(asked);
  const auto about = [&](const std::unique_ptr<CaseLesson>& known) { return known->one == one; };
  auto found = std::find_if(all_.begin(), all_.end(), about);
  if (found == all_.end()) {
    if (all_.size() >= most_lessons) return nullptr;
    found = all_.insert(found, begin(one));
    (*found)->lesson.pay_from(credit_);
  }
  CaseLesson& known = **found;
  return known.lesson.candidates() > 1 && can_run_all(known, asked) ? &known : nullptr;
}

}  // namespace quadrille::learn
