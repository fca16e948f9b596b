#include "bench/surveyed.hpp"

#include <algorithm>
#include <array>
#include <quadrille/quadrille.hpp>
#include <string_view>
#include <vector>

#include "api/handle.hpp"
#include "engine/context.hpp"
#include "engine/places.hpp"
#include "machine/host.hpp"
#include "machine/parts.hpp"

namespace quadrille::bench {

namespace {

template <std::size_t length>
void put(std::string_view text, std::array<char, length>& into) {
  std::copy_n(text.begin(), std::min(text.size(), length - 1), into.begin());
}

survey::Site own_site(const machine::Parts& parts) {
  const quadrille::Place place = engine::own_place();
  survey::Site site;
  site.node = place.node;
  site.rack = place.rack;
  put(machine::host_name(), site.host);
  put(engine::own_rack(), site.rack_name);
  site.position = parts.position(machine::own_processors());
  return site;
}

}  // namespace

std::vector<survey::Site> sites_of(MPI_Comm comm) {
  // First: if a rank can't read the racks, all ranks hear of it here.
  api::context_of(comm);
  Communicator all(comm);
  const survey::Site mine = own_site(machine::Parts());
  std::vector<survey::Site> sites(static_cast<std::size_t>(all.size()));
  all.allgather(&mine, sizeof mine, MPI_BYTE, sites.data(), sizeof mine, MPI_BYTE);
  return sites;
}

survey::Survey surveyed(MPI_Comm comm) {
  survey::Survey survey = survey::survey_of(sites_of(comm));
  survey.parts_known = machine::Parts().known();
  const auto context = api::context_of(comm);
  if (context->ranks() > 1) survey.shared_memory = context->shares_memory();
  return survey;
}

}  // namespace quadrille::bench
