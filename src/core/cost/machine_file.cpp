#include "cost/machine_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cost/pairs_json.hpp"

namespace quadrille::cost {

namespace {

constexpr std::string_view format = "quadrille machine 1";
constexpr double microsecond = 1e-6;
constexpr double nanosecond = 1e-9;

// A number as the file has it: in parts that dots separate, and in a unit that people can read.
struct Field {
  std::string_view name;
  double unit;
  double (*get)(const Model&);
  void (*set)(Model&, double);
};

template <Link Model::*link, double Link::*number>
constexpr Field of_link(std::string_view name, double unit) {
  return {name, unit, [](const Model& model) { return model.*link.*number; },
          [](Model& model, double value) { model.*link.*number = value; }};
}
template <typename Integer>
Integer bounded(double value) {
  constexpr double most = 1 << 30;  // more bytes, or cores of a node, mean no limit
  return static_cast<Integer>(std::clamp(value, 0.0, most));
}
template <Link Model::*link>
constexpr Field eager_of(std::string_view name) {
  return {name, 1, [](const Model& model) { return static_cast<double>((model.*link).eager); },
          [](Model& model, double value) { (model.*link).eager = bounded<std::int64_t>(value); }};
}
template <double Offload::*number>
constexpr Field of_offload(std::string_view name, double unit) {
  return {name, unit, [](const Model& model) { return model.offload.*number; },
          [](Model& model, double value) { model.offload.*number = value; }};
}
template <double Model::*number>
constexpr Field of_model(std::string_view name, double unit) {
  return {name, unit, [](const Model& model) { return model.*number; },
          [](Model& model, double value) { model.*number = value; }};
}

constexpr std::array fields = {
    of_link<&Model::node, &Link::latency>("node.latency_us", microsecond),
    of_link<&Model::node, &Link::overhead>("node.overhead_us", microsecond),
    of_link<&Model::node, &Link::work>("node.work_ns_per_byte", nanosecond),
    eager_of<&Model::node>("node.eager_bytes"),
    of_link<&Model::node, &Link::rendezvous>("node.rendezvous_us", microsecond),
    of_link<&Model::network, &Link::latency>("network.latency_us", microsecond),
    of_link<&Model::network, &Link::overhead>("network.overhead_us", microsecond),
    of_link<&Model::network, &Link::work>("network.work_ns_per_byte", nanosecond),
    of_link<&Model::network, &Link::wire>("network.wire_ns_per_byte", nanosecond),
    Field{"network.exchange", 1, [](const Model& model) { return model.network.exchange; },
          [](Model& model, double value) { model.network.exchange = std::max(1.0, value); }},
    eager_of<&Model::network>("network.eager_bytes"),
    of_link<&Model::network, &Link::rendezvous>("network.rendezvous_us", microsecond),
    of_link<&Model::rack, &Link::latency>("rack.latency_us", microsecond),
    of_link<&Model::rack, &Link::overhead>("rack.overhead_us", microsecond),
    of_link<&Model::rack, &Link::work>("rack.work_ns_per_byte", nanosecond),
    of_link<&Model::rack, &Link::wire>("rack.wire_ns_per_byte", nanosecond),
    eager_of<&Model::rack>("rack.eager_bytes"),
    of_link<&Model::rack, &Link::rendezvous>("rack.rendezvous_us", microsecond),
    of_offload<&Offload::latency>("offload.latency_us", microsecond),
    of_offload<&Offload::byte>("offload.ns_per_byte", nanosecond),
    of_model<&Model::flag>("memory.flag_us", microsecond),
    of_model<&Model::copy>("memory.copy_ns_per_byte", nanosecond),
    of_model<&Model::reduce>("core.reduce_ns_per_byte", nanosecond),
    of_model<&Model::operation>("core.operation_us", microsecond),
    of_model<&Model::call>("core.call_us", microsecond),
    of_model<&Model::wake>("core.wake_us", microsecond),
    Field{"core.per_node", 1, [](const Model& model) { return static_cast<double>(model.cores); },
          [](Model& model, double value) { model.cores = bounded<std::int32_t>(value); }},
    Field{"core.shared_by_all_nodes", 1, [](const Model& model) { return model.one_machine ? 1.0 : 0.0; },
          [](Model& model, double value) { model.one_machine = value != 0; }},
};

const Field& field(std::string_view name) {
  const auto* const place =
      std::find_if(fields.begin(), fields.end(), [&](const Field& one) { return one.name == name; });
  if (place == fields.end()) throw std::out_of_range("a model has no number of this name");
  return *place;
}

// Nodes of one kind are numbered: node17, r3i0n5.
std::string kind_of_host(std::string_view host) {
  std::string kind(host.substr(0, host.find('.')));
  std::erase_if(kind, [](char one) { return one >= '0' && one <= '9'; });
  while (!kind.empty() && (kind.back() == '-' || kind.back() == '_')) kind.pop_back();
  return kind;
}

std::string of_nodes(std::string_view network, std::int32_t cores) {
  return std::string(network) + '_' + std::to_string(cores) + "-cores";
}

std::string as_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char one) { return one == ' ' || one == '/' || one == ','; }, '-');
  return text;
}

}  // namespace

