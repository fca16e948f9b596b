#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <quadrille/detail/call.hpp>
#include <string_view>

#include "algorithms/catalogue.hpp"
#include "engine/context.hpp"

namespace quadrille::api {

// Makes the request when the case is known.
class Chooser {
 public:
  virtual ~Chooser() = default;
  // Empty: the MPI's own function is to run the call.
  virtual std::optional<Request> choose(const Case& asked) = 0;
};

// What a call asks for besides its arguments, the same on every rank.
struct CallOptions {
  Request request = {};
  Chooser* chooser = nullptr;  // of the request, if it is not known yet
  Form form = Form::blocking;
  bool fixed_order = false;  // of a reduction: folded from rank 0 up, left to right
  std::int64_t memory = 0;   // bytes a rank; 0: no limit but the communicator's
};

// What the call keeps beyond its start: types and operations that the user may free. A blocking call need not.
enum class Handles : std::uint8_t { borrowed, kept };

// A call made ready: a task that is bound and can be started, or, on all ranks, the MPI's own function is to run it.
struct Prepared {
  std::unique_ptr<engine::Task> task;
  Reason::Kind why_native = Reason::Kind::usual;  // where there is no task
  bool memorable = false;  // calls with the same arguments are the same case, and have the same answer to a request
};

// Throws Error for arguments that can't be used; what all ranks must pass alike is refused on all of them alike.
Prepared prepare(engine::Context& context, const detail::Call& call, const CallOptions& options, Handles handles);

// The variant of that name; none if the name is empty. Throws Error where there is none, with the names there are.
Variant named(Collective collective, std::string_view name);

}  // namespace quadrille::api
