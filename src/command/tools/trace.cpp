#include "trace/trace.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "breakdown/breakdown.hpp"
#include "files/replace.hpp"
#include "launch/command.hpp"
#include "tools/commands.hpp"
#include "tools/drop_in.hpp"
#include "tools/program_arguments.hpp"

namespace quadrille::tools {

namespace {

struct TraceArguments {
  Words words;
  std::string output = "quadrille.trace";
  std::optional<std::string> mpi;
  Recording recording = {};
  bool print = false;
};

struct TraceShowArguments {
  std::string file;
  std::optional<std::string> output;
  bool json = false;
};

int trace_program(const TraceArguments& arguments) {
  const std::string output = std::filesystem::absolute(arguments.output).string();
  const Words command = tracing_command(without_separator(arguments.words), arguments.mpi, output, arguments.recording);
  if (arguments.print) {
    fmt::print("{}\n", command_line(command));
    return 0;
  }
  return run_traced(command, output);
}

void show_trace(const TraceShowArguments& arguments) {
  const trace::Trace trace = trace::read(arguments.file);
  if (arguments.output) {
    files::replace_file(*arguments.output, breakdown::to_html(trace));
  } else {
    fmt::print("{}", arguments.json ? breakdown::to_json(trace) : breakdown::to_text(trace));
  }
}

void add_trace_show(CLI::App& trace_command) {
  const auto arguments = std::make_shared<TraceShowArguments>();
  auto* command = trace_command.add_subcommand("show", "Show where the time of a traced program went");
  command->footer("Example: quadrille trace show quadrille.trace --output trace.html");
  command->add_option("FILE", arguments->file, "Written by quadrille trace")->required();
  auto* json = command->add_flag("--json", arguments->json, "Print JSON");
  command->add_option("--output", arguments->output, "Write a page to this HTML file instead of printing text")
      ->excludes(json);
  command->callback([arguments] { show_trace(*arguments); });
}

}  // namespace

Words tracing_command(const Words& words, const std::optional<std::string>& mpi, const std::string& output,
                      const Recording& recording) {
  require_launcher(words, ". With another one, set QUADRILLE_TRACE as described in docs/reference/environment.md");
  launch::Variables more = {{"QUADRILLE_TRACE", output}};
  if (!recording.replace) more.emplace_back("QUADRILLE", "off");
  if (recording.waits) more.emplace_back("QUADRILLE_TRACE_WAITS", "1");
  return command_with_drop_in(words, mpi, more);
}

int run_traced(const Words& command, const std::string& output) {
  if (!files::is_replaceable(output)) throw std::invalid_argument(fmt::format("can't write to {}", output));
  // Or one of an earlier run would be taken for this one's.
  if (!files::is_stream(output)) files::remove_file(output);
  const int status = run_to_end(command);
  if (std::filesystem::exists(output)) {
    fmt::print(stderr, "quadrille: traced to {}\n", output);
    return status;
  }
  fmt::print(stderr, "quadrille: no trace: the program did not get to MPI_Finalize, where it is written\n");
  return status == 0 ? 1 : status;
}

void add_trace(CLI::App& app, Exit& exit) {
  const auto arguments = std::make_shared<TraceArguments>();
  auto* command =
      app.add_subcommand("trace", "Record what an unmodified MPI program sends and calls, and for how long");
  command->footer(
      "Example: quadrille trace --output lmp.trace -- mpirun -n 4 lmp -in in.lj; quadrille trace show lmp.trace; "
      "quadrille matrix lmp.trace --svg lmp.svg");
  command->add_option("--output", arguments->output, "The file to write")->capture_default_str();
  command->add_flag("--replace", arguments->recording.replace, "Replace collectives as quadrille run does, too");
  command->add_flag("--waits", arguments->recording.waits,
                    "Synchronize ranks before blocking collectives, to tell waits for late ranks from the calls");
  command->add_option("--mpi", arguments->mpi, "openmpi or mpich, if the launcher does not determine it");
  command->add_flag("--print", arguments->print, "Print the command line instead of running it");
  add_trace_show(*command);
  add_program(command, "LAUNCHER", arguments->words, "The launcher and its arguments, as in: mpirun -n 4 ./program");
  command->get_option("LAUNCHER")->required(false);
  command->callback([arguments, command, &exit] {
    if (command->get_subcommands().empty()) exit = trace_program(*arguments);
  });
}

}  // namespace quadrille::tools