std::string file_name(std::string_view host, std::string_view mpi, std::string_view network, std::int32_t cores) {
  return as_name(kind_of_host(host) + '_' + std::string(mpi) + '_' + of_nodes(network, cores) + ".json");
}

std::string kind_of_machine(std::string_view host, std::string_view network, std::int32_t cores) {
  return as_name(kind_of_host(host) + '_' + of_nodes(network, cores));
}

std::string cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  // One that is not absolute is to be ignored: programs change their folders.
  if (cache && *cache == '/') return std::string(cache) + "/quadrille/machines";
  const char* const home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/quadrille/machines" : "";
}

double number(const Model& model, std::string_view name) {
  const Field& one = field(name);
  return one.get(model) / one.unit;
}

void set_number(Model& model, std::string_view name, double value) {
  const Field& one = field(name);
  one.set(model, value * one.unit);
}

std::string to_json(const Machine& machine) {
  nlohmann::ordered_json json;
  json["format"] = format;
  json["from"] = machine.from;
  for (const Field& one : fields) {
    const std::size_t dot = one.name.find('.');
    json[std::string(one.name.substr(0, dot))][std::string(one.name.substr(dot + 1))] =
        rounded(number(machine.model, one.name));
  }
  for (const auto& [name, ends] : machine.intervals) json["intervals"][name] = {rounded(ends[0]), rounded(ends[1])};
  std::string text = json.dump(2);
  // Lists of thousands of pairs, one a line.
  if (!machine.pairs.empty())
    text.replace(text.size() - 2, 2, ",\n  \"pairs\": " + pairs_to_json(machine.pairs) + "\n}");
  return text + "\n";
}

namespace {

// Throws std::invalid_argument.
void set_named(Model& model, const std::string& name, const nlohmann::json& value) {
  const bool known = std::any_of(fields.begin(), fields.end(), [&](const Field& one) { return one.name == name; });
  if (!known) throw std::invalid_argument(name + ": there is no such number");
  if (!value.is_number() || value.get<double>() < 0) {
    throw std::invalid_argument(name + ": expected a number of at least 0");
  }
  set_number(model, name, value.get<double>());
}

void add_group(Machine& machine, const std::string& group, const nlohmann::json& numbers) {
  if (group == "pairs") {
    machine.pairs = pairs_from_json(numbers);
    return;
  }
  if (!numbers.is_object()) throw std::invalid_argument(group + ": expected an object");
  for (const auto& [key, value] : numbers.items()) {
    if (group == "intervals") {
      const bool pair = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
      if (pair) machine.intervals[key] = value.get<std::array<double, 2>>();
      continue;
    }
    std::string name = group;
    name += '.';
    name += key;
    set_named(machine.model, name, value);
  }
}

}  // namespace

Machine parse_machine(std::string_view text, const std::string& file, const Model& otherwise) {
  const auto wrong = [&](const std::string& what) { return std::invalid_argument(file + ": " + what); };
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw wrong(error.what());
  }
  const auto text_of = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
  };
  if (!json.is_object() || text_of("format") != format) {
    throw wrong(R"(not a machine file: expected "format": "quadrille machine 1"; quadrille probe writes one)");
  }
  Machine machine{.model = otherwise, .from = text_of("from")};
  try {
    for (const auto& [group, numbers] : json.items()) {
      if (group != "format" && group != "from") add_group(machine, group, numbers);
    }
  } catch (const std::invalid_argument& error) {
    throw wrong(error.what());
  }
  return machine;
}

Between between(const Machine& machine, std::string_view from, std::string_view to) {
  const auto sender = machine.pairs.node_named(from);
  const auto receiver = machine.pairs.node_named(to);
  if (sender && receiver) return machine.pairs.between(*sender, *receiver);
  const Link& link = from == to ? machine.model.node : machine.model.network;
  const double byte = link.wire > 0 ? link.wire : link.work;
  return {link.latency + 2 * link.overhead, byte > 0 ? 1 / byte : 0};
}

Machine read_machine(const std::string& file, const Model& otherwise) {
  std::ifstream in(file);
  if (!in) throw std::invalid_argument(file + ": " + std::strerror(errno));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return parse_machine(text, file, otherwise);
}

}  // namespace quadrille::cost
