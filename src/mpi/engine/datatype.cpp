#include "engine/datatype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <quadrille/error.hpp>
#include <span>
#include <vector>

namespace quadrille::engine {

namespace {

using Integers = std::vector<std::int64_t>;

// MPI 3.0 removed these combiners, and no header has to name them any more.
#if defined(OPEN_MPI) && OMPI_OMIT_MPI1_COMPAT_DECLS
constexpr int hvector_integer = OMPI_WAS_MPI_COMBINER_HVECTOR_INTEGER;
constexpr int hindexed_integer = OMPI_WAS_MPI_COMBINER_HINDEXED_INTEGER;
constexpr int struct_integer = OMPI_WAS_MPI_COMBINER_STRUCT_INTEGER;
#elif defined(OPEN_MPI) || defined(MPICH)
constexpr int hvector_integer = MPI_COMBINER_HVECTOR_INTEGER;
constexpr int hindexed_integer = MPI_COMBINER_HINDEXED_INTEGER;
constexpr int struct_integer = MPI_COMBINER_STRUCT_INTEGER;
#else
constexpr int hvector_integer = -1;
constexpr int hindexed_integer = -2;
constexpr int struct_integer = -3;
#endif

// Types made by calls with large counts can be read by the large calls alone, and these read all others as well.
#if MPI_VERSION >= 4
using Number = MPI_Count;
#else
using Number = int;
#endif

// How many of each the contents hold. `counts` are those of large calls.
struct Envelope {
  Number integers = 0;
  Number addresses = 0;
  Number counts = 0;
  Number types = 0;
  int combiner = 0;
};

// Returns MPI's error code.
int read_envelope(MPI_Datatype type, Envelope& envelope) {
  auto& [integers, addresses, counts, types, combiner] = envelope;
#if MPI_VERSION >= 4
  return PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner);
#else
  static_cast<void>(counts);
  return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
#endif
}

// The types that MPI_Type_create_f90_* return have no name, but they may not be freed either.
bool of_predefined(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
      return true;
    default:
      return false;
  }
}

// The handles that a type's contents returned: one reference each, to be given back unless it is predefined.
class Handles {
 public:
  explicit Handles(Number count) : handles_(static_cast<std::size_t>(count), MPI_DATATYPE_NULL) {}
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  ~Handles() {
    for (MPI_Datatype& handle : handles_) {
      Envelope envelope;
      if (handle == MPI_DATATYPE_NULL || read_envelope(handle, envelope) != MPI_SUCCESS) continue;
      if (!of_predefined(envelope.combiner)) PMPI_Type_free(&handle);
    }
  }

  MPI_Datatype* data() { return handles_.data(); }
  std::span<const MPI_Datatype> all() const { return handles_; }

 private:
  std::vector<MPI_Datatype> handles_;
};

// Fills in `handles` and returns the numbers that made the type, in the order that the constructor of MPI 3 takes them.
// That is integers before addresses. Large calls have counts in place of both, but keep some integers for arrays.
Integers read_contents(MPI_Datatype type, const Envelope& envelope, Handles& handles) {
  std::vector<int> integers(static_cast<std::size_t>(envelope.integers));
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(envelope.addresses));
#if MPI_VERSION >= 4
  std::vector<MPI_Count> counts(static_cast<std::size_t>(envelope.counts));
  check(PMPI_Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.counts, envelope.types,
                                 integers.data(), addresses.data(), counts.data(), handles.data()),
        "MPI_Type_get_contents");
#else
  check(PMPI_Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types, integers.data(),
                               addresses.data(), handles.data()),
        "MPI_Type_get_contents");
#endif
  Integers numbers;
  numbers.reserve(integers.size() + addresses.size() + static_cast<std::size_t>(envelope.counts));
  numbers.assign(integers.begin(), integers.end());
  numbers.insert(numbers.end(), addresses.begin(), addresses.end());
#if MPI_VERSION >= 4
  // A subarray starts with its dimensions, a distributed array with size, rank and dimensions.
  const std::ptrdiff_t before = envelope.combiner == MPI_COMBINER_SUBARRAY ? 1
                                : envelope.combiner == MPI_COMBINER_DARRAY ? 3
                                                                           : std::ssize(numbers);
  numbers.insert(numbers.begin() + before, counts.begin(), counts.end());
#endif
  return numbers;
}

std::int64_t size_of(MPI_Datatype type) {
  int size = 0;
  check(PMPI_Type_size(type, &size), "MPI_Type_size");
  return size;
}

Layout with_bounds_of(MPI_Datatype type, const Layout& layout) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  check(PMPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
  return layout.resized(lower, extent);
}

