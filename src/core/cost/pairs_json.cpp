#include "cost/pairs_json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

namespace quadrille::cost {

namespace {

using Json = nlohmann::json;

constexpr double us = 1e-6;
constexpr double mb = 1e6;
constexpr const char* sends_key = "sends_mb_per_s";
constexpr const char* receives_key = "receives_mb_per_s";
constexpr const char* latency_key = "latency_us";
constexpr const char* rate_key = "rate_mb_per_s";

[[noreturn]] void reject(const std::string& what) {
  throw std::invalid_argument("pairs." + what + "; quadrille probe --pairs writes it anew");
}

double number_in(const Json& value, const std::string& what) {
  if (!value.is_number() || value.get<double>() < 0) reject(what + ": expected a number of at least 0");
  return value.get<double>();
}

double number_at(const Json& object, const char* key, const std::string& what) {
  return object.contains(key) ? number_in(object[key], what + '.' + key) : 0;
}

std::string text_at(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : std::string();
}

const Json& list_at(const Json& object, const char* key) {
  static const Json none = Json::array();
  if (!object.contains(key)) return none;
  if (!object[key].is_array()) reject(std::string(key) + ": expected a list");
  return object[key];
}

Pairs::Link link_of(const Json& json, const char* what) {
  const std::string name = json.is_object() ? text_at(json, "name") : "";
  if (name.empty()) reject(std::string(what) + ": expected objects with a name");
  return {name, number_at(json, sends_key, name) * mb, number_at(json, receives_key, name) * mb};
}

std::int32_t rack_of(const Json& node, const std::vector<Pairs::Link>& racks) {
  const std::string name = text_at(node, "rack");
  const auto found =
      std::find_if(racks.begin(), racks.end(), [&](const Pairs::Link& rack) { return rack.name == name; });
  if (found == racks.end()) reject("nodes: there is no rack '" + name + "'");
  return static_cast<std::int32_t>(found - racks.begin());
}

Pairs::Measured measured_of(const Json& json, std::size_t nodes) {
  constexpr std::size_t numbers = 4;
  const auto is_node = [&](const Json& value) {
    return value.is_number_unsigned() && value.get<std::size_t>() < nodes;
  };
  if (!json.is_array() || json.size() != numbers || !is_node(json[0]) || !is_node(json[1])) {
    reject("measured: expected lists of two nodes by their numbers, a latency and a rate");
  }
  return {json[0].get<std::int32_t>(), json[1].get<std::int32_t>(),
          Between{number_in(json[2], "measured") * us, number_in(json[3], "measured") * mb}};
}

nlohmann::ordered_json to_json(const Pairs::Link& link) {
  return {{"name", link.name}, {sends_key, rounded(link.sends / mb)}, {receives_key, rounded(link.receives / mb)}};
}

// A list with an element a line.
template <class List, class Text>
std::string lines(const List& list, Text&& text) {
  std::string all;
  for (const auto& one : list) all += (all.empty() ? "\n      " : ",\n      ") + text(one);
  return all.empty() ? "[]" : '[' + all + "\n    ]";
}

}  // namespace

double rounded(double value) {
  if (value == std::floor(value)) return value;
  const double digit = std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * digit) / digit;
}

std::string pairs_to_json(const Pairs& pairs) {
  nlohmann::ordered_json levels = nlohmann::ordered_json::object();
  for (const auto& [name, usual] : pairs.levels) {
    levels[name] = {{latency_key, rounded(usual.latency / us)}, {rate_key, rounded(usual.rate / mb)}};
  }
  std::string text = "{\n    \"from\": " + Json(pairs.source).dump();
  text += ",\n    \"levels\": " + levels.dump();
  if (!pairs.racks.empty()) {
    text += ",\n    \"racks\": " + lines(pairs.racks, [](const Pairs::Link& rack) { return to_json(rack).dump(); });
  }
  text += ",\n    \"nodes\": " + lines(pairs.nodes, [&](const Pairs::Link& node) {
            nlohmann::ordered_json json = to_json(node);
            if (!pairs.racks.empty()) json["rack"] = pairs.racks[static_cast<std::size_t>(node.rack)].name;
            return json.dump();
          });
  text += ",\n    \"measured\": " + lines(pairs.measured, [](const Pairs::Measured& one) {
            return Json({one.from, one.to, rounded(one.found.latency / us), rounded(one.found.rate / mb)}).dump();
          });
  return text + "\n  }";
}

Pairs pairs_from_json(const Json& json) {
  if (!json.is_object()) throw std::invalid_argument("pairs: expected an object");
  Pairs pairs{.source = text_at(json, "from")};
  for (const Json& rack : list_at(json, "racks")) pairs.racks.push_back(link_of(rack, "racks"));
  for (const Json& node : list_at(json, "nodes")) {
    pairs.nodes.push_back(link_of(node, "nodes"));
    if (!pairs.racks.empty()) pairs.nodes.back().rack = rack_of(node, pairs.racks);
  }
  const Json levels = json.contains("levels") ? json["levels"] : Json::object();
  if (!levels.is_object()) reject("levels: expected an object");
  for (const auto& [name, usual] : levels.items()) {
    if (!usual.is_object()) reject("levels." + name + ": expected an object");
    pairs.levels[name] = {number_at(usual, latency_key, name) * us, number_at(usual, rate_key, name) * mb};
  }
  for (const Json& one : list_at(json, "measured")) pairs.measured.push_back(measured_of(one, pairs.nodes.size()));
  std::sort(pairs.measured.begin(), pairs.measured.end(), [](const Pairs::Measured& one, const Pairs::Measured& other) {
    return std::tuple(one.from, one.to) < std::tuple(other.from, other.to);
  });
  return pairs;
}

}  // namespace quadrille::cost
