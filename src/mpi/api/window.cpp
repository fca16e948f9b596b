#include <quadrille/window.hpp>
#include <utility>

#include "api/exposed.hpp"

namespace quadrille {

using detail::Exposed;

Window::Window(std::unique_ptr<Exposed> exposed) : exposed_(std::move(exposed)) {}
Window::Window(Window&& other) noexcept = default;
Window& Window::operator=(Window&& other) noexcept = default;
Window::~Window() = default;

Window Window::allocate(Communicator& comm, std::int64_t bytes) {
  return Window(comm.core_.expose(nullptr, bytes));
}

Window Window::create(Communicator& comm, void* memory, std::int64_t bytes) {
  // Of no bytes the address may be null, which must not mean memory of its own.
  static std::byte nothing;
  return Window(comm.core_.expose(memory ? memory : &nothing, bytes));
}

std::byte* Window::data() const {
  return exposed_->memory();
}

std::int64_t Window::size() const {
  return exposed_->bytes();
}

bool Window::one_sided() const {
  return exposed_->one_sided();
}

std::string Window::transport() const {
  return exposed_->transport();
}

void Window::bcast(int root, std::int64_t offset, std::int64_t count, const Options& options) {
  exposed_->run({Collective::bcast, root, offset, count}, options);
}

Pending Window::ibcast(int root, std::int64_t offset, std::int64_t count, const Options& options) {
  return Pending(exposed_->prepare({Collective::bcast, root, offset, count}, options));
}

Persistent Window::bcast_init(int root, std::int64_t offset, std::int64_t count, const Options& options) {
  return Persistent(exposed_->prepare({Collective::bcast, root, offset, count}, options));
}

void Window::allgather(std::int64_t offset, std::int64_t count, const Options& options) {
  exposed_->run({Collective::allgather, 0, offset, count}, options);
}

Pending Window::iallgather(std::int64_t offset, std::int64_t count, const Options& options) {
  return Pending(exposed_->prepare({Collective::allgather, 0, offset, count}, options));
}

Persistent Window::allgather_init(std::int64_t offset, std::int64_t count, const Options& options) {
  return Persistent(exposed_->prepare({Collective::allgather, 0, offset, count}, options));
}

void Window::barrier(const Options& options) {
  exposed_->run({.collective = Collective::barrier}, options);
}

Pending Window::ibarrier(const Options& options) {
  return Pending(exposed_->prepare({.collective = Collective::barrier}, options));
}

Persistent Window::barrier_init(const Options& options) {
  return Persistent(exposed_->prepare({.collective = Collective::barrier}, options));
}

std::unique_ptr<Exposed> detail::CommunicatorCore::expose(void* memory, std::int64_t bytes) {
  return std::make_unique<Exposed>(context_, memory, bytes);
}

}  // namespace quadrille
