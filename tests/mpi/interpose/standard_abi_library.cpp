// As much of a library of MPI's standard ABI, libmpi_abi.so.1, as standard_abi calls.

extern "C" int MPI_Init(int*, char***) {
  return 0;
}
