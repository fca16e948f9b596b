#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "tools/commands.hpp"
#include "tools/version.hpp"

int main(int argc, char** argv) {
  CLI::App app{
      "Collective communication for MPI programs: list the algorithms, prove them, draw them; a cluster to try them "
      "on."};
  app.name("quadrille");
  app.set_version_flag("--version", std::string("quadrille ") + quadrille::tools::version);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 if all is well, 1 if a check failed, 2 if the command was not understood or could not be done.");
  int exit = 0;
  quadrille::tools::add_list(app, exit);
  quadrille::tools::add_verify(app, exit);
  quadrille::tools::add_show(app, exit);
  quadrille::tools::add_document(app, exit);
  quadrille::tools::add_cluster(app, exit);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "quadrille: {}\n", error.what());
    return 2;
  }
  return exit;
}
