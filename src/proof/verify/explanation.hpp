#pragma once

#include <string>
#include <vector>

#include "verify/provenance.hpp"
#include "verify/subject.hpp"

namespace quadrille::verify {

// Why a range of a reduction's result is not the whole reduction: what it is, and what is missing, too much or in the
// wrong order.
std::string why_incomplete(const Expressions& expressions, const Subject& subject, const Meaning& meaning,
                           const Held& piece);

// How the result of a rank differs from that of another rank, both of them complete.
std::string why_different(const Expressions& expressions, const std::vector<Held>& held, Rank other,
                          const std::vector<Held>& held_by_other);

// Where the data in a range comes from, and where it should.
std::string why_moved_wrongly(const Expressions& expressions, const Meaning& meaning, const Held& piece);

}  // namespace quadrille::verify
