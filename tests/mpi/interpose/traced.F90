! Messages from Fortran, in the forms that a trace has to count: rank 0 and 1 send each other 1 + 1 + 1 + 3 + 3 + 1 + 1
! messages of 5 integers. With -DF08 by the module mpi_f08, else by the module mpi.

program traced
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, peer, error, i
  integer :: mine(5), got(5)
#ifdef F08
  type(MPI_Request) :: requests(2)
#else
  integer :: requests(2)
#endif

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  peer = 1 - rank
  mine = rank
  call MPI_Irecv(got, 5, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, requests(1), error)
  call MPI_Send(mine, 5, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, error)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
  call MPI_Irecv(got, 5, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(mine, 5, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Irecv(got, 5, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, requests(1), error)
  call MPI_Issend(mine, 5, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Recv_init(got, 5, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, requests(1), error)
  call MPI_Send_init(mine, 5, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, requests(2), error)
  do i = 1, 3
    call MPI_Startall(2, requests, error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  end do
  do i = 1, 3
    call MPI_Start(requests(1), error)
    call MPI_Start(requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  end do
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
  call MPI_Sendrecv(mine, 5, MPI_INTEGER, peer, 0, got, 5, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Sendrecv_replace(got, 5, MPI_INTEGER, peer, 0, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  if (any(got /= rank)) error stop "wrong data"
  call MPI_Bcast(mine, 5, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
