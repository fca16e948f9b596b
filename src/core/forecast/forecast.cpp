#include "forecast/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "cost/simulation.hpp"
#include "knowledge/library.hpp"
#include "knowledge/parts.hpp"
#include "machine/workers.hpp"
#include "select/selector.hpp"

namespace quadrille::forecast {

namespace {

// One point on its way.
class Estimator {
 public:
  Estimator(Topology topology, const Case& asked, const Settings& settings, const Options& options)
      : options_(options), topology_(std::move(topology)), model_(settings.model), case_(asked) {
    const Rank per_node = topology_.largest_domain(topology_.levels() - 1);
    if (model_.cores == 0) model_.cores = per_node;
    const bool crowded = per_node > model_.cores;
    selector_ = Selector(settings.preferences, {}, asked.ranks,
                         {.topology = &topology_,
                          .slot_bytes = settings.shared_bytes(crowded),
                          .offloads = model_.offload.latency > 0,
                          .crowded = crowded});
    selector_.set_model(model_);
    of_mpi_ = model_;
    of_mpi_.operation = 0;
    of_mpi_.call = 0;
    map_.emplace(topology_);
    case_.nodes = selector_.placement().nodes;
    case_.ranks_per_node = selector_.placement().ranks_per_node;
    point_.asked = {asked.collective, asked.ranks, asked.bytes()};
    point_.nodes = map_->nodes();
    point_.racks = map_->racks();
  }

  Point run() {
    const std::vector<Estimate> candidates = options_.only ? only_candidates() : all_candidates();
    double lowest = std::numeric_limits<double>::infinity();
    for (const Estimate& one : candidates) lowest = std::min(lowest, one.time.seconds);
    const auto contends = [&](const Estimate& one) { return one.time.seconds <= near * lowest; };
    simulated_ = std::all_of(candidates.begin(), candidates.end(), [&](const Estimate& one) {
      return !contends(one) || messages(one.variant, case_) <= options_.most_messages;
    });
    for (Estimate one : candidates) {
      if (simulated_ && contends(one)) one.time = simulate(one.variant, case_, model_);
      add(one);
    }
    std::stable_sort(point_.algorithms.begin(), point_.algorithms.end(),
                     [](const Estimate& a, const Estimate& b) { return a.time.seconds < b.time.seconds; });
    if (!options_.only) add_policies();
    return std::move(point_);
  }

 private:
  // Prices are seldom further from the simulation than by half of it: see the tests of cost::price.
  static constexpr double near = 4;

  const Requirements& requirements() const { return selector_.requirements(); }

  // With their prices; one that is segmented several times, with the segments that are tried.
  std::vector<Estimate> all_candidates() {
    std::vector<Estimate> found;
    for (const Priced& one : selector_.prices()->ranking(case_).variants) {
      found.push_back({one.variant, price(one.variant, case_, model_)});
    }
    if (found.empty()) throw std::invalid_argument("no algorithm can run the call");
    return found;
  }
  // An algorithm that is not offered is not among all.
  std::vector<Estimate> only_candidates() {
    const Variant& only = options_.only;
    if (const std::string why = requirements().refusal(only, case_); !why.empty()) {
      throw std::invalid_argument(
          fmt::format("{}, on {} rank{}: {}", name_of(only), case_.ranks, case_.ranks == 1 ? "" : "s", why));
    }
    std::vector<Estimate> found;
    if (only.algorithm().offered && only.width == 0) {
      found = all_candidates();
      std::erase_if(found, [&](const Estimate& one) { return one.variant.place != only.place; });
    }
    if (found.empty()) found.push_back({only, price(only, case_, model_)});
    return found;
  }

  // Those of hierarchical algorithms, which depend on the machine, are fewer than those of others.
  std::int64_t messages(const Variant& variant, const Case& asked) const {
    const Variant completed = requirements().completed(variant, asked);
    const auto predicted = predict(completed.algorithm(), requirements().problem(completed, asked));
    return predicted ? predicted->messages : asked.ranks;
  }

  static std::int64_t unit_of(const Case& asked) {
    return traits(asked.collective).reduces ? std::max<std::int64_t>(1, asked.unit_bytes) : 1;
  }
  Seconds price(const Variant& variant, const Case& asked, const cost::Model& model) {
    const Variant completed = requirements().completed(variant, asked);
    const Problem problem = requirements().problem(completed, asked);
    const auto unit = static_cast<double>(unit_of(asked));
    return {cost::price(completed.algorithm(), problem, unit, *map_, model).alone, Method::price};
  }
  Seconds simulate(const Variant& variant, const Case& asked, const cost::Model& model) {
    const Variant completed = requirements().completed(variant, asked);
    const Problem problem = requirements().problem(completed, asked);
    const cost::Simulated simulated = cost::simulate(completed.algorithm(), problem, unit_of(asked), topology_, model);
    return {simulated.time(), Method::simulation};
  }
  // As the point's contenders.
  Seconds seconds(const Variant& variant, const Case& asked, const cost::Model& model) {
    const bool few = messages(variant, asked) <= options_.most_messages;
    return simulated_ && few ? simulate(variant, asked, model) : price(variant, asked, model);
  }

