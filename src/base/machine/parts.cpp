#include "machine/parts.hpp"

#include <sched.h>

#ifdef QUADRILLE_HWLOC
#include <hwloc.h>
#endif

namespace quadrille::machine {

std::vector<int> own_processors() {
  std::vector<int> processors;
  // The kernel rejects sets that are too small for the machine.
  for (int most = CPU_SETSIZE; most <= CPU_SETSIZE << 8; most *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most), [](cpu_set_t* one) { CPU_FREE(one); });
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(0, bytes, set.get()) != 0) continue;
    for (int processor = 0; processor < most; ++processor) {
      if (CPU_ISSET_S(static_cast<std::size_t>(processor), bytes, set.get())) processors.push_back(processor);
    }
    break;
  }
  return processors;
}

#ifdef QUADRILLE_HWLOC

namespace {

hwloc_obj_type_t type_of(Part part) {
  constexpr std::array<hwloc_obj_type_t, all_parts.size()> types = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE,
                                                                    HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE};
  return types[static_cast<std::size_t>(part)];
}

struct FreeSet {
  void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};
using Set = std::unique_ptr<hwloc_bitmap_s, FreeSet>;

Position position_of(hwloc_topology* topology, hwloc_const_bitmap_t set) {
  Position position;
  if (hwloc_bitmap_iszero(set)) return position;
  for (const Part part : all_parts) {
    for (hwloc_obj_t one = nullptr; (one = hwloc_get_next_obj_by_type(topology, type_of(part), one)) != nullptr;) {
      if (!hwloc_bitmap_isincluded(set, one->cpuset)) continue;
      position[part] = static_cast<std::int32_t>(one->logical_index);
      break;
    }
  }
  return position;
}

}  // namespace

Parts::Parts() {
  hwloc_topology* read = nullptr;
  if (hwloc_topology_init(&read) != 0) return;
  topology_.reset(read);
  if (hwloc_topology_load(read) != 0) topology_.reset();
}

void Parts::Close::operator()(hwloc_topology* topology) const {
  hwloc_topology_destroy(topology);
}

int Parts::count(Part part) const {
  return known() ? hwloc_get_nbobjs_by_type(topology_.get(), type_of(part)) : 0;
}

Position Parts::position(std::span<const int> processors) const {
  if (!known()) return {};
  const Set set(hwloc_bitmap_alloc());
  for (const int processor : processors) hwloc_bitmap_set(set.get(), static_cast<unsigned>(processor));
  hwloc_bitmap_and(set.get(), set.get(), hwloc_topology_get_topology_cpuset(topology_.get()));
  return position_of(topology_.get(), set.get());
}

std::vector<Position> Parts::cores() const {
  std::vector<Position> cores;
  hwloc_obj_t core = nullptr;
  while (known() && (core = hwloc_get_next_obj_by_type(topology_.get(), HWLOC_OBJ_CORE, core)) != nullptr) {
    cores.push_back(position_of(topology_.get(), core->cpuset));
  }
  return cores;
}

#else

Parts::Parts() = default;

void Parts::Close::operator()(hwloc_topology*) const {}

int Parts::count(Part) const {
  return 0;
}

Position Parts::position(std::span<const int>) const {
  return {};
}

std::vector<Position> Parts::cores() const {
  return {};
}

#endif

}  // namespace quadrille::machine
