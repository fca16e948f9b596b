#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace quadrille::shared {

// Memory that processes of one machine share. It has no name in any file system: nothing is left behind when a process
// is killed, and the size of /dev/shm does not matter.
class Segment {
 public:
  // How another process finds it.
  struct Address {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
  };

  Segment() = default;
  // New memory, all 0, of which only what is touched is taken. Throws std::system_error.
  static Segment create(std::int64_t bytes);
  // That of another process, which must keep it reachable meanwhile. Throws std::system_error.
  static Segment open(const Address& address, std::int64_t bytes);

  Segment(Segment&& other) noexcept { swap(other); }
  Segment& operator=(Segment&& other) noexcept {
    Segment(std::move(other)).swap(*this);
    return *this;
  }
  ~Segment();

  Address address() const;
  // Nobody else can open it from now on.
  void close_door();

  std::byte* memory() const { return memory_; }

 private:
  Segment(int descriptor, std::int64_t bytes);
  void swap(Segment& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
  }

  int descriptor_ = -1;
  std::byte* memory_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace quadrille::shared
