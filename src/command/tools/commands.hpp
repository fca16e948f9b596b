#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace quadrille::tools {

// Each adds its subcommand, which sets the exit status of the program.
using Exit = int;
void add_list(CLI::App& app, Exit& exit);
void add_verify(CLI::App& app, Exit& exit);
void add_show(CLI::App& app, Exit& exit);
void add_document(CLI::App& app, Exit& exit);
void add_bench(CLI::App& app, Exit& exit);
// `launcher`: see words_behind.
void add_tune(CLI::App& app, Exit& exit, const std::vector<std::string>& launcher);
void add_knows(CLI::App& app, Exit& exit);
void add_export(CLI::App& app, Exit& exit);
void add_probe(CLI::App& app, Exit& exit);
void add_explain(CLI::App& app, Exit& exit);
void add_predict(CLI::App& app, Exit& exit);
void add_topology(CLI::App& app, Exit& exit);
void add_cluster(CLI::App& app, Exit& exit);
void add_run(CLI::App& app, Exit& exit);
void add_report(CLI::App& app, Exit& exit);
void add_trace(CLI::App& app, Exit& exit);
void add_matrix(CLI::App& app, Exit& exit);
void add_place(CLI::App& app, Exit& exit, const std::vector<std::string>& launcher);
void add_doctor(CLI::App& app, Exit& exit);
void add_completion(CLI::App& app, Exit& exit);

// The command line with --report FILE of `quadrille run` as --report=FILE: the value is optional, and CLI11 would take
// the file for the launcher.
std::vector<std::string> with_report_file(std::vector<std::string> words);

}  // namespace quadrille::tools
