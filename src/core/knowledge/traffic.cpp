#include "knowledge/traffic.hpp"

namespace quadrille::knowledge {

std::map<Rank, Traffic> sent_by(const Schedule& schedule, std::int64_t unit_bytes, const UnitsOf& units_of) {
  std::map<Rank, Traffic> sent;
  for (const Operation& operation : schedule.operations) {
    if (operation.kind != Kind::send) continue;
    const std::int64_t times =
        operation.loop < 0 ? 1 : schedule.loops[static_cast<std::size_t>(operation.loop)].iterations;
    std::int64_t units = 0;
    for (const Region& region : schedule.regions_of(operation)) {
      units += region.length == whole ? units_of(region) : region.length;
    }
    // A message of no data is not sent, unless it is a signal.
    if (units == 0 && operation.regions > 0) continue;
    Traffic& to = sent[operation.peer];
    to.messages += times;
    to.bytes += times * units * unit_bytes;
  }
  return sent;
}

}  // namespace quadrille::knowledge
