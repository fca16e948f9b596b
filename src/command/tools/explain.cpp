#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "algorithms/naming.hpp"
#include "cost/machine_file.hpp"
#include "knowledge/library.hpp"
#include "learn/memory.hpp"
#include "measure/bench_options.hpp"
#include "select/selector.hpp"
#include "select/table.hpp"
#include "settings/machine.hpp"
#include "settings/settings.hpp"
#include "text/markup.hpp"
#include "text/quantities.hpp"
#include "tools/commands.hpp"
#include "tools/option_values.hpp"
#include "topology/topology.hpp"

namespace quadrille::tools {

namespace {

struct ExplainArguments {
  std::string collective;
  std::string size = "0";
  int ranks = 0;
  int nodes = 1;
  int racks = 1;
  std::string machine;
  std::string table;
  std::string mpi;
  bool json = false;
};

// Ranks in blocks on nodes, nodes in blocks on racks.
Topology topology_of(const ExplainArguments& arguments) {
  const auto blocks = [&](int parts) {
    std::vector<std::int32_t> names;
    for (int rank = 0; rank < arguments.ranks; ++rank) {
      names.push_back(static_cast<std::int32_t>(std::int64_t{rank} * parts / arguments.ranks));
    }
    return names;
  };
  std::vector<std::vector<std::int32_t>> levels;
  if (arguments.racks > 1) levels.push_back(blocks(arguments.racks));
  if (arguments.nodes > 1) levels.push_back(blocks(arguments.nodes));
  return {arguments.ranks, levels};
}

// A rule of the table for the call, with what was measured.
struct Known {
  std::string mpi;
  Section::Line line;
};

std::optional<Known> find_rule(const Table& table, const ExplainArguments& arguments, const Case& asked) {
  for (const Section& section : table.sections) {
    const bool here = section.ranks == arguments.ranks && section.nodes == arguments.nodes &&
                      section.mpi.find(arguments.mpi) != std::string::npos;
    for (const Section::Line& line : section.lines) {
      const Rule& rule = line.rule;
      const bool holds = rule.collective == asked.collective && rule.from <= asked.bytes() && asked.bytes() <= rule.to;
      if (here && holds) return Known{section.mpi, line};
    }
  }
  return std::nullopt;
}

// What jobs have found for the call, by MPI: the drop-in begins with it.
std::vector<learn::Finding> found_for(const std::vector<learn::Finding>& all, const ExplainArguments& arguments,
                                      const Case& asked) {
  std::vector<learn::Finding> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), [&](const learn::Finding& one) {
    return one.ranks == arguments.ranks && one.nodes == arguments.nodes && one.rule.collective == asked.collective &&
           one.rule.from <= asked.bytes() && asked.bytes() <= one.rule.to &&
           one.mpi.find(arguments.mpi) != std::string::npos;
  });
  return found;
}

constexpr Request as_drop_in{.native = Request::Native::unless_faster};

// What an MPI does by itself, what it takes, and what the drop-in does under it.
struct ByItself {
  const knowledge::Library* library;
  knowledge::Choice choice;
  std::optional<double> seconds;
  Decision drop_in;
};

// An MPI whose own choices are known, and what decides under it.
struct KnownMpi {
  const knowledge::Library* library;
  Selector selector;
};

// The MPI that is asked for, or all.
std::vector<KnownMpi> known_mpis(const ExplainArguments& arguments, const Selector& usual, const cost::Model& model) {
  std::vector<KnownMpi> all;
  for (const knowledge::Library* one : knowledge::libraries()) {
    if (one->mpi.empty()) continue;
    const bool named = one->name.find(arguments.mpi) != std::string_view::npos;
    if (!named && knowledge::library_of(arguments.mpi) != one) continue;
    all.push_back({one, usual});
    all.back().selector.set_model(model, knowledge::native_price(one));
  }
  return all;
}

std::vector<ByItself> done_by(const std::vector<KnownMpi>& mpis, const Case& asked) {
  std::vector<ByItself> all;
  for (const auto& [library, selector] : mpis) {
    knowledge::Choice choice = library->choose(asked);
    if (choice.name.empty()) continue;
    const std::optional<double> seconds = price(choice, *selector.prices());
    all.push_back({library, std::move(choice), seconds, selector.decide(asked, as_drop_in)});
  }
  return all;
}

// What there is to say.
struct Explanation {
  Case asked;
  std::string machine;
  Prices::Ranking ranking;
  std::vector<std::string> segments;  // by variant
  std::optional<Known> rule;
  std::vector<learn::Finding> found;
  std::vector<ByItself> by_itself;
  Decision library;
  Decision drop_in;
};

std::string why(const Decision& decision) {
  std::string text;
  for (const Reason& reason : decision.reasons())
    text += fmt::format("{}{}", text.empty() ? "" : "; ", text_of(reason));
  return text;
}

std::string chosen(const Decision& decision) {
  return decision.native() ? "the MPI's own" : name_of(decision.variant);
}

