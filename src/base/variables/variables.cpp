#include "variables/variables.hpp"

#include <algorithm>
#include <array>

namespace quadrille::variables {

namespace {

using enum Variable::Reader;

constexpr std::array table = {
    Variable{"QUADRILLE", "on", "`off`: the drop-in hands everything down", "", drop_in},
    Variable{"QUADRILLE_FORCE", "none", "collectives that are served wherever they can be", "--force", drop_in},
    Variable{"QUADRILLE_ONLY", "all", "collectives that may be served", "--only", drop_in},
    Variable{"QUADRILLE_EXCEPT", "none", "what is never served", "--except", drop_in},
    Variable{"QUADRILLE_REPORT", "none", "what was called and what became of it", "--report", drop_in},
    Variable{"QUADRILLE_ALGORITHM", "chosen for each call", "the algorithm of a collective", "--algorithm"},
    Variable{"QUADRILLE_TABLE", "none", "a file that says where our algorithms win, and which", "--table"},
    Variable{"QUADRILLE_CHECK", "0", "compare every call across ranks before it starts", "--check"},
    Variable{"QUADRILLE_PATIENCE", "0.5", "seconds until checked mode names a missing rank", ""},
    Variable{"QUADRILLE_WATCHDOG", "0: never", "seconds of waiting until a rank says for what", ""},
    Variable{"QUADRILLE_SIGNAL", "none", "a signal upon which a rank says what it waits for", ""},
    Variable{"QUADRILLE_MEMORY", "0: no bound", "bytes a rank may take for scratch and packing", "--memory"},
    Variable{"QUADRILLE_PART", "1G", "longer messages travel in parts", ""},
    Variable{"QUADRILLE_SEGMENT", "32k", "bytes of a segment, for algorithms that pipeline", ""},
    Variable{"QUADRILLE_SHARED", "320k; 1280k where ranks share cores",
             "bytes of shared memory for a rank and collective; 0: none", ""},
    Variable{"QUADRILLE_RACKS", "none", "a file that says which hosts stand in one rack", ""},
    Variable{"QUADRILLE_IN_FLIGHT", "32", "messages under way in each direction", ""},
    Variable{"QUADRILLE_PROGRESS", "0", "a thread that advances what is pending", ""},
    Variable{"QUADRILLE_SHUFFLE", "0: off", "a seed: start what is ready in random order", ""},
    Variable{"QUADRILLE_CONFIG", "`/etc/quadrille.conf`", "a file with a site's defaults for all these", ""},
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
