#include <fmt/format.h>

#include <limits>
#include <map>
#include <stdexcept>

#include "native/rules.hpp"

namespace quadrille::native {

namespace {

using nlohmann::ordered_json;
using RulesByRanks = std::map<int, std::vector<const Rule*>>;

constexpr const char* intra = "comm_type=intra";

ordered_json node(const std::string& key, ordered_json below) {
  ordered_json object = ordered_json::object();
  object[key] = std::move(below);
  return object;
}

// How MPICH counts the size of a call: of one message, or of the data of all ranks.
bool counts_all(const std::string& collective) {
  return collective == "allgather" || collective.starts_with("reduce_scatter");
}

std::int64_t mpich_size(const Rule& rule, std::int64_t bytes) {
  if (rule.algorithm.collective == "allgather") return bytes * rule.ranks;
  if (rule.algorithm.collective == "alltoall") return bytes / rule.ranks;
  return bytes;
}

// A branch where the algorithm can run a call, and the usual one elsewhere.
ordered_json guarded(const Needs& needs, ordered_json leaf, const ordered_json& usual) {
  if (needs.built_in) {
    leaf = {{"count<pow2", usual}, {"count=any", std::move(leaf)}};
    leaf = {{"is_op_built_in=yes", std::move(leaf)}, {"is_op_built_in=no", usual}};
  }
  if (needs.two_buffers) leaf = {{"is_sendbuf_inplace=yes", usual}, {"is_sendbuf_inplace=no", std::move(leaf)}};
  if (needs.commutative) leaf = {{"is_commutative=yes", std::move(leaf)}, {"is_commutative=no", usual}};
  if (needs.parent) leaf = {{"comm_hierarchy=parent", std::move(leaf)}, {"comm_hierarchy=any", usual}};
  return leaf;
}

// What a rule puts in place of the usual branch.
using Leaf = ordered_json (*)(const Algorithm& algorithm, const ordered_json& usual);

ordered_json algorithm_leaf(const Algorithm& algorithm, const ordered_json&) {
  ordered_json parameters = ordered_json::object();
  for (const std::string& one : algorithm.parameters) parameters[one] = ordered_json::object();
  return node(mpich_rule_name(algorithm), std::move(parameters));
}

const ordered_json& first_leaf(const ordered_json& tree) {
  const ordered_json* place = &tree;
  while (!place->begin().key().starts_with("composition=")) place = &*place->begin();
  return *place;
}

// The device has no leaf that passes a call on. It does so where no branch fits: none for the communicators between
// two groups can fit here.
ordered_json pass_on_leaf(const Algorithm&, const ordered_json& usual) {
  return node("comm_type=inter", first_leaf(usual));
}

ordered_json by_size(const std::vector<const Rule*>& rules, const ordered_json& usual, Leaf leaf) {
  const Algorithm& first = rules.front()->algorithm;
  if (first.collective == "barrier") return guarded(first.needs, leaf(first, usual), usual);
  const std::string size = counts_all(first.collective) ? "total_msg_size" : "avg_msg_size";
  ordered_json tree = ordered_json::object();
  std::int64_t next = 0;  // the least size without a branch
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = *rules[i];
    const std::int64_t from = mpich_size(rule, rule.range.from);
    const std::int64_t to = mpich_size(rule, rule.range.to);
    if (to > std::numeric_limits<std::int32_t>::max()) break;  // more than MPICH reads
    const bool follows = i > 0 && rule.range.from == rules[i - 1]->range.to + 1;
    if (!follows && from > next) tree[fmt::format("{}<={}", size, from - 1)] = usual;
    const Algorithm& algorithm = rule.algorithm;
    tree[fmt::format("{}<={}", size, to)] = guarded(algorithm.needs, leaf(algorithm, usual), usual);
    next = to + 1;
  }
  tree[size + "=any"] = usual;
  return tree;
}

ordered_json by_ranks(const RulesByRanks& rules, const ordered_json& usual, Leaf leaf) {
  ordered_json tree = ordered_json::object();
  int next = 1;  // the least number of ranks without a branch
  for (const auto& [ranks, list] : rules) {
    if (ranks > next) tree[fmt::format("comm_size<={}", ranks - 1)] = usual;
    tree[fmt::format("comm_size<={}", ranks)] = by_size(list, usual, leaf);
    next = ranks + 1;
  }
  tree["comm_size=any"] = usual;
  return tree;
}

}  // namespace

Trees with_rules(const Trees& trees, const std::vector<Rule>& rules) {
  std::map<std::string, RulesByRanks> collectives;
  for (const Rule& rule : rules) collectives[rule.algorithm.collective][rule.ranks].push_back(&rule);
  Trees all = trees;
  for (const auto& [collective, list] : collectives) {
    const std::string key = fmt::format("collective={}", collective);
    if (!all.own.contains(key) || !all.own[key].contains(intra)) {
      throw std::invalid_argument(fmt::format("MPICH's default has no branch {}, {}", key, intra));
    }
    all.own[key][intra] = by_ranks(list, trees.own[key][intra], algorithm_leaf);
    if (all.device.is_null() || !all.device.contains(key) || !all.device[key].contains(intra)) continue;
    all.device[key][intra] = by_ranks(list, trees.device[key][intra], pass_on_leaf);
  }
  return all;
}

std::string mpich_file(const ordered_json& tree, const std::vector<std::string>& comments) {
  std::string text;
  for (std::string comment : comments) {
    for (std::size_t end = comment.find("*/"); end != std::string::npos; end = comment.find("*/", end)) {
      comment.insert(end + 1, 1, ' ');
    }
    text += fmt::format("/* {} */\n", comment);
  }
  text += tree.dump(1) + "\n";
  // MPICH maps the file and reads on to a zero, of which there is none behind a full page.
  constexpr std::size_t page = 4096;
  if (text.size() % page == 0) text += "\n";
  return text;
}

}  // namespace quadrille::native