Layout pair_of(MPI_Datatype pair, MPI_Datatype first, MPI_Datatype second) {
  const std::int64_t first_size = size_of(first);
  const std::int64_t second_size = size_of(second);
  // The second member is an int or like the first, so it is aligned to its own size.
  const std::int64_t displacement = (first_size + second_size - 1) / second_size * second_size;
  const std::array<Layout::Field, 2> fields = {Layout::Field{0, 1, Layout::basic(first_size)},
                                               Layout::Field{displacement, 1, Layout::basic(second_size)}};
  return with_bounds_of(pair, Layout::structure(fields));
}

struct Known {
  MPI_Datatype type;
  Layout layout;
};

std::vector<Known> make_known() {
  std::vector<Known> known;
  for (MPI_Datatype type : {MPI_DOUBLE, MPI_BYTE, MPI_INT, MPI_FLOAT, MPI_CHAR, MPI_INT64_T, MPI_UINT64_T, MPI_LONG}) {
    known.push_back({type, Layout::basic(size_of(type))});
  }
  const std::array<MPI_Datatype, 3> pairs[] = {
      {MPI_2INT, MPI_INT, MPI_INT},
      {MPI_SHORT_INT, MPI_SHORT, MPI_INT},
      {MPI_LONG_INT, MPI_LONG, MPI_INT},
      {MPI_FLOAT_INT, MPI_FLOAT, MPI_INT},
      {MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT},
      {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT},
      {MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER},
      {MPI_2REAL, MPI_REAL, MPI_REAL},
      {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION},
#ifdef MPI_2COMPLEX
      {MPI_2COMPLEX, MPI_COMPLEX, MPI_COMPLEX},
#endif
#ifdef MPI_2DOUBLE_COMPLEX
      {MPI_2DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX},
#endif
  };
  for (const auto& [pair, first, second] : pairs) {
    // Without Fortran its types are null, or empty.
    if (pair != MPI_DATATYPE_NULL && size_of(pair) > 0) known.push_back({pair, pair_of(pair, first, second)});
  }
  return known;
}

// The layout of a pair, which is no basic element, or of one of the basic types that most calls of most programs have:
// comparing handles is cheaper than asking MPI. Else null.
const Layout* find_known(MPI_Datatype type) {
  static const auto& all = *new std::vector<Known>(make_known());  // programs may call MPI after main
  for (const Known& known : all) {
    if (known.type == type) return &known.layout;
  }
  return nullptr;
}

Layout structure(std::span<const std::int64_t> numbers, std::span<const MPI_Datatype> types) {
  const std::size_t count = types.size();
  const auto lengths = numbers.subspan(1, count);
  const auto displacements = numbers.subspan(1 + count, count);
  std::vector<Layout::Field> fields;
  fields.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool same = i > 0 && types[i] == types[i - 1];
    fields.push_back({displacements[i], lengths[i], same ? fields.back().layout : layout_of(types[i])});
  }
  return Layout::structure(fields);
}

// Displacements count in `unit` bytes.
Layout indexed(std::span<const std::int64_t> lengths, std::span<const std::int64_t> displacements, std::int64_t unit,
               const Layout& element) {
  if (unit == 1) return Layout::indexed(lengths, displacements, element);
  Integers bytes(displacements.begin(), displacements.end());
  for (std::int64_t& displacement : bytes) displacement *= unit;
  return Layout::indexed(lengths, bytes, element);
}

Layout indexed(std::span<const std::int64_t> numbers, std::int64_t unit, const Layout& element) {
  const auto count = static_cast<std::size_t>(numbers[0]);
  return indexed(numbers.subspan(1, count), numbers.subspan(1 + count, count), unit, element);
}

Layout indexed_block(std::span<const std::int64_t> numbers, std::int64_t unit, const Layout& element) {
  const Integers lengths(static_cast<std::size_t>(numbers[0]), numbers[1]);
  return indexed(lengths, numbers.subspan(2, lengths.size()), unit, element);
}

// What a type picks of one dimension of an array: `blocks` times `block` indices, every `period`, from `first` on; then
// one more, shorter block.
struct Dimension {
  std::int64_t size;
  std::int64_t first;
  std::int64_t block;
  std::int64_t period;
  std::int64_t blocks;
  std::int64_t rest;
};

Layout array(std::span<const Dimension> dimensions, bool last_is_fastest, const Layout& element) {
  Layout layout = element;
  std::int64_t stride = element.extent();
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto& [size, first, block, period, blocks, rest] =
        dimensions[last_is_fastest ? dimensions.size() - 1 - i : i];
    const Layout slice = layout.resized(0, stride);
    const std::array<Layout::Field, 2> parts = {
        Layout::Field{first * stride, 1, Layout::strided(blocks, block, period * stride, slice)},
        Layout::Field{(first + blocks * period) * stride, rest, slice}};
    layout = Layout::structure(parts);
    stride *= size;
  }
  return layout;
}