void print_drop_in(const std::string& where, const Decision& decision) {
  fmt::print("{}the drop-in {}: {}\n", where,
             decision.native() ? "passes it through" : "replaces it by " + chosen(decision), why(decision));
}

void print_text(const Explanation& all, const ExplainArguments& arguments) {
  const std::string size =
      traits(all.asked.collective).moves_data() ? fmt::format(" of {}", text::bytes(all.asked.bytes())) : "";
  fmt::print("{}{}, {} ranks on {} node{}\n", name(all.asked.collective), size, arguments.ranks, arguments.nodes,
             arguments.nodes == 1 ? "" : "s");
  fmt::print("by {}\n\n", all.machine);
  fmt::print("  {:<22}{:>10}{:>12}  {}\n", "algorithm", "segment", "price", "times the lowest");
  for (std::size_t i = 0; i < all.ranking.variants.size(); ++i) {
    const Priced& one = all.ranking.variants[i];
    fmt::print("  {:<22}{:>10}{:>12}  {:.2f}\n", name_of(one.variant), all.segments[i], text::seconds(one.seconds),
               one.seconds / all.ranking.variants.front().seconds);
  }
  const auto print_own = [&](const std::string& whose, double seconds) {
    fmt::print("  {:<32}{:>12}  {:.2f}\n", whose, text::seconds(seconds),
               seconds / all.ranking.variants.front().seconds);
  };
  for (const ByItself& one : all.by_itself) {
    if (one.seconds) print_own(fmt::format("{}'s own", one.library->name), *one.seconds);
  }
  const bool priced =
      std::any_of(all.by_itself.begin(), all.by_itself.end(), [](const ByItself& one) { return one.seconds; });
  if (!priced) print_own("the MPI's own, at least", all.ranking.native);
  if (priced && arguments.mpi.empty()) print_own("another MPI's own, at least", all.ranking.native);
  fmt::print("\n");
  if (all.rule) {
    fmt::print("measured under {}: {} {}\n", all.rule->mpi, name_of(all.rule->line.rule), all.rule->line.note);
  }
  for (const auto& [library, choice, seconds, drop_in] : all.by_itself) {
    std::string ours;
    for (const knowledge::Step& step : choice.steps) {
      ours += fmt::format("{}{} {}", ours.empty() ? "" : ", then ", name(step.asked.collective), name_of(step.variant));
    }
    fmt::print("{} by itself runs it by its {}{}{}\n", library->name, choice.name,
               ours.empty() ? "" : fmt::format(": the messages of {}", ours),
               seconds ? fmt::format(", {}", text::seconds(*seconds)) : "");
  }
  for (const learn::Finding& one : all.found) {
    const std::string times =
        one.seconds > 0 && one.native_seconds > 0
            ? fmt::format(", {}, the MPI's own {}", text::seconds(one.seconds), text::seconds(one.native_seconds))
            : "";
    fmt::print("jobs under {} have found {} to be fastest{}: the drop-in begins with it\n", text::printable(one.mpi),
               one.rule.variant ? name_of(one.rule.variant) : "the MPI's own", times);
  }
  fmt::print("a call to the library is run by {}: {}\n", chosen(all.library), why(all.library));
  for (const ByItself& one : all.by_itself) {
    print_drop_in(fmt::format("under {} ", one.library->name), one.drop_in);
  }
  if (all.by_itself.empty()) {
    print_drop_in("", all.drop_in);
  } else if (arguments.mpi.empty()) {
    print_drop_in("under other MPIs ", all.drop_in);
  }
}

nlohmann::ordered_json as_json(const Explanation& all, const ExplainArguments& arguments) {
  nlohmann::ordered_json json = {{"collective", name(all.asked.collective)},
                                 {"bytes", all.asked.bytes()},
                                 {"ranks", arguments.ranks},
                                 {"nodes", arguments.nodes},
                                 {"machine", all.machine}};
  json["variants"] = nlohmann::ordered_json::array();
  for (const Priced& one : all.ranking.variants) {
    json["variants"].push_back(
        {{"algorithm", name_of(one.variant)}, {"segment", one.variant.segment}, {"seconds", one.seconds}});
  }
  json["native_at_least"] = all.ranking.native;
  if (all.rule) json["rule"] = {{"mpi", all.rule->mpi}, {"algorithm", name_of(all.rule->line.rule)}};
  const auto decision = [](const Decision& one) {
    return nlohmann::ordered_json{{"algorithm", one.native() ? "native" : name_of(one.variant)}, {"why", why(one)}};
  };
  json["libraries"] = nlohmann::ordered_json::array();
  for (const auto& [library, choice, seconds, drop_in] : all.by_itself) {
    auto steps = nlohmann::ordered_json::array();
    for (const knowledge::Step& step : choice.steps) {
      steps.push_back({{"collective", name(step.asked.collective)}, {"algorithm", name_of(step.variant)}});
    }
    json["libraries"].push_back({{"mpi", library->name}, {"algorithm", choice.name}, {"messages_of", steps}});
    if (seconds) json["libraries"].back()["seconds"] = *seconds;
    json["libraries"].back()["drop_in"] = decision(drop_in);
  }
  json["found"] = nlohmann::ordered_json::array();
  for (const learn::Finding& one : all.found) {
    json["found"].push_back({{"mpi", one.mpi},
                             {"algorithm", one.rule.variant ? name_of(one.rule.variant) : "native"},
                             {"seconds", one.seconds},
                             {"native_seconds", one.native_seconds},
                             {"when", one.when}});
  }
  json["library"] = decision(all.library);
  json["drop_in"] = decision(all.drop_in);
  return json;
}

