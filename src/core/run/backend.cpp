#include "run/backend.hpp"

#include <stdexcept>

namespace quadrille {

namespace {

[[noreturn]] void messages_alone() {
  throw std::logic_error("a schedule with counters, slots or windows can't run over messages alone");
}

}  // namespace

std::int64_t Backend::chunk(std::int32_t, std::int64_t most) {
  return most;
}
void Backend::publish(Token, std::int32_t, std::int64_t) {
  messages_alone();
}
bool Backend::reached(Token, Rank, std::int32_t, std::int64_t) {
  messages_alone();
}
void Backend::put(Token, Rank, const Piece&, const Piece&) {
  messages_alone();
}
void Backend::flush(Token, Rank) {
  messages_alone();
}
void Backend::get(Token, Rank, const Piece&, const Piece&) {
  messages_alone();
}
bool Backend::noticed(Token, std::int32_t, std::int64_t) {
  messages_alone();
}
void Backend::deposit(Token, Rank, const Piece&, const Piece&, std::int64_t) {
  messages_alone();
}
bool Backend::collect(Token, const Piece&, const Piece&, std::int64_t) {
  messages_alone();
}
void Backend::notify(Token, Rank, std::int32_t, std::int64_t) {
  messages_alone();
}
void Backend::offload(Token, std::span<const Piece>) {
  throw std::logic_error("a schedule with collectives of the MPI's own can't run here");
}

}  // namespace quadrille
