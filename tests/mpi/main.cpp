// Runs all tests on every rank; only rank 0 tells of those that pass.

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// Keeps the libraries that MPI loads to the end, so that the leak check can tell theirs from ours.
extern "C" __attribute__((visibility("default"))) int dlclose(void*) {
  return 0;
}
#endif
#endif

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
#if defined(QUADRILLE_TEST_THREADS)
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
#else
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
#endif
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());

    // Failures alone, with the rank in front.
    class Failures final : public testing::EmptyTestEventListener {
     public:
      explicit Failures(int rank) : rank_(rank) {}
      void OnTestStart(const testing::TestInfo& test) override { test_ = test.name(); }
      void OnTestPartResult(const testing::TestPartResult& result) override {
        if (!result.failed()) return;
        std::fprintf(stderr, "rank %d: %s:%d: %s\n%s\n", rank_, result.file_name() ? result.file_name() : "?",
                     result.line_number(), test_, result.message());
      }

     private:
      int rank_;
      const char* test_ = "";
    };
    listeners.Append(new Failures(rank));
  }
  const int code = RUN_ALL_TESTS();
  MPI_Finalize();
  return code;
}
