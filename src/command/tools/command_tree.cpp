#include "tools/command_tree.hpp"

#include <CLI/CLI.hpp>
#include <set>

#include "algorithms/catalogue.hpp"

namespace quadrille::tools {

namespace {

std::vector<std::string> distinct_names(bool of_collectives) {
  std::set<std::string> all;
  for (const Algorithm* one : catalogue()) all.emplace(of_collectives ? name(one->collective) : one->name);
  return {all.begin(), all.end()};
}

// Of "sizes|ranks" or "TEXT:{messages,collectives}".
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t brace = type.find('{');
  if (brace == std::string::npos) {
    return type.find('|') == std::string::npos ? std::vector<std::string>() : CLI::detail::split(type, '|');
  }
  return CLI::detail::split(type.substr(brace + 1, type.find('}') - brace - 1), ',');
}

std::vector<std::string> choices_of(const CommandHelp::Option& option) {
  const std::string& first = option.names.front();
  if (first == "COLLECTIVE" || first == "--collective") return distinct_names(true);
  if (first == "--algorithm" || first == "--algorithms") return distinct_names(false);
  if (first == "--mpi") return {"openmpi", "mpich"};
  return choices_in(option.value);
}

CommandHelp::Option described_option(const CLI::Option& one) {
  CommandHelp::Option option;
  for (const std::string& name : one.get_snames()) option.names.push_back("-" + name);
  for (const std::string& name : one.get_lnames()) option.names.push_back("--" + name);
  if (one.get_positional()) option.names = {one.get_name(true)};
  const bool takes_value = one.get_items_expected_max() > 0 && one.get_type_size() > 0;
  if (takes_value) option.value = one.get_type_name();
  option.text = one.get_description();
  option.default_value = one.get_default_str();
  option.required = one.get_required();
  option.repeated = one.get_expected_max() > 1;
  option.choices = choices_of(option);
  return option;
}

void add_helps(const CLI::App& app, const std::string& name, std::vector<CommandHelp>& all) {
  CommandHelp help;
  help.name = name;
  help.text = app.get_description();
  help.footer = app.get_footer();
  help.starts_program = app.get_positionals_at_end();
  for (const CLI::Option* one : app.get_options()) {
    if (one->get_group().empty()) continue;
    (one->get_positional() ? help.positionals : help.options).push_back(described_option(*one));
  }
  const auto shown = app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
  for (const CLI::App* one : shown) help.subcommands.push_back({one->get_name(), one->get_description()});
  all.push_back(std::move(help));
  for (const CLI::App* one : shown) add_helps(*one, name.empty() ? one->get_name() : name + " " + one->get_name(), all);
}

}  // namespace

std::vector<CommandHelp> command_helps(const CLI::App& app) {
  std::vector<CommandHelp> all;
  add_helps(app, "", all);
  return all;
}

}  // namespace quadrille::tools