Layout subarray(std::span<const std::int64_t> numbers, const Layout& element) {
  const auto count = static_cast<std::size_t>(numbers[0]);
  const auto sizes = numbers.subspan(1, count);
  const auto subsizes = numbers.subspan(1 + count, count);
  const auto starts = numbers.subspan(1 + 2 * count, count);
  const std::int64_t order = numbers[1 + 3 * count];
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < count; ++i) dimensions.push_back({sizes[i], starts[i], subsizes[i], subsizes[i], 1, 0});
  return array(dimensions, order == MPI_ORDER_C, element);
}

// Block and none are cyclic with a single round.
Dimension distributed(std::int64_t size, std::int64_t distribution, std::int64_t argument, std::int64_t processes,
                      std::int64_t coordinate) {
  std::int64_t block = argument;
  if (distribution == MPI_DISTRIBUTE_NONE) {
    block = size;
  } else if (argument == MPI_DISTRIBUTE_DFLT_DARG) {
    block = distribution == MPI_DISTRIBUTE_CYCLIC ? 1 : (size + processes - 1) / processes;
  }
  block = std::max<std::int64_t>(block, 1);
  const std::int64_t first = coordinate * block;
  const std::int64_t period = processes * block;
  const std::int64_t blocks = size - first < block ? 0 : (size - first - block) / period + 1;
  const std::int64_t rest = std::clamp<std::int64_t>(size - first - blocks * period, 0, block);
  return {size, first, block, period, blocks, rest};
}

Layout darray(std::span<const std::int64_t> numbers, const Layout& element) {
  const auto count = static_cast<std::size_t>(numbers[2]);
  const auto sizes = numbers.subspan(3, count);
  const auto distributions = numbers.subspan(3 + count, count);
  const auto arguments = numbers.subspan(3 + 2 * count, count);
  const auto processes = numbers.subspan(3 + 3 * count, count);
  const std::int64_t order = numbers[3 + 4 * count];
  // The grid is row-major whatever the order of the array.
  std::int64_t rank = numbers[1];
  std::vector<Dimension> dimensions(count);
  for (std::size_t i = count; i-- > 0;) {
    dimensions[i] = distributed(sizes[i], distributions[i], arguments[i], processes[i], rank % processes[i]);
    rank /= processes[i];
  }
  return array(dimensions, order == MPI_ORDER_C, element);
}

Layout combine(int combiner, std::span<const std::int64_t> numbers, const Layout& element) {
  switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return element;
    case MPI_COMBINER_CONTIGUOUS:
      return Layout::contiguous(numbers[0], element);
    case MPI_COMBINER_VECTOR:
      return Layout::strided(numbers[0], numbers[1], numbers[2] * element.extent(), element);
    case MPI_COMBINER_HVECTOR:
    case hvector_integer:
      return Layout::strided(numbers[0], numbers[1], numbers[2], element);
    case MPI_COMBINER_INDEXED:
      return indexed(numbers, element.extent(), element);
    case MPI_COMBINER_HINDEXED:
    case hindexed_integer:
      return indexed(numbers, 1, element);
    case MPI_COMBINER_INDEXED_BLOCK:
      return indexed_block(numbers, element.extent(), element);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return indexed_block(numbers, 1, element);
    case MPI_COMBINER_SUBARRAY:
      return subarray(numbers, element);
    case MPI_COMBINER_DARRAY:
      return darray(numbers, element);
    default:
      throw Error(MPI_ERR_UNSUPPORTED_OPERATION,
                  fmt::format("a datatype of an unknown kind, combiner {}: newer than MPI 4.0?", combiner));
  }
}

}  // namespace

Layout layout_of(MPI_Datatype type) {
  if (const Layout* known = find_known(type)) return *known;
  if (type == MPI_DATATYPE_NULL) throw Error(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  Envelope envelope;
  check(read_envelope(type, envelope), "MPI_Type_get_envelope");
  if (of_predefined(envelope.combiner)) return Layout::basic(size_of(type));
  Handles handles(envelope.types);
  const Integers numbers = read_contents(type, envelope, handles);
  const auto types = handles.all();
  const bool is_structure = envelope.combiner == MPI_COMBINER_STRUCT || envelope.combiner == struct_integer;
  const Layout layout =
      is_structure ? structure(numbers, types) : combine(envelope.combiner, numbers, layout_of(types[0]));
  // MPI libraries differ in padding structures, and in what a resized field does to the bounds around it.
  return with_bounds_of(type, layout);
}

bool is_predefined(MPI_Datatype type) {
  Envelope envelope;
  check(read_envelope(type, envelope), "MPI_Type_get_envelope");
  return of_predefined(envelope.combiner);
}

}  // namespace quadrille::engine
