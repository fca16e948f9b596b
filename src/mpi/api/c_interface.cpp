#include <quadrille/quadrille.h>

#include <exception>
#include <new>
#include <quadrille/communicator.hpp>
#include <quadrille/error.hpp>
#include <quadrille/reordered.hpp>
#include <string>
#include <vector>

#include "api/exposed.hpp"
#include "api/handle.hpp"
#include "api/parameters.hpp"
#include "engine/process.hpp"

using namespace quadrille;  // NOLINT(google-global-names-in-headers): no header

struct quadrille_comm_s {
  std::shared_ptr<engine::Context> context;
};

struct quadrille_window_s {
  detail::Exposed exposed;
  std::string transport;  // in words, once they were asked for
};

struct quadrille_request_s {
  detail::Handle handle;
  bool persistent = false;
};

namespace {

using api::blocks;
using detail::data_call;
using detail::Exposed;
using detail::reduction_call;
using Parameter = api::ParameterTypes<MPI_Count, MPI_Aint>;

thread_local std::string last_error;

// No exception leaves through C.
template <class Work>
int guarded(Work&& work) noexcept {
  int code = MPI_ERR_INTERN;
  try {
    work();
    return MPI_SUCCESS;
  } catch (const Error& error) {
    code = error.code();
    last_error = error.what();
  } catch (const std::bad_alloc&) {
    code = MPI_ERR_NO_MEM;
    last_error = "out of memory";
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "a reduction's function or a callback threw something that is not a std::exception";
  }
  return code;
}

template <class Pointer>
void require(const Pointer& pointer, int code, const char* what) {
  if (!pointer) throw Error(code, what);
}

void require(quadrille_comm comm) {
  require(comm, MPI_ERR_COMM, "the communicator is NULL: make one with quadrille_comm_create");
}

void require(quadrille_window window) {
  require(window, MPI_ERR_WIN, "the window is NULL: make one with quadrille_window_allocate");
}

Options options_of(const quadrille_options* options) {
  if (!options) return {};
  return {options->algorithm ? options->algorithm : "", options->fixed_order != 0, options->memory};
}

int run(quadrille_comm comm, const detail::Call& call, const quadrille_options* options) {
  return guarded([&] {
    require(comm);
    api::run(*comm->context, call, options_of(options));
  });
}

// The arguments of an exchange in place, as C passes them: arrays without their lengths.
struct InPlaceArguments {
  void* buffer;
  const MPI_Count* send_counts;
  const MPI_Aint* send_at;
  const MPI_Count* receive_counts;
  const MPI_Aint* receive_at;
  MPI_Datatype type;
};

detail::Handle handle(quadrille_comm comm, const InPlaceArguments& arguments, const Options& options) {
  static_assert(sizeof(MPI_Count) == sizeof(std::int64_t) && sizeof(MPI_Aint) == sizeof(std::int64_t));
  const auto numbers = [&](const void* array) -> std::span<const std::int64_t> {
    if (!array) return {};
    return {static_cast<const std::int64_t*>(array), static_cast<std::size_t>(comm->context->ranks())};
  };
  const detail::InPlaceExchange exchange{.send = {numbers(arguments.send_counts), numbers(arguments.send_at)},
                                         .receive = {numbers(arguments.receive_counts), numbers(arguments.receive_at)},
                                         .arrays = {{arguments.buffer, 0}},
                                         .type = arguments.type};
  return api::handle(comm->context, exchange, options, std::make_shared<ExchangeResult>());
}

detail::Handle handle(quadrille_comm comm, const detail::Call& call, const Options& options) {
  return api::handle(comm->context, call, options);
}

int run(quadrille_comm comm, const InPlaceArguments& arguments, const quadrille_options* options) {
  return guarded([&] {
    require(comm);
    detail::Handle exchange = handle(comm, arguments, options_of(options));
    exchange.start();
    exchange.wait();
  });
}

detail::Handle handle(quadrille_window window, const Exposed::Call& call, const Options& options) {
  return window->exposed.prepare(call, options);
}

int run(quadrille_window window, const Exposed::Call& call, const quadrille_options* options) {
  return guarded([&] {
    require(window);
    window->exposed.run(call, options_of(options));
  });
}

template <class On, class What>
int make(On on, const What& what, const quadrille_options* options, quadrille_request* request, bool persistent) {
  return guarded([&] {
    require(on);
    require(request, MPI_ERR_ARG, "there is no place for the request: it is NULL");
    auto made =
        std::make_unique<quadrille_request_s>(quadrille_request_s{handle(on, what, options_of(options)), persistent});
    if (!persistent) made->handle.start();
    *request = made.release();
  });
}

// Lets a request advance: `advance` says whether it is complete. Frees it then, as MPI does, or if its collective has
// failed, and sets `done`; not for an error of another one, or of a callback.
template <class Advance>
void advance_and_free(quadrille_request* request, int& done, const Advance& advance) {
  const auto end = [&] {
    done = 1;
    if ((*request)->persistent) return;
    delete *request;
    *request = nullptr;
  };
  try {
    if (advance()) end();
  } catch (...) {
    if ((*request)->handle.failed()) end();
    throw;
  }
}

// Null: memory of its own.
int expose(void* memory, MPI_Count bytes, quadrille_comm comm, quadrille_window* window) {
  return guarded([&] {
    require(comm);
    require(window, MPI_ERR_ARG, "there is no place for the window: it is NULL");
    *window = new quadrille_window_s{{comm->context, memory, bytes}, {}};
  });
}

}  // namespace

