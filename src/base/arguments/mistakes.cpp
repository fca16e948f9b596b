#include "arguments/mistakes.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "text/nearest.hpp"

namespace quadrille::arguments {

namespace {

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? fmt::format("{} {}", full_name(*app.get_parent()), app.get_name()) : app.get_name();
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!one->get_group().empty()) names.push_back(one->get_name());
  }
  return names;
}

std::vector<std::string> long_options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* one : app.get_options()) {
    for (const std::string& name : one->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

const CLI::App* command_of(const CLI::App& app, const std::string& word) {
  const auto named = app.get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
  return named.empty() ? nullptr : named.front();
}

const CLI::Option* option_of(const CLI::App& app, const std::string& word) {
  const bool is_long = word.starts_with("--");
  const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
  return app.get_option_no_throw(name);
}

std::string unknown(const char* what, const std::string& word, const CLI::App& app,
                    const std::vector<std::string>& known) {
  const std::string all = fmt::format("; {} --help shows all", full_name(app));
  return fmt::format("{}: unknown {} '{}'{}", full_name(app), what, word, text::did_you_mean(word, known, all));
}

}  // namespace

std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") break;
    if (word.size() > 1 && word.front() == '-') {
      const CLI::Option* const option = option_of(*at, word);
      if (!option) return unknown("option", word.substr(0, word.find('=')), *at, long_options_of(*at));
      const bool value_follows = option->get_items_expected_max() > 0 && word.find('=') == std::string::npos;
      if (value_follows && i + 1 < words.size() && !words[i + 1].starts_with('-')) ++i;
      continue;
    }
    if (const CLI::App* const command = command_of(*at, word)) {
      at = command;
    } else if (at->get_require_subcommand_min() > 0) {
      return unknown("command", word, *at, commands_of(*at));
    } else if (at->get_positionals_at_end()) {
      break;  // a program, whose options are its own
    }
  }
  return {};
}

}  // namespace quadrille::arguments
