#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "launch/system.hpp"
#include "tools/command_tree.hpp"
#include "tools/commands.hpp"

namespace quadrille::tools {

namespace {

// Patterns of `case "$command $word"` for the words that lead from a command to one of its subcommands.
std::string steps_to_subcommands(const std::vector<CommandHelp>& helps) {
  std::string all;
  for (const CommandHelp& help : helps) {
    for (const auto& one : help.subcommands) {
      all += fmt::format("{}{}", all.empty() ? "" : " | ", launch::shell_word(help.name + " " + one.name));
    }
  }
  return all;
}

// Patterns for the options that have a value.
std::string patterns_of(const CommandHelp& help, const CommandHelp::Option& option) {
  std::string all;
  for (const std::string& name : option.names) {
    all += fmt::format("{}{}", all.empty() ? "" : " | ", launch::shell_word(help.name + " " + name));
  }
  return all;
}

// Calls visit(patterns, choices) for each option that has a value.
template <class Visit>
void for_each_value(const std::vector<CommandHelp>& helps, Visit&& visit) {
  for (const CommandHelp& help : helps) {
    for (const auto& one : help.options) {
      if (!one.value.empty()) visit(patterns_of(help, one), fmt::format("{}", fmt::join(one.choices, " ")));
    }
  }
}

std::string bash_completion(const std::vector<CommandHelp>& helps) {
  std::string all = fmt::format(R"(# Completion of quadrille for bash, written by: quadrille completion bash
_quadrille() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command='' words='' word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${{COMP_WORDS[i]}}
    if [[ $word == -- ]]; then
      ((i + 1 == COMP_CWORD)) && COMPREPLY=($(compgen -c -- "$current"))
      return
    fi
    case "$command $word" in
      {}) command="${{command:+$command }}$word" ;;
    esac
  done
  case "$command $previous" in
)",
                                steps_to_subcommands(helps));
  for_each_value(helps, [&](const std::string& patterns, const std::string& choices) {
    const std::string words =
        choices.empty() ? ""
                        : fmt::format(" COMPREPLY=($(compgen -W {} -- \"$current\"));", launch::shell_word(choices));
    all += fmt::format("    {}){} return ;;\n", patterns, words);
  });
  all += "  esac\n  case \"$command\" in\n";
  for (const CommandHelp& help : helps) {
    std::string words;
    for (const auto& one : help.subcommands) words += one.name + " ";
    for (const auto& one : help.positionals) words += fmt::format("{} ", fmt::join(one.choices, " "));
    for (const auto& one : help.options) words += fmt::format("{} ", fmt::join(one.names, " "));
    all += fmt::format("    {}) words={} ;;\n", launch::shell_word(help.name), launch::shell_word(words));
  }
  return all + R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _quadrille quadrille
)";
}

// An item of zsh's _describe.
std::string zsh_item(const std::string& word, const std::string& text) {
  return text.empty() ? launch::shell_word(word) : launch::shell_word(fmt::format("{}:{}", word, text));
}

std::string zsh_completion(const std::vector<CommandHelp>& helps) {
  std::string all = fmt::format(R"(#compdef quadrille
# Completion of quadrille for zsh, written by: quadrille completion zsh
_quadrille() {{
  local command='' word i
  local -a found
  for ((i = 2; i < CURRENT; ++i)); do
    word=$words[i]
    if [[ $word == -- ]]; then
      shift $i words
      ((CURRENT -= i))
      _normal
      return
    fi
    case "$command $word" in
      ({}) command="${{command:+$command }}$word" ;;
    esac
  done
  case "$command $words[CURRENT-1]" in
)",
                                steps_to_subcommands(helps));
  for_each_value(helps, [&](const std::string& patterns, const std::string& choices) {
    all += fmt::format("    ({}) {}; return ;;\n", patterns, choices.empty() ? "_files" : "compadd -- " + choices);
  });
  all += "  esac\n  case \"$command\" in\n";
  for (const CommandHelp& help : helps) {
    all += fmt::format("    ({}) found=(\n", launch::shell_word(help.name));
    for (const auto& one : help.subcommands) all += fmt::format("      {}\n", zsh_item(one.name, one.text));
    for (const auto& one : help.positionals) {
      for (const std::string& choice : one.choices) all += fmt::format("      {}\n", zsh_item(choice, ""));
    }
    for (const auto& one : help.options) {
      for (const std::string& name : one.names) all += fmt::format("      {}\n", zsh_item(name, one.text));
    }
    all += "    ) ;;\n";
  }
  return all + R"(  esac
  _describe quadrille found || _files
}
_quadrille "$@"
)";
}

}  // namespace

void add_completion(CLI::App& app, Exit&) {
  const auto shell = std::make_shared<std::string>();
  auto* command = app.add_subcommand("completion", "Print a script that completes this command's words in a shell");
  command->footer("Example: source <(quadrille completion bash). An installation by cmake has it already.");
  command->add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([shell, &app] {
    const std::vector<CommandHelp> helps = command_helps(app);
    fmt::print("{}", *shell == "bash" ? bash_completion(helps) : zsh_completion(helps));
  });
}

}  // namespace quadrille::tools
