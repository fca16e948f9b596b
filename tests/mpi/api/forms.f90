! The Fortran module, with the handles of both of MPI's modules: what it returns in all of its forms, and that a section
! with gaps, on one rank alone, is refused by all. Gaps in a type are not.

program forms
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use mpi_f08
  use quadrille
  implicit none
  integer, parameter :: each = 4
  type(quadrille_communicator) :: comm, by_number
  type(quadrille_request) :: request
  integer :: rank, ranks, error, run
  logical :: done
  integer(c_int64_t), allocatable :: counts(:), starts(:)
  integer, allocatable, target :: data(:, :)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call quadrille_comm_create(MPI_COMM_WORLD, comm, error)
  call expect(error == MPI_SUCCESS, 'a communicator of a handle')
  call quadrille_comm_create(MPI_COMM_WORLD%MPI_VAL, by_number, error)
  call expect(error == MPI_SUCCESS, 'a communicator of a number')
  allocate(counts(ranks), starts(ranks), data(each, ranks))
  counts = each
  starts = [(int(run, c_int64_t) * each, run = 0, ranks - 1)]

  call fill()
  call quadrille_alltoall_in_place(data, int(each, c_int64_t), MPI_INTEGER, comm, error, memory=1000_c_int64_t)
  call expect_swapped('alltoall')
  call quadrille_alltoall_in_place(data, int(each, c_int64_t), MPI_INTEGER%MPI_VAL, by_number, error)
  call expect_swapped('alltoall by number')
  call quadrille_alltoallv_in_place(data, counts, starts, counts, starts, MPI_INTEGER%MPI_VAL, by_number, error)
  call expect_swapped('alltoallv by number')
  ! The address of its first element stands for all of it.
  call quadrille_alltoallv_in_place(data(1, 1), counts, starts, counts, starts, MPI_INTEGER, comm, error, 200_c_int64_t)
  call expect_swapped('alltoallv')

  call quadrille_ialltoallv_in_place(data, counts, starts, counts, starts, MPI_INTEGER, comm, request, error)
  call expect(error == MPI_SUCCESS, 'ialltoallv')
  done = .false.
  do while (.not. done)
    call quadrille_test(request, done, error)
  end do
  call expect_swapped('ialltoallv')

  call quadrille_alltoallv_in_place_init(data, counts, starts, counts, starts, MPI_INTEGER, comm, request, error)
  call expect(error == MPI_SUCCESS, 'alltoallv_init')
  do run = 1, 3
    call quadrille_start(request, error)
    call quadrille_wait(request, error)
    call expect_swapped('a persistent alltoallv')
  end do
  call quadrille_request_free(request, error)
  call expect(error == MPI_SUCCESS, 'free')

  if (rank == ranks - 1) then
    call quadrille_alltoallv_in_place(data(1:each:2, :), counts, starts, counts, starts, MPI_INTEGER, comm, error)
  else
    call quadrille_alltoallv_in_place(data, counts, starts, counts, starts, MPI_INTEGER, comm, error)
  end if
  call expect(error == MPI_ERR_BUFFER, 'a section with gaps is refused')
  call expect(index(quadrille_error_text(), 'a section with gaps, in Fortran') > 0, 'and it is said why')
  call quadrille_alltoall_in_place(data(1:each:2, :), int(each / 2, c_int64_t), MPI_INTEGER, comm, error)
  call expect(error == MPI_ERR_BUFFER, 'of an alltoall, too')
  call move_odd_rows()
  call by_the_old_way(data)
  call expect_swapped('an array of unknown size')
  call quadrille_comm_free(comm, error)
  call quadrille_comm_free(by_number, error)
  call MPI_Finalize()

contains

  subroutine by_the_old_way(array)
    integer :: array(*)
    call quadrille_alltoallv_in_place(array, counts, starts, counts, starts, MPI_INTEGER, comm, error)
  end subroutine

  subroutine move_odd_rows()
    type(MPI_Datatype) :: odd, column
    integer :: peer
    integer(c_int64_t) :: ones(ranks), columns(ranks)
    call MPI_Type_vector(each / 2, 1, 2, MPI_INTEGER, odd)
    call MPI_Type_create_resized(odd, 0_MPI_ADDRESS_KIND, int(each * storage_size(data) / 8, MPI_ADDRESS_KIND), column)
    call MPI_Type_commit(column)
    ones = 1
    columns = [(int(peer, c_int64_t), peer = 0, ranks - 1)]
    call quadrille_alltoallv_in_place(data, ones, columns, ones, columns, column, comm, error)
    call expect(error == MPI_SUCCESS, 'a type with gaps')
    do peer = 1, ranks
      call expect(all(data(1::2, peer) == [content(peer - 1, rank, 1), content(peer - 1, rank, 3)]), 'odd rows move')
      call expect(all(data(2::2, peer) == [content(rank, peer - 1, 2), content(rank, peer - 1, 4)]), 'even rows stay')
    end do
    call MPI_Type_free(odd)
    call MPI_Type_free(column)
    call fill()
  end subroutine

  integer function content(from, to, i)
    integer, intent(in) :: from, to, i
    content = from * 10000 + to * 100 + i
  end function

  subroutine fill()
    integer :: peer, i
    do peer = 1, ranks
      data(:, peer) = [(content(rank, peer - 1, i), i = 1, each)]
    end do
  end subroutine

  subroutine expect_swapped(what)
    character(*), intent(in) :: what
    integer :: peer, i
    call expect(error == MPI_SUCCESS, what)
    do peer = 1, ranks
      call expect(all(data(:, peer) == [(content(peer - 1, rank, i), i = 1, each)]), what)
    end do
    call fill()
  end subroutine

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print *, 'rank ', rank, ': wrong: ', what, ': ', quadrille_error_text()
    error stop 1
  end subroutine

end program
