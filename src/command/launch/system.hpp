#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

namespace quadrille::launch {

// Throws std::runtime_error "what: why the last call failed; remedy" if a call of the system returned less than 0.
void require(long result, const std::string& what, const std::string& remedy = {});
[[noreturn]] void fail(int error, const std::string& what, const std::string& remedy = {});

// A file descriptor that closes itself.
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

// Neither end survives an exec.
Pipe make_pipe();

// Up to the end of the file.
std::string read_all(int descriptor);

// False if nobody reads any more.
bool write_all(int descriptor, std::string_view text);

// A process may have been started with SIGCHLD ignored, and then can't wait for its children.
void reset_child_signal();

// Waits for a child's end; what wait says. Throws std::runtime_error.
int wait_for(pid_t child);

// What wait says, as a shell would: 128 + signal where a signal ended it.
int exit_status(int wait_status);

// For a shell, as one word.
std::string shell_word(std::string_view word);

}  // namespace quadrille::launch
