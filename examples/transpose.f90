! Transposes a distributed matrix in place, as between the two passes of a Fourier transform: each rank has some
! columns, and receives the same rows. Its columns are stored in blocks, one per rank, which are swapped in pairs; the
! received blocks are then transposed one by one.

program transpose_in_place
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use quadrille
  implicit none
  integer, parameter :: n = 1000
  type(quadrille_communicator) :: comm
  integer :: rank, ranks, error, peer, i, j, mine, theirs, begin
  logical :: right
  integer(c_int64_t), allocatable :: counts(:), starts(:)
  double precision, allocatable :: matrix(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call quadrille_comm_create(MPI_COMM_WORLD, comm, error)
  call stop_at(error)

  mine = columns(rank)
  allocate(counts(0:ranks - 1), starts(0:ranks - 1), matrix(mine * n))
  do peer = 0, ranks - 1
    counts(peer) = mine * columns(peer)
    starts(peer) = mine * first(peer)
    ! Rows of the peer, in columns of this rank.
    do j = 0, mine - 1
      do i = 0, columns(peer) - 1
        matrix(1 + starts(peer) + j * columns(peer) + i) = element(first(peer) + i, first(rank) + j)
      end do
    end do
  end do

  ! The blocks that two ranks exchange have the same size and position.
  call quadrille_alltoallv_in_place(matrix, counts, starts, counts, starts, MPI_DOUBLE_PRECISION, comm, error)
  call stop_at(error)

  right = .true.
  do peer = 0, ranks - 1
    theirs = columns(peer)
    begin = 1 + int(starts(peer))
    call transpose_block(matrix(begin:begin + mine * theirs - 1), mine, theirs)
    ! Now the peer's columns of this rank's rows, as rows of the transposed matrix.
    do j = 0, mine - 1
      do i = 0, theirs - 1
        right = right .and. matrix(begin + j * theirs + i) == element(first(rank) + j, first(peer) + i)
      end do
    end do
  end do
  call MPI_Allreduce(MPI_IN_PLACE, right, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
  if (rank == 0) then
    print '(i0, a, i0, a, i0, a, a, i0, a, i0)', n, ' x ', n, ' on ', ranks, ' ranks: ', merge('right; ', 'WRONG; ', right), &
      quadrille_peak_bytes(), ' bytes beside the matrix, where a second buffer takes ', 8 * mine * n
  end if
  call quadrille_comm_free(comm, error)
  call MPI_Finalize()
  if (.not. right) error stop 1

contains

  ! The first column of a rank, and the number of columns.
  pure integer function first(of)
    integer, intent(in) :: of
    first = n / ranks * of + min(of, mod(n, ranks))
  end function

  pure integer function columns(of)
    integer, intent(in) :: of
    columns = first(of + 1) - first(of)
  end function

  pure double precision function element(row, column)
    integer, intent(in) :: row, column
    element = row + 1d-4 * column
  end function

  ! A block is received as `rows` x `width`, in column-major order, and becomes `width` x `rows`. Uses memory for one
  ! block, a p-th of the matrix.
  subroutine transpose_block(block, rows, width)
    integer, intent(in) :: rows, width
    double precision, intent(inout) :: block(rows * width)
    block = reshape(transpose(reshape(block, [rows, width])), [rows * width])
  end subroutine

  subroutine stop_at(code)
    integer, intent(in) :: code
    if (code == MPI_SUCCESS) return
    write(error_unit, '(a)') quadrille_error_text()
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

end program