extern "C" {

int quadrille_comm_create(MPI_Comm parent, quadrille_comm* comm) {
  return guarded([&] {
    require(comm, MPI_ERR_ARG, "there is no place for the communicator: it is NULL");
    *comm = new quadrille_comm_s{api::context_of(parent)};
  });
}

int quadrille_comm_free(quadrille_comm* comm) {
  return guarded([&] {
    require(comm && *comm, MPI_ERR_COMM, "the communicator is NULL");
    delete *comm;
    *comm = nullptr;
  });
}

int quadrille_comm_rank(quadrille_comm comm, int* rank) {
  return guarded([&] {
    require(comm && rank, MPI_ERR_ARG, "the communicator or the place for the rank is NULL");
    *rank = comm->context->rank();
  });
}

int quadrille_comm_size(quadrille_comm comm, int* size) {
  return guarded([&] {
    require(comm && size, MPI_ERR_ARG, "the communicator or the place for the size is NULL");
    *size = comm->context->ranks();
  });
}

int quadrille_reordered(MPI_Comm comm, int neighbours, const int ranks[], const MPI_Count bytes[],
                        MPI_Comm* reordered) {
  constexpr std::int64_t usual = 64 << 10;  // where the time of a message is that of its bytes
  return guarded([&] {
    require(reordered, MPI_ERR_ARG, "the place for the communicator is NULL");
    std::vector<Neighbour> sends_to;
    for (int i = 0; i < neighbours; ++i) sends_to.push_back({ranks[i], bytes ? bytes[i] : usual});
    *reordered = quadrille::reordered(comm, sends_to);
  });
}

int quadrille_window_allocate(MPI_Count bytes, quadrille_comm comm, void** memory, quadrille_window* window) {
  if (!memory) return guarded([] { throw Error(MPI_ERR_ARG, "there is no place for the memory's address"); });
  const int code = expose(nullptr, bytes, comm, window);
  if (code == MPI_SUCCESS) *memory = (*window)->exposed.memory();
  return code;
}

int quadrille_window_create(void* memory, MPI_Count bytes, quadrille_comm comm, quadrille_window* window) {
  // Of no bytes the address may be null, which must not mean memory of its own.
  static std::byte nothing;
  return expose(memory ? memory : &nothing, bytes, comm, window);
}

int quadrille_window_free(quadrille_window* window) {
  return guarded([&] {
    require(window && *window, MPI_ERR_WIN, "the window is NULL");
    delete *window;
    *window = nullptr;
  });
}

int quadrille_window_one_sided(quadrille_window window, int* one_sided) {
  return guarded([&] {
    require(window && one_sided, MPI_ERR_ARG, "the window or the place for the answer is NULL");
    *one_sided = window->exposed.one_sided() ? 1 : 0;
  });
}

const char* quadrille_window_transport(quadrille_window window) {
  const char* text = nullptr;
  guarded([&] {
    require(window);
    if (window->transport.empty()) window->transport = window->exposed.transport();
    text = window->transport.c_str();
  });
  return text;
}

int quadrille_start(quadrille_request request) {
  return guarded([&] {
    require(request, MPI_ERR_REQUEST, "the request is NULL");
    if (!request->persistent) throw Error(MPI_ERR_REQUEST, "only a request made by ..._init can be started");
    request->handle.start();
  });
}

int quadrille_test(quadrille_request* request, int* done) {
  return guarded([&] {
    require(request && done, MPI_ERR_ARG, "the request's or the answer's address is NULL");
    *done = *request ? 0 : 1;
    if (*request) advance_and_free(request, *done, [&] { return (*request)->handle.test(); });
  });
}

int quadrille_wait(quadrille_request* request) {
  return guarded([&] {
    require(request, MPI_ERR_ARG, "the request's address is NULL");
    if (!*request) return;
    int done = 0;
    advance_and_free(request, done, [&] {
      (*request)->handle.wait();
      return true;
    });
  });
}

int quadrille_request_free(quadrille_request* request) {
  return guarded([&] {
    require(request && *request, MPI_ERR_REQUEST, "the request is NULL");
    delete *request;
    *request = nullptr;
  });
}

int quadrille_then(quadrille_request request, void (*function)(void* data), void* data) {
  return guarded([&] {
    require(request && function, MPI_ERR_ARG, "the request or the function is NULL");
    request->handle.set_callback([function, data] { function(data); }, !request->persistent);
  });
}

int quadrille_then_start(quadrille_request request, quadrille_request next) {
  return guarded([&] {
    require(request && next, MPI_ERR_REQUEST, "a request is NULL");
    if (!next->persistent) throw Error(MPI_ERR_REQUEST, "only a request made by ..._init can follow another");
    if (request->persistent) {
      next->handle.declare_after(request->handle);
    } else {
      next->handle.start_after(request->handle);
    }
  });
}

const char* quadrille_error_text(void) {
  return last_error.c_str();
}

MPI_Count quadrille_peak_bytes(void) {
  MPI_Count peak = 0;
  guarded([&] { peak = Communicator::peak_bytes(); });
  return peak;
}

// NOLINTBEGIN(readability-function-size): MPI's parameters are as many as they are.
// The three forms of a collective, by what its parameters describe; `on` is the communicator or the window.
#define QUADRILLE_FORMS(blocking, nonblocking, persistent, parameters, described, on)                             \
  int quadrille_##blocking(QUADRILLE_DECLARED(parameters) quadrille_##on on, const quadrille_options* options) {  \
    return run(on, described, options);                                                                           \
  }                                                                                                               \
  int quadrille_##nonblocking(QUADRILLE_DECLARED(parameters) quadrille_##on on, const quadrille_options* options, \
                              quadrille_request* request) {                                                       \
    return make(on, described, options, request, false);                                                          \
  }                                                                                                               \
  int quadrille_##persistent(QUADRILLE_DECLARED(parameters) quadrille_##on on, const quadrille_options* options,  \
                             quadrille_request* request) {                                                        \
    return make(on, described, options, request, true);                                                           \
  }
