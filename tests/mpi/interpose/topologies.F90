! The same as topologies.cpp in Fortran: a torus by each function, with the module mpi or mpi_f08.

program topologies
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
#ifdef F08
  type(MPI_Comm) :: comm, made
#else
  integer :: comm, made
#endif
  integer :: rank, ranks, error, i, faults, key, degree, in_degree, out_degree
  integer :: extents(2), to(4), from(4), weights(4), found(4), found_weights(4), others(4), other_weights(4)
  integer, allocatable :: index(:), edges(:)
  logical :: weighted
  character(len=8) :: argument

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  ! Neighbours far from each other: 5 is no divisor of the numbers of ranks that this is run on.
  key = mod(5 * rank, ranks)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, key, comm, error)
  call MPI_Comm_rank(comm, rank, error)
  faults = 0
  extents = 0
  call MPI_Dims_create(ranks, 2, extents, error)

  call MPI_Cart_create(comm, 2, extents, [.true., .true.], .true., made, error)
  call MPI_Cart_shift(made, 0, 1, found(1), found(2), error)
  call MPI_Cart_shift(made, 1, 1, found(3), found(4), error)
  call expect(all(found == neighbours(new_rank())), 'cart')
  call tell('cart')

  allocate(index(ranks), edges(4 * ranks))
  do i = 0, ranks - 1
    index(i + 1) = 4 * (i + 1)
    edges(4 * i + 1:4 * i + 4) = neighbours(i)
  end do
  call MPI_Graph_create(comm, ranks, index, edges, .true., made, error)
  call MPI_Graph_neighbors(made, new_rank(), 4, found, error)
  call expect(all(found == neighbours(new_rank())), 'graph')
  call tell('graph')

  to = neighbours(rank)
  from = to(4:1:-1)
  weights = 1 + to
  degree = 4
  call MPI_Dist_graph_create(comm, 1, [rank], [degree], to, weights, MPI_INFO_NULL, .true., made, error)
  call MPI_Dist_graph_neighbors_count(made, in_degree, out_degree, weighted, error)
  call expect(in_degree == 4 .and. out_degree == 4 .and. weighted, 'dist_graph: degrees')
  call MPI_Dist_graph_neighbors(made, 4, others, other_weights, 4, found, found_weights, error)
  call expect(sum(found) == sum(neighbours(new_rank())) .and. all(found_weights == 1 + found), 'dist_graph')
  call tell('dist_graph')

  call MPI_Dist_graph_create_adjacent(comm, 4, from, spread(1 + rank, 1, 4), 4, to, weights, MPI_INFO_NULL, .true., made, error)
  call MPI_Dist_graph_neighbors(made, 4, others, other_weights, 4, found, found_weights, error)
  call expect(all(found == neighbours(new_rank())) .and. all(found_weights == 1 + found), 'adjacent')
  call expect(all(others == found(4:1:-1)) .and. all(other_weights == 1 + new_rank()), 'adjacent: sources')
  call tell('adjacent')

  call MPI_Dist_graph_create_adjacent(comm, 4, from, MPI_UNWEIGHTED, 4, to, MPI_UNWEIGHTED, MPI_INFO_NULL, .true., made, error)
  call MPI_Dist_graph_neighbors_count(made, in_degree, out_degree, weighted, error)
  call expect(.not. weighted, 'unweighted: weights')
  call MPI_Dist_graph_neighbors(made, 4, others, MPI_UNWEIGHTED, 4, found, MPI_UNWEIGHTED, error)
  call expect(all(found == neighbours(new_rank())), 'unweighted')
  call tell('unweighted')

  call MPI_Allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, comm, error)
  if (rank == 0) print '(i0, a)', faults, ' faults'
  flush (6)
  call get_command_argument(1, argument)
  do while (argument == 'stay')
    call sleep(1)
  end do
  call MPI_Finalize(error)
  if (faults > 0) stop 1

contains

  integer function new_rank()
    call MPI_Comm_rank(made, new_rank, error)
  end function

  function neighbours(of) result(all_four)
    integer, intent(in) :: of
    integer :: all_four(4), row, column
    row = of / extents(2)
    column = mod(of, extents(2))
    all_four = [at(row - 1, column), at(row + 1, column), at(row, column - 1), at(row, column + 1)]
  end function

  integer function at(row, column)
    integer, intent(in) :: row, column
    at = modulo(row, extents(1)) * extents(2) + modulo(column, extents(2))
  end function

  subroutine expect(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    faults = faults + 1
    write (0, '(a, a)') 'fault: ', what
  end subroutine

  ! Prints how many ranks have moved, and how many pairs of neighbours are on two nodes.
  subroutine tell(what)
    character(len=*), intent(in) :: what
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    character(len=64) :: host
    character(len=64) :: hosts(0:ranks - 1)
    integer :: sums(2), near(4), length, k
    call MPI_Get_processor_name(name, length, error)
    host = name(1:length)
    call MPI_Allgather(host, 64, MPI_CHARACTER, hosts, 64, MPI_CHARACTER, made, error)
    near = neighbours(new_rank())
    sums = [merge(1, 0, new_rank() /= rank), count([(hosts(near(k)) /= host, k = 1, 4)])]
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER, MPI_SUM, comm, error)
    if (rank == 0) print '(a, a, i0, a, i0, a)', what, ': ', sums(1), ' moved, ', sums(2), ' apart'
    call MPI_Comm_free(made, error)
  end subroutine
end program