int explain(const ExplainArguments& arguments) {
  const Collective collective = require_collective(arguments.collective);
  if (!sizes_are_known(collective)) {
    throw std::invalid_argument(fmt::format(
        "{} is not chosen by its price: each rank knows its own size only, and what is right must be so for all",
        arguments.collective));
  }
  const std::vector<std::int64_t> sizes = measure::parse_sizes(arguments.size);
  const int least = std::max(arguments.nodes, arguments.racks);
  if (arguments.ranks < 2 || arguments.nodes < 1 || arguments.ranks < least || arguments.racks > arguments.nodes) {
    throw std::invalid_argument(
        "-n, --nodes, --racks: expected at least 2 ranks, one on each node, and a node in each rack");
  }
  const Topology topology = topology_of(arguments);
  Settings settings = check_settings(setting);
  const Table table = arguments.table.empty() ? Table{} : read_table(arguments.table);
  cost::Machine machine = arguments.machine.empty() ? machine_of_any_mpi(arguments.mpi)
                                                    : cost::read_machine(arguments.machine, built_in_here().model);
  if (!arguments.machine.empty()) machine.from = fmt::format("{} ({})", arguments.machine, machine.from);
  const Rank per_node = topology.largest_domain(topology.levels() - 1);
  if (machine.model.cores == 0) machine.model.cores = per_node;
  const bool crowded = per_node > machine.model.cores;
  std::vector<PlacedRule> rules;
  for (const Section& section : table.sections) {
    if (section.mpi.find(arguments.mpi) == std::string::npos) continue;
    for (const Section::Line& line : section.lines) rules.push_back({line.rule, section.ranks, section.nodes});
  }
  settings.model = machine.model;
  settings.table = &rules;
  Selector selector(settings.preferences, rules, arguments.ranks,
                    {.topology = &topology,
                     .slot_bytes = settings.shared_bytes(crowded),
                     .offloads = settings.offloads(),
                     .crowded = crowded});
  selector.set_model(machine.model);
  const std::vector<KnownMpi> mpis = known_mpis(arguments, selector, machine.model);
  // Of another machine nothing is known here.
  const std::vector<learn::Finding> findings =
      arguments.machine.empty() ? learn::recall(learned_folder_here(), "").findings : std::vector<learn::Finding>();
  auto json = nlohmann::ordered_json::array();
  for (const std::int64_t bytes : sizes) {
    Explanation all;
    all.asked = case_of_bytes(collective, bytes, selector.placement());
    all.machine = machine.from;
    all.ranking = selector.prices()->ranking(all.asked);
    for (const Priced& one : all.ranking.variants) {
      const std::int64_t segment = selector.requirements().completed(one.variant, all.asked).segment;
      all.segments.push_back(segment > 0 ? text::bytes(segment) : "");
    }
    all.rule = find_rule(table, arguments, all.asked);
    all.found = found_for(findings, arguments, all.asked);
    all.by_itself = done_by(mpis, all.asked);
    all.library = selector.decide(all.asked, {});
    all.drop_in = selector.decide(all.asked, as_drop_in);
    if (arguments.json) {
      json.push_back(as_json(all, arguments));
    } else {
      print_text(all, arguments);
    }
  }
  if (arguments.json) fmt::print("{}\n", (sizes.size() == 1 ? json.front() : json).dump(2));
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, Exit& exit) {
  const auto arguments = std::make_shared<ExplainArguments>();
  auto* command =
      app.add_subcommand("explain", "Show which algorithm a call is run by, what others would take, and why");
  command->footer("Example: quadrille explain allreduce 64KiB -n 64 --nodes 16");
  command->add_option("COLLECTIVE", arguments->collective, "The collective")->required()->transform(collective_names());
  command->add_option("SIZE", arguments->size, "Bytes of a rank's own data, as 64KiB");
  command->add_option("-n", arguments->ranks, "Number of ranks")->required();
  command->add_option("--nodes", arguments->nodes, "Number of nodes, with as many ranks each")->capture_default_str();
  command->add_option("--racks", arguments->racks, "Number of racks, with as many nodes each")->capture_default_str();
  command->add_option("--machine", arguments->machine, "Machine file; default: what quadrille probe wrote here");
  command->add_option("--table", arguments->table, "Tuning table");
  command->add_option("--mpi", arguments->mpi,
                      "Part of the MPI's name and version, as in the table: MPICH, 'Open MPI'");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &exit] { exit = explain(*arguments); });
}

}  // namespace quadrille::tools
