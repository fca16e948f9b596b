#include "engine/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <quadrille/error.hpp>
#include <string_view>

#include "engine/rules.hpp"
#include "knowledge/library.hpp"
#include "settings/machine.hpp"

namespace quadrille::engine {

namespace {

Settings own_settings() {
  Settings settings = read_settings(setting);
  settings.preferences.part = std::min(settings.preferences.part, max_int_count);
  settings.table = rules_in(setting("QUADRILLE_TABLE"));
  settings.model = machine_here(mpi_name()).model;
  settings.usual_mpi = knowledge::changing_choices(environ).empty();
  return settings;
}

}  // namespace

Settings agreed_settings(MPI_Comm comm) {
  struct {
    Settings settings;
    std::array<char, 512> complaint = {};
  } word;
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  if (rank == 0) {
    try {
      word.settings = own_settings();
    } catch (const std::exception& error) {
      const std::string_view text = error.what();
      std::copy_n(text.begin(), std::min(text.size(), word.complaint.size() - 1), word.complaint.begin());
    }
  }
  check(PMPI_Bcast(&word, sizeof word, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (word.complaint[0] != 0) throw Error(MPI_ERR_ARG, word.complaint.data());
  // Rank 0's address says to the others that there is one.
  if (word.settings.table) word.settings.table = agreed_rules(rank == 0 ? word.settings.table : nullptr, comm);
  return word.settings;
}

}  // namespace quadrille::engine
