#include "select/prices.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "topology/topology.hpp"

namespace quadrille {

namespace {

// How far apart counts are that have three leading bits only.
std::int64_t step_at(std::int64_t count) {
  const auto bits = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(0, count)));
  return bits <= 3 ? 1 : std::int64_t{1} << (bits - 3);
}
std::int64_t rounded(std::int64_t count) {
  return count - count % step_at(count);
}

std::size_t hash(const Case& asked, std::size_t places) {
  const auto number = [](std::int64_t any) { return static_cast<std::uint64_t>(any); };
  const std::uint64_t all = number(static_cast<std::int64_t>(asked.collective)) + 32 * number(asked.count) +
                            7 * number(asked.unit_bytes) + 3 * number(asked.memory);
  return (all * 0x9e3779b97f4a7c15U >> 32U) % places;
}

}  // namespace

Case representative(const Case& asked) {
  Case one = asked;
  one.form = Form::blocking;
  one.operation = asked.operation < 0 ? -1 : 0;
  one.root = 0;
  one.count = rounded(asked.count);
  one.largest = rounded(asked.largest);
  return one;
}

Sizes sizes_of(const Case& one) {
  Case next = one;
  if (one.count < std::numeric_limits<std::int64_t>::max() / 2) next.count += step_at(one.count);
  return {.from = one.bytes(), .to = std::max(one.bytes(), next.bytes() - 1)};
}

Prices::Prices(const cost::Model& model, const Requirements& requirements, std::int64_t segment, NativePrice native)
    : model_(model),
      of_mpi_(model),
      requirements_(requirements),
      segment_(segment),
      native_(std::move(native)),
      map_(*requirements.topology()) {
  of_mpi_.operation = 0;
  of_mpi_.call = 0;
}

cost::Seconds Prices::price(const Variant& variant, const Case& asked, const cost::Model& model) {
  const std::int64_t unit = traits(asked.collective).reduces ? std::max<std::int64_t>(1, asked.unit_bytes) : 1;
  const Variant completed = requirements_.completed(variant, asked);
  return cost::price(completed.algorithm(), requirements_.problem(completed, asked), static_cast<double>(unit), map_,
                     model);
}

double Prices::price(const Variant& variant, const Case& asked) {
  return price(variant, asked, model_).alone;
}

double Prices::price_in_mpi(const Variant& variant, const Case& asked) {
  return price(variant, asked, of_mpi_).alone;
}

// Where it is not known what the MPI sends, its own function is taken for the best of the algorithms that all of them
// have: without shared memory and without a pipeline, at the cost of messages alone, and with memory enough.
void Prices::rank_native(const Case& asked, Ranking& ranking) {
  Case of_mpi = asked;
  of_mpi.memory = 0;
  const std::optional<double> known = native_ ? native_(of_mpi, *this) : std::nullopt;
  ranking.native_known = known.has_value();
  ranking.native = known.value_or(std::numeric_limits<double>::infinity());
  if (known) return;
  of_mpi.in_place = false;
  for (const Algorithm* algorithm : catalogue()) {
    const bool common = algorithm->offered && !algorithm->hierarchical && !algorithm->segmented;
    if (algorithm->collective != asked.collective || !common) continue;
    const Variant variant = variant_of(*algorithm);
    if (!requirements_.can_run(variant, of_mpi)) continue;
    ranking.native = std::min(ranking.native, price(variant, of_mpi, of_mpi_).alone);
  }
}

void Prices::rank(const Case& asked, Ranking& ranking) {
  ranking.variants.clear();
  rank_native(asked, ranking);
  const auto add = [&](const Variant& variant) {
    // Of what the MPI does among leaders no time may be known.
    if (variant.algorithm().restrictions.offloads && model_.offload.latency <= 0) return;
    if (!requirements_.can_run(variant, asked)) return;
    const cost::Seconds seconds = price(variant, asked, model_);
    ranking.variants.push_back({variant, seconds.alone, seconds.in_a_row});
  };
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective != asked.collective || !algorithm->offered) continue;
    const Variant usual = variant_of(*algorithm);
    add(usual);
    if (!algorithm->segmented) continue;
    for (const std::int64_t segment : {segment_ / 4, 4 * segment_}) {
      Variant other = usual;
      other.segment = segment;
      if (segment > 0 && segment < asked.bytes()) add(other);
    }
  }
  std::stable_sort(ranking.variants.begin(), ranking.variants.end(),
                   [](const Priced& a, const Priced& b) { return a.seconds < b.seconds; });
}

const Prices::Ranking& Prices::ranking(const Case& asked) {
  const Case one = representative(asked);
  Known& place = known_[hash(one, known_.size())];
  if (!place.known || place.asked != one) {
    place.known = true;
    place.asked = one;
    rank(one, place.ranking);
  }
  return place.ranking;
}

}  // namespace quadrille
