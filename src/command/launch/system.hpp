#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

namespace quadrille::launch {

// Throws std::runtime_error "what: strerror(errno); remedy" if the result of a system call is negative.
void require(long result, const std::string& what, const std::string& remedy = {});
[[noreturn]] void fail(int error, const std::string& what, const std::string& remedy = {});

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset();
    if (this != &other) number_ = std::exchange(other.number_, -1);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  void reset();

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// Both ends are close-on-exec.
Pipe make_pipe();

// Reads to the end of the file.
std::string read_all(int descriptor);

// False if writing fails, as on a pipe without readers.
bool write_all(int descriptor, std::string_view text);

// A process started with SIGCHLD ignored can't wait for its children.
void reset_child_signal();

// Waits for a child; returns the wait status. Throws std::runtime_error.
int wait_for(pid_t child);

// The exit status as in a shell: 128 + signal if a signal killed it.
int exit_status(int wait_status);

// Quoted as one word for a shell.
std::string shell_word(std::string_view word);

}  // namespace quadrille::launch
