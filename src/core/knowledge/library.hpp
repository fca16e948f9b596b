#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "select/case.hpp"
#include "select/prices.hpp"

// What MPI libraries run calls by: which of their algorithms they choose, and which of the catalogue's send the same
// messages. Held against what they really send by tests/mpi/knowledge.
namespace quadrille::knowledge {

// Which ranks run a step: all of them as one; those of each node by themselves; or one of each node, the ranks that are
// on their nodes where the root is on its own.
enum class By : std::uint8_t { all, each_node, one_of_each_node };

// A collective that is part of another one, as a reduce and a bcast are of some allreduces. Its count is in units of
// unit_bytes, also where data is only moved: libraries divide data by elements, if a call is given in them. Of blocks
// that differ it is the mean. Where not all ranks run it as one, the case is that of those that do, but for the root,
// which is that of the whole communicator: on other nodes it is the rank at the same place (see parts.hpp).
struct Step {
  Case asked;
  Variant variant;  // that sends the same messages
  By by = By::all;
  std::int64_t times = 1;
};

// The step as a call, whose data is counted in bytes where it is only moved.
Case as_case(const Step& step);

struct Choice {
  std::string_view name;    // of the algorithm, as the library has it; empty: it is not known
  std::vector<Step> steps;  // that are run in turn; none: the catalogue has nothing that sends the same messages
};

// A library of one version.
struct Library {
  std::string_view name;    // as "Open MPI 4.1"
  std::string_view policy;  // what its choices are called on the command line, as "openmpi-4.1"
  std::string_view mpi;     // how the name and version begin that it gives itself, as "Open MPI v4.1."; empty: by
                            // default it does not choose so, or nobody uses it any more
  Choice (*choose)(const Case& asked);
  bool knows_nodes = false;    // whether its choice depends on where ranks are
  bool is_historical = false;  // nobody uses it any more: it is there to be asked for by name
};

// What the library takes for a call by itself, in seconds. None if the catalogue has nothing that sends the same
// messages, if parts of the communicator run steps by themselves, or no rank knows the size of the call.
std::optional<double> price(const Choice& choice, Prices& prices);

// The price of the library's own functions, for Selector::set_model. Empty for null.
NativePrice native_price(const Library* library);

// Whether an environment variable changes what an MPI library chooses.
bool changes_choices(std::string_view variable);
// The name of one that does, of an environment; empty: there is none.
std::string_view changing_choices(const char* const* environment);

std::span<const Library* const> libraries();
// That of a name and version as in reports and tables, such as "Open MPI v4.1.4". Null: it is not known.
const Library* library_of(std::string_view mpi);

// What our own choices are called on the command line.
inline constexpr std::string_view own_policy = "quadrille";
// Those that there are, for a person.
std::string policy_names();
// The library whose choices have that name; null for our own. Throws std::invalid_argument that names the known ones.
const Library* library_with_policy(std::string_view policy);

}  // namespace quadrille::knowledge
