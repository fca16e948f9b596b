#pragma once

#include <dlfcn.h>

namespace quadrille::interpose {

// The function of that name behind ours: another tool's, or MPI's own. `last` if the linker knows none.
template <class Function>
Function* next_in_chain(const char* name, Function* last) {
  void* const found = dlsym(RTLD_NEXT, name);
  return found ? reinterpret_cast<Function*>(found) : last;
}

}  // namespace quadrille::interpose

// A function that calls the next one of that name with these arguments. It has copies of them: the address of a
// parameter would keep it in memory.
#define QUADRILLE_NEXT(name, arguments)                                                        \
  [=] {                                                                                        \
    static auto* const next = quadrille::interpose::next_in_chain("MPI_" #name, &PMPI_##name); \
    return next arguments; /* NOLINT(bugprone-macro-parentheses): they have their own */       \
  }
