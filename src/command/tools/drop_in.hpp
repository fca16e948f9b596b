#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "launch/preload.hpp"
#include "tools/program_arguments.hpp"

namespace quadrille::tools {

// The drop-in for the program that a launcher starts; `mpi` is what --mpi says. Throws std::invalid_argument if its MPI
// can't be detected, or there is no drop-in for it.
std::filesystem::path drop_in_for(const std::optional<std::string>& mpi, const Words& words, launch::Launcher launcher);

// What loads it into a program, beside what is loaded already.
launch::Variables preloading(const std::filesystem::path& library);

// A launcher's command line, modified so that the program has the drop-in, as under quadrille run without options, with
// `more` variables; `mpi` is what --mpi says.
Words command_with_drop_in(const Words& words, const std::optional<std::string>& mpi,
                           const launch::Variables& more = {});

// Adds the variables of our own environment that the launcher would not pass on.
void add_environment(launch::Variables& list, launch::Launcher launcher);

// What a trace is made of.
struct Recording {
  bool replace = false;  // calls are replaced as by quadrille run, too, not only recorded
  bool waits = false;    // waits for late ranks are told from collectives
};
// A launcher's command line, modified so that the program is traced to the file, an absolute path; `mpi` is what --mpi
// says.
Words tracing_command(const Words& words, const std::optional<std::string>& mpi, const std::string& output,
                      const Recording& recording);
// Runs it, and says where the trace is. Returns the exit status; not 0 if there is no trace.
int run_traced(const Words& command, const std::string& output);

// Runs a command as a child, to which signals are passed. Returns its exit status.
int run_to_end(const Words& command);

}  // namespace quadrille::tools
