#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "arguments/mistakes.hpp"
#include "measure/version.hpp"
#include "tools/bench.hpp"
#include "tools/commands.hpp"
#include "tools/program_arguments.hpp"

int main(int argc, char** argv) {
  CLI::App app{
      "Collective communication for MPI: run programs with it; list, verify, draw and measure its algorithms; emulate "
      "a cluster."};
  app.name("quadrille");
  app.set_version_flag("--version", std::string("quadrille ") + quadrille::version);
  app.require_subcommand(1);
  app.footer("Exit status: 0 on success, 1 if a check failed, 2 if the command line is invalid or the command failed.");
  int exit = 0;
  quadrille::tools::add_list(app, exit);
  quadrille::tools::add_verify(app, exit);
  quadrille::tools::add_show(app, exit);
  quadrille::tools::add_document(app, exit);
  quadrille::tools::add_bench(app, exit);
  quadrille::tools::add_probe(app, exit);
  quadrille::tools::add_tune(app, exit, quadrille::tools::words_behind("tune", argc, argv));
  quadrille::tools::add_knows(app, exit);
  quadrille::tools::add_export(app, exit);
  quadrille::tools::add_explain(app, exit);
  quadrille::tools::add_predict(app, exit);
  quadrille::tools::add_topology(app, exit);
  quadrille::tools::add_cluster(app, exit);
  quadrille::tools::add_run(app, exit);
  quadrille::tools::add_report(app, exit);
  quadrille::tools::add_trace(app, exit);
  quadrille::tools::add_matrix(app, exit);
  quadrille::tools::add_place(app, exit, quadrille::tools::words_behind("place", argc, argv));
  quadrille::tools::add_doctor(app, exit);
  quadrille::tools::add_completion(app, exit);
  std::vector<std::string> words(argv + 1, argv + argc);  // without the launcher of tune
  try {
    if (auto benchmark = quadrille::tools::benchmark_words(argc, argv)) {
      return quadrille::tools::run_benchmark(std::move(*benchmark));
    }
    words = quadrille::tools::with_report_file(std::move(words));
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::string unknown = quadrille::arguments::unknown_word(app, words);
    if (unknown.empty()) {
      app.exit(error);
    } else {
      fmt::print(stderr, "{}\n", unknown);
    }
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "quadrille: {}\n", error.what());
    return 2;
  }
  return exit;
}
