#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "files/replace.hpp"
#include "launch/system.hpp"
#include "native/rules.hpp"
#include "tools/commands.hpp"

namespace quadrille::tools {

namespace {

struct ExportArguments {
  std::string openmpi;  // files; empty: none
  std::string mpich;
  std::vector<std::string> from = {"native.json"};
  bool commutative = false;
};

native::Report read_native(const std::string& path, native::Library library) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(fmt::format("can't read {}: quadrille tune --native writes it", path));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  native::Report report;
  try {
    report = native::report_from_json(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", path, error.what()));
  }
  if (report.library != library) {
    throw std::invalid_argument(fmt::format("{} is of {}, not of {}", path, report.provenance.mpi, name(library)));
  }
  return report;
}

std::string export_line(const char* variable, const std::string& file) {
  return fmt::format("  export {}={}\n", variable, launch::shell_word(std::filesystem::absolute(file).string()));
}

// Beside the file: rules.json, rules.device.json.
std::string device_file(const std::string& file) {
  std::filesystem::path path(file);
  const std::string extension = path.extension();
  return path.replace_extension(".device" + extension).string();
}

std::string write_openmpi(const std::string& file, const native::Rules& rules, std::vector<std::string> comments,
                          bool commutative) {
  if (commutative) {
    comments.emplace_back("Only for programs whose reductions commute: other operations would get wrong results.");
  }
  comments.emplace_back("Used with OMPI_MCA_coll_tuned_use_dynamic_rules=1 and");
  comments.push_back(
      fmt::format("OMPI_MCA_coll_tuned_dynamic_rules_filename={}", std::filesystem::absolute(file).string()));
  files::replace_file(file, openmpi_file(rules.list, comments));
  return "  export OMPI_MCA_coll_tuned_use_dynamic_rules=1\n" +
         export_line("OMPI_MCA_coll_tuned_dynamic_rules_filename", file);
}

std::string write_mpich(const std::string& file, const native::Rules& rules, const native::Report& report,
                        std::vector<std::string> comments) {
  if (!report.trees) {
    throw std::invalid_argument(
        "MPICH's default was not found in its library when this was measured, and its file of rules replaces the "
        "default: there can't be one");
  }
  const native::Trees trees = with_rules(*report.trees, rules.list);
  comments.push_back("Used with MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE; the rest is MPICH's default.");
  files::replace_file(file, native::mpich_file(trees.own, comments));
  std::string settings = export_line("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", file);
  if (trees.device.is_null()) return settings;
  comments.back() =
      "Used with MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE: passes what the other file has rules for on to it.";
  files::replace_file(device_file(file), native::mpich_file(trees.device, comments));
  return settings + export_line("MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE", device_file(file));
}

void require_one_mpi(const std::vector<native::Report>& reports) {
  for (const native::Report& one : reports) {
    if (one.provenance.mpi != reports.front().provenance.mpi) {
      throw std::invalid_argument(fmt::format("measured with {} and {}: rules are for one version",
                                              reports.front().provenance.mpi, one.provenance.mpi));
    }
    for (const native::Report& other : reports) {
      if (&one != &other && one.provenance.ranks == other.provenance.ranks) {
        throw std::invalid_argument(fmt::format("two reports on {} ranks: give one", one.provenance.ranks));
      }
    }
  }
}

int export_rules(const ExportArguments& arguments) {
  if (arguments.openmpi.empty() == arguments.mpich.empty()) {
    throw std::invalid_argument("export: set either --openmpi FILE or --mpich FILE");
  }
  const bool openmpi = !arguments.openmpi.empty();
  std::vector<native::Report> reports;
  for (const std::string& path : arguments.from) {
    reports.push_back(read_native(path, openmpi ? native::Library::openmpi : native::Library::mpich));
  }
  require_one_mpi(reports);
  const native::Rules rules = rules_of(reports, {.commutative = arguments.commutative});
  for (const native::Rule& rule : rules.list) fmt::print("{}\n", to_text(rule));
  if (rules.withheld > 0) {
    fmt::print(
        "{} more points are won by algorithms that are wrong for operations that don't commute, which Open MPI does "
        "not check: --commutative uses them, for programs without such operations\n",
        rules.withheld);
  }
  if (rules.list.empty()) {
    fmt::print("no algorithm of the MPI is clearly faster than its default: nothing is written\n");
    return 1;
  }
  std::vector<std::string> comments = origins(reports);
  comments.insert(comments.begin(),
                  "Written by quadrille export: the MPI's own algorithms where they are faster than its default.");
  const std::string settings = openmpi
                                   ? write_openmpi(arguments.openmpi, rules, std::move(comments), arguments.commutative)
                                   : write_mpich(arguments.mpich, rules, reports.front(), std::move(comments));
  fmt::print("{} rule{} in {}. To use {}:\n{}", rules.list.size(), rules.list.size() == 1 ? "" : "s",
             openmpi ? arguments.openmpi : arguments.mpich, rules.list.size() == 1 ? "it" : "them", settings);
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Exit& exit) {
  const auto arguments = std::make_shared<ExportArguments>();
  auto* command =
      app.add_subcommand("export", "Write the MPI's own file of rules, by what quadrille tune --native measured");
  command->footer(
      "Example: quadrille export --openmpi our.rules --from native.json. For programs that the drop-in can't be "
      "preloaded into: the MPI then chooses its own algorithms better.");
  auto* openmpi = command->add_option("--openmpi", arguments->openmpi, "Write Open MPI's dynamic rules to this file");
  command
      ->add_option("--mpich", arguments->mpich,
                   "Write MPICH's decision tree to this file, and that of its device beside it")
      ->excludes(openmpi);
  command
      ->add_option("--from", arguments->from,
                   "A report of quadrille tune --native; may be repeated, for other numbers of ranks")
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_flag("--commutative", arguments->commutative,
                    "Use algorithms of Open MPI that need operations that commute, as MPI's own do");
  command->callback([arguments, &exit] { exit = export_rules(*arguments); });
}

}  // namespace quadrille::tools
