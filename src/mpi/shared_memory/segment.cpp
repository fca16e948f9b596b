#include "shared_memory/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace quadrille::shared {

namespace {

[[noreturn]] void refuse(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

Segment::Segment(int descriptor, std::int64_t bytes) : descriptor_(descriptor), bytes_(bytes) {
  void* const mapped =
      mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped != MAP_FAILED) {
    memory_ = static_cast<std::byte*>(mapped);
    return;
  }
  const int error = errno;
  close_door();
  refuse(error, "mmap");
}

Segment Segment::create(std::int64_t bytes) {
  const int descriptor = memfd_create("quadrille", MFD_CLOEXEC);
  if (descriptor < 0) refuse(errno, "memfd_create");
  if (ftruncate(descriptor, bytes) != 0) {
    const int error = errno;
    close(descriptor);
    refuse(error, "ftruncate");
  }
  return {descriptor, bytes};
}

Segment Segment::open(const Address& address, std::int64_t bytes) {
  std::array<char, 64> path = {};
  std::snprintf(path.data(), path.size(), "/proc/%lld/fd/%lld", static_cast<long long>(address.process),
                static_cast<long long>(address.descriptor));
  const int descriptor = ::open(path.data(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) refuse(errno, path.data());
  struct stat found = {};
  if (fstat(descriptor, &found) != 0 || found.st_size != bytes) {
    close(descriptor);
    refuse(ENOENT, path.data());
  }
  Segment segment(descriptor, bytes);
  segment.close_door();
  return segment;
}

Segment::~Segment() {
  close_door();
  if (memory_) munmap(memory_, static_cast<std::size_t>(bytes_));
}

Segment::Address Segment::address() const {
  return {getpid(), descriptor_};
}

void Segment::close_door() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

}  // namespace quadrille::shared
