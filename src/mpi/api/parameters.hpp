#pragma once

#include <mpi.h>

#include <quadrille/detail/call.hpp>

// What the functions are made with that come from api/collectives.def.
namespace quadrille::api {

// The types that parameters have there, for counts of one width. Displacements in bytes are alltoallw's, which MPI
// makes wider than others among neighbours.
template <class CountType, class DisplacementType, class ByteDisplacementType = DisplacementType>
struct ParameterTypes {
  using Input = const void*;
  using Output = void*;
  using Count = CountType;
  using Counts = const CountType*;
  using Displacements = const DisplacementType*;
  using ByteDisplacements = const ByteDisplacementType*;
  using Type = MPI_Datatype;
  using Types = const MPI_Datatype*;
  using Op = MPI_Op;
  using Root = int;
  using Offset = MPI_Aint;
};

// One side of a collective with blocks of different lengths.
template <class Count, class Displacement>
detail::UserBuffer blocks(const void* address, const Count* counts, const Displacement* displacements,
                          MPI_Datatype type) {
  return {.address = address, .type = type, .counts = counts, .displacements = displacements};
}
template <class Count, class Displacement>
detail::UserBuffer blocks(const void* address, const Count* counts, const Displacement* displacements,
                          const MPI_Datatype* types) {
  return {.address = address, .counts = counts, .displacements = displacements, .types = types};
}

}  // namespace quadrille::api

// A list of parameters as a function declares them, with the types of `Parameter` where it stands, and as it passes
// them on. Both end in a comma: a communicator follows.
#define QUADRILLE_DECLARED(parameters) QUADRILLE_EACH(QUADRILLE_DECLARED_ONE, parameters)
#define QUADRILLE_PASSED(parameters) QUADRILLE_EACH(QUADRILLE_PASSED_ONE, parameters)
#define QUADRILLE_DECLARED_ONE(type, name) Parameter::type name,
#define QUADRILLE_PASSED_ONE(type, name) name,

// macro(type, name) for each parameter of a list, of which there are at most 9. A macro doesn't expand inside itself:
// each pass leaves the name of the next step, which the pass after it expands.
#define QUADRILLE_EACH(macro, parameters) QUADRILLE_EACH_OF(macro, QUADRILLE_UNWRAPPED parameters)
#define QUADRILLE_UNWRAPPED(...) __VA_ARGS__
#define QUADRILLE_EACH_OF(macro, ...) __VA_OPT__(QUADRILLE_PASSES(QUADRILLE_EACH_STEP(macro, __VA_ARGS__)))
#define QUADRILLE_EACH_STEP(macro, first, ...) \
  macro first __VA_OPT__(QUADRILLE_EACH_NEXT QUADRILLE_PARENTHESES(macro, __VA_ARGS__))
#define QUADRILLE_EACH_NEXT() QUADRILLE_EACH_STEP
#define QUADRILLE_PARENTHESES ()
#define QUADRILLE_PASSES(...) QUADRILLE_PASSES_3(QUADRILLE_PASSES_3(QUADRILLE_PASSES_3(__VA_ARGS__)))
#define QUADRILLE_PASSES_3(...) QUADRILLE_PASS_1(QUADRILLE_PASS_1(QUADRILLE_PASS_1(__VA_ARGS__)))
#define QUADRILLE_PASS_1(...) __VA_ARGS__
