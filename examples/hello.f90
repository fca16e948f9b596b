! A program of plain MPI, for the drop-in: nothing in it is Quadrille's.
program hello
  use mpi
  implicit none
  integer :: rank, ranks, last, code
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Allreduce(1, ranks, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Allreduce(rank, last, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a,i0,a,i0)', 'hello from ', ranks, ' ranks, the last is ', last
  call MPI_Finalize(code)
end program
