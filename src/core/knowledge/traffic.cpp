#include "knowledge/traffic.hpp"

namespace quadrille::knowledge {

std::map<Rank, Traffic> sent_by(const Schedule& schedule, std::int64_t unit_bytes) {
  const std::int64_t unit = schedule.unit == Unit::bytes ? 1 : unit_bytes;
  std::map<Rank, Traffic> sent;
  for (const Operation& operation : schedule.operations) {
    if (operation.kind != Kind::send) continue;
    const std::int64_t times =
        operation.loop < 0 ? 1 : schedule.loops[static_cast<std::size_t>(operation.loop)].iterations;
    std::int64_t units = 0;
    for (const Region& region : schedule.regions_of(operation)) units += region.length;
    Traffic& to = sent[operation.peer];
    to.messages += times;
    to.bytes += times * units * unit;
  }
  return sent;
}

}  // namespace quadrille::knowledge