  void add(const Estimate& made) {
    const auto same = std::find_if(point_.algorithms.begin(), point_.algorithms.end(), [&](const Estimate& one) {
      return one.variant.place == made.variant.place && one.variant.width == made.variant.width;
    });
    if (same == point_.algorithms.end()) {
      point_.algorithms.push_back(made);
    } else if (made.time.seconds < same->time.seconds) {
      *same = made;
    }
  }

  bool wanted(std::string_view policy) const { return options_.policy.empty() || policy == options_.policy; }

  void add_policies() {
    if (wanted(knowledge::own_policy)) {
      const Variant chosen = selector_.decide(case_, {}).variant;
      point_.policies.push_back({std::string(our_policy), name_of(chosen), seconds(chosen, case_, model_)});
    }
    for (const knowledge::Library* library : knowledge::libraries()) {
      if (!wanted(library->policy) || (library->is_historical && options_.policy.empty())) continue;
      const knowledge::Choice choice = library->choose(case_);
      if (choice.name.empty()) continue;
      PolicyEstimate made{std::string(library->name), std::string(choice.name), std::nullopt};
      const bool known =
          !choice.steps.empty() && std::all_of(choice.steps.begin(), choice.steps.end(),
                                               [&](const knowledge::Step& step) { return can_run(step); });
      if (known) made.time = in_turn(choice.steps);
      point_.policies.push_back(std::move(made));
    }
  }

  bool can_run(const knowledge::Step& step) const {
    return step.by != knowledge::By::all || requirements().can_run(step.variant, knowledge::as_case(step));
  }

  // Of a step that parts of the communicator run by themselves: the part of the root, by its price.
  double price_of_part(const knowledge::Step& step) const {
    const std::vector<knowledge::Part> parts = knowledge::parts_of(step, &topology_);
    const auto of_root = std::find_if(parts.begin(), parts.end(), [&](const knowledge::Part& part) {
      return part.ranks[part.root] == step.asked.root;
    });
    const knowledge::Part& part = of_root == parts.end() ? parts.front() : *of_root;
    const Topology topology = knowledge::topology_of(part.ranks, topology_);
    const Requirements alone({.topology = &topology}, 0, 0);
    knowledge::Step called = step;
    called.asked = part.asked(step);
    const Case asked = knowledge::as_case(called);
    const Variant completed = alone.completed(step.variant, asked);
    cost::Map map(topology);
    return cost::price(completed.algorithm(), alone.problem(completed, asked), static_cast<double>(unit_of(asked)), map,
                       of_mpi_)
        .alone;
  }

  // Segments of data are in nodes and among them at the same time: the first passes through all steps, and the others
  // follow as the slower of the two levels lets them.
  Seconds in_turn(const std::vector<knowledge::Step>& steps) {
    Seconds all{0, Method::simulation};
    std::array<double, 2> others = {};
    std::array<std::set<Collective>, 2> first = {};
    for (const knowledge::Step& step : steps) {
      if (step.by == knowledge::By::all) {
        const Seconds one = seconds(step.variant, knowledge::as_case(step), of_mpi_);
        all.seconds += static_cast<double>(step.times) * one.seconds;
        if (one.method == Method::price) all.method = Method::price;
        continue;
      }
      const auto level = static_cast<std::size_t>(step.by == knowledge::By::each_node);
      const double once = price_of_part(step);
      const bool is_first = first[level].insert(step.asked.collective).second;
      all.seconds += is_first ? once : 0;
      others[level] += static_cast<double>(step.times - (is_first ? 1 : 0)) * once;
      all.method = Method::price;
    }
    all.seconds += *std::max_element(others.begin(), others.end());
    return all;
  }

  const Options& options_;
  Topology topology_;
  cost::Model model_;
  cost::Model of_mpi_;  // the same without what only schedules cost
  Selector selector_;
  std::optional<cost::Map> map_;
  Case case_;
  bool simulated_ = false;
  Point point_;
};

}  // namespace

std::string_view name(Method method) {
  return method == Method::simulation ? "simulation" : "price";
}

Topology topology_of(Rank ranks, const Place& place) {
  if (place.rack_nodes <= 0) return Topology::nodes(ranks, place.per_node);
  std::vector<std::int32_t> nodes;
  std::vector<std::int32_t> racks;
  for (Rank rank = 0; rank < ranks; ++rank) {
    nodes.push_back(rank / place.per_node);
    racks.push_back(nodes.back() / place.rack_nodes);
  }
  return {ranks, {racks, nodes}};
}

Point estimate(const Question& asked, const Settings& settings, const Options& options) {
  const Case as_case = case_of_bytes(asked.collective, asked.bytes, {.ranks = asked.ranks});
  Point point = estimate(topology_of(asked.ranks, options.place), as_case, settings, options);
  point.asked = asked;
  return point;
}

Point estimate(const Topology& topology, const Case& asked, const Settings& settings, const Options& options) {
  return Estimator(topology, asked, settings, options).run();
}

std::vector<Point> estimate(std::span<const Question> asked, const Settings& settings, const Options& options,
                            int threads) {
  std::vector<Point> points(asked.size());
  machine::run_on_threads(threads, asked.size(),
                          [&](std::size_t i) { points[i] = estimate(asked[i], settings, options); });
  return points;
}

}  // namespace quadrille::forecast
