#include "tools/man_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>

#include "files/replace.hpp"
#include "text/wrap.hpp"
#include "tools/command_tree.hpp"

namespace quadrille::tools {

namespace {

// Text that mdoc takes for no macro, escape or dash.
std::string escaped_for_page(std::string_view plain) {
  std::string safe;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool dashes = plain.substr(i).starts_with("--");
    if (dashes) ++i;
    safe += dashes ? "\\-\\-" : plain[i] == '\\' ? "\\e" : std::string(1, plain[i]);
  }
  return safe;
}

// Each sentence begins a line, and lines are short, as mdoc wants.
std::string page_text(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::string_view plain = text;
  std::string all;
  while (!plain.empty()) {
    std::size_t end = plain.find(". ");
    while (end != std::string_view::npos && end + 2 < plain.size() && std::islower(plain[end + 2])) {
      end = plain.find(". ", end + 1);
    }
    const std::string_view sentence = plain.substr(0, end == std::string_view::npos ? end : end + 1);
    plain.remove_prefix(std::min(plain.size(), sentence.size() + 1));
    for (const std::string& line : text::wrapped(escaped_for_page(sentence), 76)) {
      const bool looks_like_macro = line.starts_with('.') || line.starts_with('\'');
      all += fmt::format("{}{}\n", looks_like_macro ? "\\&" : "", line);
    }
  }
  return all;
}

// Of builds that are to be alike, that of the sources.
std::string page_date() {
  const char* const set = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = set ? static_cast<std::time_t>(std::strtoll(set, nullptr, 10)) : std::time(nullptr);
  std::tm day{};
  gmtime_r(&now, &day);
  std::array<char, 64> month{};
  std::strftime(month.data(), month.size(), "%B", &day);
  return fmt::format("{} {}, {}", month.data(), day.tm_mday, day.tm_year + 1900);
}

std::string page_name(const std::string& command) {
  std::string name = "quadrille-" + command;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// "Fl -json", "Fl h , Fl -help".
std::string flags(const CommandHelp::Option& option) {
  std::string all;
  for (const std::string& name : option.names) all += fmt::format("{}Fl {}", all.empty() ? "" : " , ", name.substr(1));
  return all;
}

std::string value_of(const CommandHelp::Option& option) {
  if (option.value.empty()) return "";
  const std::string type = option.value.substr(0, option.value.find(':'));
  return fmt::format(" Ar {}", type.starts_with('{') || type.empty() ? "VALUE" : type);
}

std::string synopsis(const CommandHelp& help) {
  std::string all = fmt::format(".Sh SYNOPSIS\n.Nm quadrille\n.Cm {}\n", help.name);
  for (const CommandHelp::Option& one : help.options) {
    if (one.required) all += fmt::format(".{}{}\n", flags(one), value_of(one));
  }
  all += ".Op Ar options\n";
  if (!help.subcommands.empty()) all += ".Op Ar command\n";
  for (const CommandHelp::Option& one : help.positionals) {
    all += fmt::format(".{}Ar {}{}\n", one.required ? "" : "Op ", one.names.front(), one.repeated ? " ..." : "");
  }
  return all;
}

std::string items(const char* heading, const std::vector<CommandHelp::Option>& options) {
  if (options.empty()) return "";
  std::string all = fmt::format(".Sh {}\n.Bl -tag -width Ds\n", heading);
  for (const CommandHelp::Option& one : options) {
    const bool is_flag = one.names.front().starts_with('-');
    all +=
        is_flag ? fmt::format(".It {}{}\n", flags(one), value_of(one)) : fmt::format(".It Ar {}\n", one.names.front());
    std::string text = one.text.empty() ? one.names.front() : one.text;
    if (!one.default_value.empty()) text += fmt::format(" (default: {})", one.default_value);
    all += page_text(text + ".");
  }
  return all + ".El\n";
}

std::string subcommand_items(const CommandHelp& help) {
  if (help.subcommands.empty()) return "";
  std::string all = ".Sh COMMANDS\n.Bl -tag -width Ds\n";
  for (const auto& one : help.subcommands) all += fmt::format(".It Cm {}\n{}", one.name, page_text(one.text + "."));
  return all + ".El\n";
}

std::string see_also(const CommandHelp& help) {
  std::vector<std::string> pages = {"quadrille"};
  for (const auto& one : help.subcommands) pages.push_back(page_name(help.name + " " + one.name));
  if (const std::size_t parent = help.name.rfind(' '); parent != std::string::npos) {
    pages.push_back(page_name(help.name.substr(0, parent)));
  }
  std::sort(pages.begin(), pages.end());
  std::string all = ".Sh SEE ALSO\n";
  for (const std::string& one : pages) all += fmt::format(".Xr {} 1{}\n", one, &one == &pages.back() ? "" : " ,");
  return all;
}

std::string page(const CommandHelp& help) {
  std::string upper = page_name(help.name);
  for (char& letter : upper) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  std::string summary = help.text.substr(0, help.text.find_first_of(";:"));
  summary.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(summary.front())));
  std::string all = fmt::format(".Dd {}\n.Dt {} 1\n.Os\n.Sh NAME\n.Nm {}\n.Nd {}\n", page_date(), upper,
                                page_name(help.name), summary);
  all += synopsis(help) + ".Sh DESCRIPTION\n" + page_text(help.text + ".");
  if (!help.footer.empty()) all += ".Pp\n" + page_text(help.footer);
  all += subcommand_items(help) + items("ARGUMENTS", help.positionals) + items("OPTIONS", help.options);
  all += ".Sh EXIT STATUS\n" +
         page_text("0 on success, 1 if a check failed, 2 if the command line is invalid or the command failed.");
  return all + see_also(help);
}

}  // namespace

void write_man_pages(const CLI::App& app, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const CommandHelp& help : command_helps(app)) {
    // quadrille(1) is written by hand: it tells more than the help.
    if (!help.name.empty()) files::replace_file(folder / (page_name(help.name) + ".1"), page(help));
  }
}

}  // namespace quadrille::tools
