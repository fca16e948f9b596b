#include "interpose/dropin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <quadrille/error.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace quadrille::interpose {

namespace {

using engine::check;
using engine::Context;

}  // namespace

DropIn& DropIn::get() {
  static DropIn drop_in;
  return drop_in;
}

void DropIn::begin() {
  int rank = 0;
  check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  try {
    settings_ = engine::agreed_settings(MPI_COMM_WORLD);
  } catch (const Error& error) {
    if (rank == 0) fmt::print(stderr, "quadrille: {}; the drop-in stays out of the way\n", error.what());
    return;
  }
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key_, nullptr), "MPI_Comm_create_keyval");
  active_ = true;
}

void DropIn::end() {
  if (!active_) return;
  active_ = false;
  PMPI_Comm_free_keyval(&key_);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* path = std::getenv("QUADRILLE_STATISTICS");
  if (rank != 0 || !path) return;
  std::string served;
  std::string handed_down;
  const auto add = [](std::string& list, std::size_t collective, std::int64_t calls) {
    if (calls == 0) return;
    list += fmt::format("{}\"{}\":{}", list.empty() ? "" : ",", name(static_cast<Collective>(collective)), calls);
  };
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    add(served, i, counts_[i].served);
    add(handed_down, i, counts_[i].handed_down);
  }
  std::FILE* file = std::fopen(path, "a");
  if (!file) {
    fmt::print(stderr, "quadrille: can't write QUADRILLE_STATISTICS={}\n", path);
    return;
  }
  fmt::print(file, "{{\"served\":{{{}}},\"handed_down\":{{{}}}}}\n", served, handed_down);
  std::fclose(file);
}

void DropIn::count(Collective collective, bool served) {
  Count& of = counts_[static_cast<std::size_t>(collective)];
  ++(served ? of.served : of.handed_down);
}

int DropIn::forget(MPI_Comm, int, void* context, void*) {
  if (context) --get().served_communicators_;
  delete static_cast<Context*>(context);
  return MPI_SUCCESS;
}

// Ranks of another world may have been told something else. If one of them is in the communicator, every rank sees
// one that is not of its own world, so that all hand down.
bool DropIn::within_world(MPI_Comm comm) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  int size = 0;
  check(PMPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check(PMPI_Comm_group(comm, &group), "MPI_Comm_group");
  check(PMPI_Group_size(group, &size), "MPI_Group_size");
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> in_world(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  check(PMPI_Group_translate_ranks(group, size, ranks.data(), world, in_world.data()), "MPI_Group_translate_ranks");
  PMPI_Group_free(&world);
  PMPI_Group_free(&group);
  return std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) == in_world.end();
}

// The same on every rank: each serves a private communicator for so many of the user's, and MPICH has 2048 in all.
bool DropIn::can_serve(MPI_Comm comm) const {
  constexpr int most_communicators = 256;
  int inter = 0;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter || !within_world(comm)) return false;
  int room = served_communicators_ < most_communicators ? 1 : 0;
  check(PMPI_Allreduce(MPI_IN_PLACE, &room, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  return room != 0;
}

Context* DropIn::first_seen(MPI_Comm comm) {
  std::unique_ptr<Context> context;
  if (can_serve(comm)) {
    context = std::make_unique<Context>(comm, settings_);
    ++served_communicators_;
  }
  check(PMPI_Comm_set_attr(comm, key_, context.get()), "MPI_Comm_set_attr");
  return context.release();
}

Context* DropIn::context(Collective collective, MPI_Comm comm) {
  if (!active_ || !settings_.forced[static_cast<std::size_t>(collective)] || comm == MPI_COMM_NULL) return nullptr;
  void* known = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&known), &found) != MPI_SUCCESS) return nullptr;
  return found ? static_cast<Context*>(known) : first_seen(comm);
}

}  // namespace quadrille::interpose
