#include "variables/variables.hpp"

#include <algorithm>
#include <array>

namespace quadrille::variables {

namespace {

using enum Variable::Reader;

constexpr std::array table = {
    Variable{"QUADRILLE", "on", "`off`: the drop-in passes every call through to MPI", "", drop_in},
    Variable{"QUADRILLE_FORCE", "none", "collectives to replace wherever possible", "--force", drop_in},
    Variable{"QUADRILLE_ONLY", "all", "collectives that may be replaced", "--only", drop_in},
    Variable{"QUADRILLE_EXCEPT", "none", "collectives that are never replaced", "--except", drop_in},
    Variable{"QUADRILLE_REPORT", "none", "report of all collective calls, on stderr or as JSON", "--report", drop_in},
    Variable{"QUADRILLE_TRACE", "none", "file for a trace of all messages and collective calls", "", drop_in},
    Variable{"QUADRILLE_TRACE_WAITS", "0", "1: a trace tells waits for late ranks from the collectives themselves", "",
             drop_in},
    Variable{"QUADRILLE_LEARN", "2",
             "percent of the time in collectives that trials of algorithms may cost; 0: learn and remember nothing", "",
             drop_in},
    Variable{"QUADRILLE_REORDER", "0",
             "1: `MPI_Cart_create` and the like with `reorder` place ranks where their messages are short", "",
             drop_in},
    Variable{"QUADRILLE_ALGORITHM", "chosen for each call", "algorithm of a collective", "--algorithm"},
    Variable{"QUADRILLE_TABLE", "none", "tuning table: the calls to replace, and by which algorithm", "--table"},
    Variable{"QUADRILLE_MACHINE", "what `quadrille probe` wrote, else built-in numbers",
             "machine file: the numbers that algorithms are chosen by; `none`: built-in ones", ""},
    Variable{"QUADRILLE_CHECK", "0", "compare the arguments of every call across ranks", "--check"},
    Variable{"QUADRILLE_PATIENCE", "0.5", "seconds until checked mode reports a missing rank", ""},
    Variable{"QUADRILLE_WATCHDOG", "0: never", "seconds until a waiting rank prints what it waits for", ""},
    Variable{"QUADRILLE_SIGNAL", "none", "signal on which a rank prints what it waits for", ""},
    Variable{"QUADRILLE_MEMORY", "0: unlimited", "limit in bytes on scratch and packing buffers of a rank", "--memory"},
    Variable{"QUADRILLE_PART", "1G", "longer messages are split into parts of this size", ""},
    Variable{"QUADRILLE_SEGMENT", "32k", "segment size in bytes of pipelined algorithms", ""},
    Variable{"QUADRILLE_SHARED", "320k; 1280k if oversubscribed",
             "bytes of shared memory per rank and collective; 0: none", ""},
    Variable{"QUADRILLE_WINDOWS", "1", "0: collectives of windows go by messages", ""},
    Variable{"QUADRILLE_STAGING", "64k",
             "bytes of each window, on every rank, for data that comes before its receiver calls; 0: none", ""},
    Variable{"QUADRILLE_RACKS", "none", "file that assigns hosts to racks", ""},
    Variable{"QUADRILLE_IN_FLIGHT", "32", "messages in flight in each direction", ""},
    Variable{"QUADRILLE_PROGRESS", "0", "1: a progress thread", ""},
    Variable{"QUADRILLE_SHUFFLE", "0: off", "seed: start ready operations in random order", ""},
    Variable{"QUADRILLE_CONFIG", "`/etc/quadrille.conf`", "file with the site's defaults", ""},
};

}  // namespace

std::span<const Variable> all() {
  return table;
}

const Variable* named(std::string_view name) {
  const auto* const place = std::find_if(table.begin(), table.end(), [&](const Variable& v) { return v.name == name; });
  return place == table.end() ? nullptr : place;
}

}  // namespace quadrille::variables