#define QUADRILLE_EXTENSION(name, parameters, described) \
  QUADRILLE_FORMS(name, i##name, name##_init, parameters, described, comm)
#define QUADRILLE_COLLECTIVE(mpi_name, name, parameters, call) QUADRILLE_EXTENSION(name, parameters, call)
#define QUADRILLE_WINDOW(name, parameters, call) \
  QUADRILLE_FORMS(window_##name, window_i##name, window_##name##_init, parameters, call, window)
#include "api/collectives.def"
// NOLINTEND(readability-function-size)

// What the Fortran module calls: handles of MPI are integers there.

int quadrille_fortran_comm_create(MPI_Fint parent, quadrille_comm* comm) {
  return quadrille_comm_create(MPI_Comm_f2c(parent), comm);
}

int quadrille_fortran_alltoall_in_place(void* buffer, MPI_Count count, MPI_Fint type, quadrille_comm comm,
                                        MPI_Count memory) {
  quadrille_options options{};
  options.memory = memory;
  if (!buffer) {
    return guarded([] { throw Error(MPI_ERR_BUFFER, "alltoall: the buffer is a section with gaps: pass all of it"); });
  }
  return quadrille_alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, count, MPI_Type_f2c(type), comm, &options);
}

// NOLINTNEXTLINE(readability-function-size): MPI's own arguments
int quadrille_fortran_alltoallv_in_place(void* buffer, const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                         const MPI_Count recvcounts[], const MPI_Aint recvdispls[], MPI_Fint type,
                                         quadrille_comm comm, MPI_Count memory, quadrille_request* request,
                                         int persistent) {
  quadrille_options options{};
  options.memory = memory;
  // Of a section with gaps there is no address, whatever the type adds to it.
  MPI_Datatype element = buffer ? MPI_Type_f2c(type) : MPI_BYTE;
  const InPlaceArguments arguments{buffer, sendcounts, senddispls, recvcounts, recvdispls, element};
  return request ? make(comm, arguments, &options, request, persistent != 0) : run(comm, arguments, &options);
}

}  // extern "C"
