#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "cost/model.hpp"
#include "select/case.hpp"
#include "select/decision.hpp"
#include "select/guide.hpp"
#include "select/prices.hpp"
#include "select/requirements.hpp"

namespace quadrille {

class Topology;

// What users set for all calls, the same on every rank. Plain bytes.
struct Preferences {
  std::int64_t memory = 0;      // QUADRILLE_MEMORY: bytes a rank, on each communicator; 0: no limit
  std::int64_t part = 1 << 30;  // QUADRILLE_PART: longer messages travel in parts of so many bytes
  // Over TCP Open MPI sends 64 KiB at once, headers included; longer messages wait for an answer first.
  std::int64_t segment = 32768;  // QUADRILLE_SEGMENT: bytes of a segment, for algorithms that pipeline
  std::array<Variant, collectives> variants = {};  // QUADRILLE_ALGORITHM

  const Variant& variant(Collective collective) const { return variants[static_cast<std::size_t>(collective)]; }
};

// What one call asks for, the same on every rank.
struct Request {
  // Whether the MPI's own function may run the call, and when: never; where no variant keeps to the memory limit; or
  // also where neither a rule of the tuning table nor the price says that one of ours is faster.
  enum class Native : std::uint8_t { never, without_memory, unless_faster };

  Variant variant = {};  // none: any
  Native native = Native::never;

  friend bool operator==(const Request&, const Request&) = default;
};

// Decides how the calls on one communicator are run. It looks at nothing but the case and what was agreed when the
// communicator was first seen, so that every rank decides alike, without a message.
class Selector {
 public:
  Selector() = default;
  // The topology of the ground must outlive it.
  Selector(const Preferences& preferences, std::span<const PlacedRule> rules, Rank ranks,
           const Requirements::Ground& ground);

  const Placement& placement() const { return placement_; }
  const Preferences& preferences() const { return preferences_; }
  const Guide& guide() const { return guide_; }

  // From now on prices decide where there is no better reason, instead of rules of thumb.
  // `native` prices the MPI's own functions; empty: they are taken for the best that all MPIs have.
  void set_model(const cost::Model& model, NativePrice native = {});

  // Null where no model is set.
  Prices* prices() const { return prices_.get(); }

  // Not thread-safe: what prices depend on is counted once.
  Decision decide(const Case& asked, const Request& request) const;

  // What its variants need.
  const Requirements& requirements() const { return requirements_; }

 private:
  bool consider(Variant variant, Reason reason, const Case& asked, Decision& decision) const;
  void settle(Decision& decision, Variant variant, const Reason& reason, const Case& asked) const;
  bool can_price(const Case& asked) const;
  bool decide_by_price(const Case& asked, Decision& decision) const;
  Decision decide_against_native(const Case& asked, const Rule* rule) const;

  Preferences preferences_;
  Guide guide_;
  Placement placement_;
  Requirements requirements_;
  std::shared_ptr<Prices> prices_;
};

}  // namespace quadrille
