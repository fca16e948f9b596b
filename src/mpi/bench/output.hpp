#pragma once

#include <optional>
#include <span>
#include <string>

#include "cost/machine_file.hpp"
#include "engine/context.hpp"
#include "measure/bench_options.hpp"
#include "measure/report.hpp"

namespace quadrille::bench {

// To a file, see files::replace_file; "-" is standard output. Nothing without a name.
void write(const std::string& file, const std::string& text);

// What a machine file has before it is written anew; nothing if it is not there. One that can't be read is kept beside
// it, and that is said.
std::optional<cost::Machine> machine_before(const std::string& file, const cost::Model& otherwise);

// What a run writes, on rank 0: rows on standard output as they are measured, and files, which are whole at every
// moment. What goes to standard output or another stream instead of a file is written at the end, but for CSV, which
// grows by lines.
class Output {
 public:
  Output(const measure::BenchOptions& options, const measure::TableColumns& columns, const engine::Context& measured);

  // Before hours of measuring: what is wrong with the files, or nothing.
  static std::string wrong_with_files(const measure::BenchOptions& options);

  void begin(const measure::Report& report);
  // The cell is the last of the report.
  void add_cell(const measure::Report& report, std::span<const measure::Point> cell);
  void end(const measure::Report& report);

 private:
  bool has_table() const { return options_.json != "-" && options_.csv != "-"; }
  void write_files(const measure::Report& report, bool streams_too);
  void print_csv(const measure::Report& report);
  void record_tuning(const measure::Report& report);
  void remember(const measure::Report& report);

  const measure::BenchOptions& options_;
  measure::TableColumns columns_;
  const engine::Context& measured_;
  std::size_t csv_printed_ = 0;  // characters
  std::size_t rules_ = 0;
  std::size_t remembered_ = 0;  // findings
  bool complained_ = false;     // that nothing can be remembered
};

}  // namespace quadrille::bench
