! A program in Fortran that knows nothing of the drop-in: every blocking collective once or twice, checked.
! With -DF08 by the module mpi_f08, else by the module mpi.

module operation
contains
#ifdef F08
  subroutine take_right(left, right, length, type)
    use, intrinsic :: iso_c_binding, only: c_ptr
    use mpi_f08, only: MPI_Datatype
    type(c_ptr), value :: left, right
    integer :: length
    type(MPI_Datatype) :: type
#else
  subroutine take_right(left, right, length, type)
    integer :: length, type
    integer :: left(length), right(length)
#endif
    ! right is the result already
  end subroutine
end module

program calls
  use operation
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: n = 5
  integer :: rank, size, i, error, faults
  integer :: mine(n), got(n)
  integer, allocatable :: all(:), other(:), counts(:), starts(:), bytes(:)
#ifdef F08
  type(MPI_Datatype), allocatable :: types(:)
  type(MPI_Op) :: join
#else
  integer, allocatable :: types(:)
  integer :: join
#endif

  faults = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  allocate(all(n * size), other(n * size), counts(size), starts(size), bytes(size), types(size))
  mine = [(value(rank, i), i = 1, n)]
  counts = n
  starts = [(n * i, i = 0, size - 1)]
  bytes = 4 * starts
  types = MPI_INTEGER

  call MPI_Barrier(MPI_COMM_WORLD, error)
  got = merge(mine, 0, rank == size - 1)
  call MPI_Bcast(got, n, MPI_INTEGER, size - 1, MPI_COMM_WORLD, error)
  call expect(all_of(got, size - 1), 'Bcast')

  got = 0
  call MPI_Allreduce(mine, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(is_sum(got, 0, size - 1), 'Allreduce')
  got = mine
  call MPI_Allreduce(MPI_IN_PLACE, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(is_sum(got, 0, size - 1), 'Allreduce in place')
  call MPI_Op_create(take_right, .false., join, error)
  call MPI_Allreduce(mine, got, n, MPI_INTEGER, join, MPI_COMM_WORLD, error)
  call expect(all_of(got, size - 1), 'Allreduce by a function of the program''s own')
  call MPI_Op_free(join, error)
  call MPI_Reduce(mine, got, n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) call expect(is_sum(got, 0, size - 1), 'Reduce')
  call MPI_Scan(mine, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(is_sum(got, 0, rank), 'Scan')
  call MPI_Exscan(mine, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank > 0) call expect(is_sum(got, 0, rank - 1), 'Exscan')

  call MPI_Allgather(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, MPI_COMM_WORLD, error)
  call expect(is_gathered(), 'Allgather')
  call MPI_Reduce_scatter_block(all, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all_of(got / size, rank), 'Reduce_scatter_block')
  call MPI_Reduce_scatter(all, got, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all_of(got / size, rank), 'Reduce_scatter')
  all = 0
  all(starts(rank + 1) + 1:starts(rank + 1) + n) = mine
  call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, all, counts, starts, MPI_INTEGER, MPI_COMM_WORLD, error)
  call expect(is_gathered(), 'Allgatherv in place')
  all = 0
  call MPI_Gather(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  if (rank == 0) call expect(is_gathered(), 'Gather')
  all = 0
  call MPI_Gatherv(mine, n, MPI_INTEGER, all, counts, starts, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  if (rank == 0) call expect(is_gathered(), 'Gatherv')
  call MPI_Scatter(all, n, MPI_INTEGER, got, n, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call expect(all_of(got, rank), 'Scatter')
  call MPI_Scatterv(all, counts, starts, MPI_INTEGER, got, n, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call expect(all_of(got, rank), 'Scatterv')

  other = [(value(rank, i), i = 1, n * size)]
  call MPI_Alltoall(other, n, MPI_INTEGER, all, n, MPI_INTEGER, MPI_COMM_WORLD, error)
  call expect(is_exchanged(), 'Alltoall')
  all = 0
  call MPI_Alltoallv(other, counts, starts, MPI_INTEGER, all, counts, starts, MPI_INTEGER, MPI_COMM_WORLD, error)
  call expect(is_exchanged(), 'Alltoallv')
  all = 0
  call MPI_Alltoallw(other, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD, error)
  call expect(is_exchanged(), 'Alltoallw')
  all = other
  call MPI_Alltoallw(MPI_IN_PLACE, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD, error)
  call expect(is_exchanged(), 'Alltoallw in place')

  call MPI_Allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print '(i0, a)', faults, ' faults'
  call MPI_Finalize(error)
  if (faults > 0) stop 1

contains

  integer function value(rank, i)
    integer, intent(in) :: rank, i
    value = 1000 * rank + i
  end function

  logical function all_of(data, from)
    integer, intent(in) :: data(n), from
    all_of = .true.
    do i = 1, n
      all_of = all_of .and. data(i) == value(from, i)
    end do
  end function

  logical function is_sum(data, first, last)
    integer, intent(in) :: data(n), first, last
    integer :: r, total
    is_sum = .true.
    do i = 1, n
      total = 0
      do r = first, last
        total = total + value(r, i)
      end do
      is_sum = is_sum .and. data(i) == total
    end do
  end function

  logical function is_gathered()
    integer :: r
    is_gathered = .true.
    do r = 0, size - 1
      is_gathered = is_gathered .and. all_of(all(n * r + 1:n * r + n), r)
    end do
  end function

  logical function is_exchanged()
    integer :: r
    is_exchanged = .true.
    do r = 0, size - 1
      do i = 1, n
        is_exchanged = is_exchanged .and. all(n * r + i) == value(r, n * rank + i)
      end do
    end do
  end function

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    print *, 'wrong: ', what
    faults = faults + 1
  end subroutine

end program
