#include "engine/process.hpp"

#include <csignal>
#include <cstdio>
#include <string>

#include "engine/context.hpp"

namespace quadrille::engine {

namespace {

volatile std::sig_atomic_t told_by_signal = 0;

extern "C" void note_signal(int) {
  told_by_signal = 1;
}

}  // namespace

bool Process::alive() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  return finalized == 0;
}

Process& Process::get() {
  // Never destroyed: handles of static duration may outlive anything.
  static Process& process = *new Process;
  return process;
}

Process::Process() {
  int level = MPI_THREAD_SINGLE;
  int ranks = 0;
  check(PMPI_Query_thread(&level), "MPI_Query_thread");
  check(PMPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  threads_ = level == MPI_THREAD_MULTIPLE;
  patience_ = Patience::of(ranks_on_node(ranks) > usable_cores());
  // MPI_Finalize deletes the attributes of MPI_COMM_SELF before it does anything else.
  int key = MPI_KEYVAL_INVALID;
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, nullptr), "MPI_Comm_create_keyval");
  check(PMPI_Comm_set_attr(MPI_COMM_SELF, key, this), "MPI_Comm_set_attr");
  check(PMPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

int Process::at_finalize(MPI_Comm, int, void* process, void*) {
  auto& contexts = static_cast<Process*>(process)->contexts_;
  while (!contexts.empty()) contexts.front()->close();
  return MPI_SUCCESS;
}

void Process::enter(Context& context) {
  contexts_.push_back(&context);
  const Settings& settings = context.settings();
  watched_ |= settings.watched();
  // Blocks that lie unused would be outside anybody's bound.
  if (settings.memory > 0) arena_.keep(0);
  if (settings.signal != 0) std::signal(settings.signal, note_signal);
}

void Process::leave(Context& context) {
  std::erase(contexts_, &context);
}

bool Process::asked_to_tell() {
  if (told_by_signal == 0) return false;
  told_by_signal = 0;
  return true;
}

void Process::tell() const {
  std::string text;
  for (const Context* context : contexts_) text += context->in_flight();
  if (text.empty()) text = "quadrille: no collective in flight\n";
  std::fputs(text.c_str(), stderr);
}

void Process::complain() {
  const auto now = std::chrono::steady_clock::now();
  std::string text;
  for (Context* context : contexts_) text += context->complaints(now);
  std::fputs(text.c_str(), stderr);
}

}  // namespace quadrille::engine
