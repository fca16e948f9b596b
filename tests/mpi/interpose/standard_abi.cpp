// A program that is linked with a library of MPI's standard ABI.

#include <cstdio>

extern "C" int MPI_Init(int*, char***);

int main(int argc, char** argv) {
  if (MPI_Init(&argc, &argv) != 0) return 2;
  std::puts("0 faults");
}
