! The Fortran interface of Quadrille: all-to-all within one buffer, in bounded memory.
!
!     use quadrille
!     type(quadrille_communicator) :: comm
!     call quadrille_comm_create(MPI_COMM_WORLD, comm, error)
!     call quadrille_alltoallv_in_place(data, send, send_at, receive, receive_at, MPI_DOUBLE_PRECISION, comm, error)
!     call quadrille_comm_free(comm, error)
!
! Compile this file with the MPI and the compiler of the program, and link libquadrille.so of that MPI.
!
! Arguments. Communicators and datatypes are those of the module mpi (integers) or mpi_f08. Counts and displacements are
! 64-bit integers, in elements, one for each rank; displacements start at 0. They are read by the call and may be changed
! when it has returned. buffer must be contiguous: for an array section with gaps a compiler would pass a copy. It must not
! be used while a request is in progress. memory is an upper bound, in bytes, on what a rank allocates beyond the buffer;
! the default is one hundredth of the data, at least 64 KiB.
!
! Calls. All ranks make the same calls on a communicator in the same order. Pending requests advance in every call of this
! module that waits or tests, unless QUADRILLE_PROGRESS=1 starts a progress thread. Several threads may call the module at
! the same time if MPI was initialised with MPI_THREAD_MULTIPLE.
!
! Errors. error is MPI_SUCCESS or an error code of MPI; quadrille_error_text() says what is wrong and how to correct it. An
! error of an alltoallv on one rank is returned on all ranks, and no data has moved.

module quadrille
  use, intrinsic :: iso_c_binding
  use mpi_f08, only: MPI_Comm, MPI_Datatype
  implicit none
  private
  public :: quadrille_communicator, quadrille_request
  public :: quadrille_comm_create, quadrille_comm_free
  public :: quadrille_alltoall_in_place, quadrille_alltoallv_in_place
  public :: quadrille_ialltoallv_in_place, quadrille_alltoallv_in_place_init
  public :: quadrille_start, quadrille_test, quadrille_wait, quadrille_request_free
  public :: quadrille_error_text, quadrille_peak_bytes

  ! A communicator of Quadrille.
  type :: quadrille_communicator
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! A non-blocking call in progress, or a persistent one.
  type :: quadrille_request
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! Creates a communicator with the ranks of one of MPI's, which may be freed afterwards. Collective over it.
  interface quadrille_comm_create
    module procedure create_by_number, create_by_handle
  end interface

  ! Sends a block of `count` elements to each rank and receives one from each, in place.
  interface quadrille_alltoall_in_place
    module procedure alltoall_by_number, alltoall_by_handle
  end interface

  ! All-to-all with any counts and displacements. Blocks to be sent may overlap blocks to be received in any way; blocks
  ! of one direction must not overlap each other. Only blocks to be received are written.
  interface quadrille_alltoallv_in_place
    module procedure alltoallv_by_number, alltoallv_by_handle
  end interface

  ! Non-blocking alltoallv_in_place: returns a request.
  interface quadrille_ialltoallv_in_place
    module procedure ialltoallv_by_number, ialltoallv_by_handle
  end interface

  ! Persistent alltoallv_in_place: returns a request to be started any number of times.
  interface quadrille_alltoallv_in_place_init
    module procedure alltoallv_init_by_number, alltoallv_init_by_handle
  end interface

  interface
    function c_create(parent, comm) bind(C, name='quadrille_fortran_comm_create') result(code)
      import
      integer(c_int), value :: parent
      type(c_ptr) :: comm
      integer(c_int) :: code
    end function
    function c_free(comm) bind(C, name='quadrille_comm_free') result(code)
      import
      type(c_ptr) :: comm
      integer(c_int) :: code
    end function
    function c_alltoall(buffer, count, type, comm, memory) bind(C, name='quadrille_fortran_alltoall_in_place') &
        result(code)
      import
      integer(c_int64_t), value :: count, memory
      integer(c_int), value :: type
      type(c_ptr), value :: buffer, comm
      integer(c_int) :: code
    end function
    function c_alltoallv(buffer, send, send_at, receive, receive_at, type, comm, memory, request, persistent) &
        bind(C, name='quadrille_fortran_alltoallv_in_place') result(code)
      import
      integer(c_int64_t), intent(in) :: send(*), send_at(*), receive(*), receive_at(*)
      integer(c_int), value :: type, persistent
      type(c_ptr), value :: buffer, comm, request
      integer(c_int64_t), value :: memory
      integer(c_int) :: code
    end function
    function c_start(request) bind(C, name='quadrille_start') result(code)
      import
      type(c_ptr), value :: request
      integer(c_int) :: code
    end function
    function c_test(request, done) bind(C, name='quadrille_test') result(code)
      import
      type(c_ptr) :: request
      integer(c_int) :: done, code
    end function
    function c_wait(request) bind(C, name='quadrille_wait') result(code)
      import
      type(c_ptr) :: request
      integer(c_int) :: code
    end function
    function c_request_free(request) bind(C, name='quadrille_request_free') result(code)
      import
      type(c_ptr) :: request
      integer(c_int) :: code
    end function
    function c_error_text() bind(C, name='quadrille_error_text') result(text)
      import
      type(c_ptr) :: text
    end function
    function c_peak_bytes() bind(C, name='quadrille_peak_bytes') result(bytes)
      import
      integer(c_int64_t) :: bytes
    end function
    function c_length(text) bind(C, name='strlen') result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  subroutine create_by_number(parent, comm, error)
    integer, intent(in) :: parent
    type(quadrille_communicator), intent(out) :: comm
    integer, intent(out) :: error
    error = c_create(int(parent, c_int), comm%handle)
  end subroutine

  subroutine create_by_handle(parent, comm, error)
    type(MPI_Comm), intent(in) :: parent
    type(quadrille_communicator), intent(out) :: comm
    integer, intent(out) :: error
    call create_by_number(parent%MPI_VAL, comm, error)
  end subroutine

  ! Frees a communicator. Requests on it remain valid.
  subroutine quadrille_comm_free(comm, error)
    type(quadrille_communicator), intent(inout) :: comm
    integer, intent(out) :: error
    error = c_free(comm%handle)
  end subroutine

  subroutine alltoall_by_number(buffer, count, type, comm, error, memory)
    type(*), dimension(..), target, asynchronous :: buffer
    integer(c_int64_t), intent(in) :: count
    integer, intent(in) :: type
    type(quadrille_communicator), intent(in) :: comm
    integer, intent(out) :: error
    integer(c_int64_t), intent(in), optional :: memory
    error = c_alltoall(place_of(buffer), count, int(type, c_int), comm%handle, allowed(memory))
  end subroutine

  subroutine alltoall_by_handle(buffer, count, type, comm, error, memory)
    type(*), dimension(..), target, asynchronous :: buffer
    integer(c_int64_t), intent(in) :: count
    type(MPI_Datatype), intent(in) :: type
    type(quadrille_communicator), intent(in) :: comm
    integer, intent(out) :: error
    integer(c_int64_t), intent(in), optional :: memory
    call alltoall_by_number(buffer, count, type%MPI_VAL, comm, error, memory)
  end subroutine

  subroutine alltoallv_by_number(buffer, send, send_at, receive, receive_at, type, comm, error, memory)
    type(*), dimension(..), target, asynchronous :: buffer
    integer(c_int64_t), intent(in) :: send(*), send_at(*), receive(*), receive_at(*)
    integer, intent(in) :: type
    type(quadrille_communicator), intent(in) :: comm
    integer, intent(out) :: error
    integer(c_int64_t), intent(in), optional :: memory
    error = c_alltoallv(place_of(buffer), send, send_at, receive, receive_at, int(type, c_int), comm%handle, &
                        allowed(memory), c_null_ptr, 0_c_int)
  end subroutine

  subroutine alltoallv_by_handle(buffer, send, send_at, receive, receive_at, type, comm, error, memory)
    type(*), dimension(..), target, asynchronous :: buffer
    integer(c_int64_t), intent(in) :: send(*), send_at(*), receive(*), receive_at(*)
    type(MPI_Datatype), intent(in) :: type
    type(quadrille_communicator), intent(in) :: comm
    integer, intent(out) :: error
    integer(c_int64_t), intent(in), optional :: memory
    call alltoallv_by_number(buffer, send, send_at, receive, receive_at, type%MPI_VAL, comm, error, memory)
  end subroutine

  subroutine ialltoallv_by_number(buffer, send, send_at, receive, receive_at, type, comm, request, error, memory)
    type(*), dimension(..), target, asynchronous :: buffer
    integer(c_int64_t), intent(in) :: send(*), send_at(*), receive(*), receive_at(*)
    integer, intent(in) :: type
    type(quadrille_communicator), intent(in) :: comm
    type(quadrille_request), intent(out), target :: request
    integer, intent(out) :: error
    integer(c_int64_t), intent(in), optional :: memory
    error = c_alltoallv(place_of(buffer), send, send_at, receive, receive_at, int(type, c_int), comm%handle, &
                        allowed(memory), c_loc(request%handle), 0_c_int)
  end subroutine

  subroutine ialltoallv_by_handle(buffer, send, send_at, receive, receive_at, type, comm, request, error, memory)
    type(*), dimension(..), target, asynchronous :: buffer
    integer(c_int64_t), intent(in) :: send(*), send_at(*), receive(*), receive_at(*)
    type(MPI_Datatype), intent(in) :: type
    type(quadrille_communicator), intent(in) :: comm
    type(quadrille_request), intent(out), target :: request
    integer, intent(out) :: error
    integer(c_int64_t), intent(in), optional :: memory
    call ialltoallv_by_number(buffer, send, send_at, receive, receive_at, type%MPI_VAL, comm, request, error, memory)
  end subroutine

  subroutine alltoallv_init_by_number(buffer, send, send_at, receive, receive_at, type, comm, request, error, memory)
    type(*), dimension(..), target, asynchronous :: buffer
    integer(c_int64_t), intent(in) :: send(*), send_at(*), receive(*), receive_at(*)
    integer, intent(in) :: type
    type(quadrille_communicator), intent(in) :: comm
    type(quadrille_request), intent(out), target :: request
    integer, intent(out) :: error
    integer(c_int64_t), intent(in), optional :: memory
    error = c_alltoallv(place_of(buffer), send, send_at, receive, receive_at, int(type, c_int), comm%handle, &
                        allowed(memory), c_loc(request%handle), 1_c_int)
  end subroutine

  subroutine alltoallv_init_by_handle(buffer, send, send_at, receive, receive_at, type, comm, request, error, memory)
    type(*), dimension(..), target, asynchronous :: buffer
    integer(c_int64_t), intent(in) :: send(*), send_at(*), receive(*), receive_at(*)
    type(MPI_Datatype), intent(in) :: type
    type(quadrille_communicator), intent(in) :: comm
    type(quadrille_request), intent(out), target :: request
    integer, intent(out) :: error
    integer(c_int64_t), intent(in), optional :: memory
    call alltoallv_init_by_number(buffer, send, send_at, receive, receive_at, type%MPI_VAL, comm, request, error, memory)
  end subroutine

  ! Starts a run of a persistent request. The previous run must be complete.
  subroutine quadrille_start(request, error)
    type(quadrille_request), intent(in) :: request
    integer, intent(out) :: error
    error = c_start(request%handle)
  end subroutine

  ! Returns whether the request is complete; if it is not, first advances all pending requests of this process. A complete
  ! request is freed, unless it is persistent.
  subroutine quadrille_test(request, done, error)
    type(quadrille_request), intent(inout) :: request
    logical, intent(out) :: done
    integer, intent(out) :: error
    integer(c_int) :: flag
    flag = 0
    error = c_test(request%handle, flag)
    done = flag /= 0
  end subroutine

  ! Waits until the request is complete, and frees it, unless it is persistent.
  subroutine quadrille_wait(request, error)
    type(quadrille_request), intent(inout) :: request
    integer, intent(out) :: error
    error = c_wait(request%handle)
  end subroutine

  ! Waits for a run in progress and frees the request.
  subroutine quadrille_request_free(request, error)
    type(quadrille_request), intent(inout) :: request
    integer, intent(out) :: error
    error = c_request_free(request%handle)
  end subroutine

  ! The message of the last call that failed in this thread.
  function quadrille_error_text() result(text)
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    type(c_ptr) :: place
    integer :: i
    place = c_error_text()
    call c_f_pointer(place, letters, [c_length(place)])
    allocate(character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  ! The most memory, in bytes, that this process has allocated at one time beyond the callers' buffers.
  function quadrille_peak_bytes() result(bytes)
    integer(c_int64_t) :: bytes
    bytes = c_peak_bytes()
  end function

  ! The address of a contiguous buffer; null for a section with gaps, which is then an error.
  function place_of(buffer) result(place)
    type(*), dimension(..), target, asynchronous, intent(in) :: buffer
    type(c_ptr) :: place
    place = c_null_ptr
    if (is_contiguous(buffer)) place = c_loc(buffer)
  end function

  pure function allowed(memory) result(bytes)
    integer(c_int64_t), intent(in), optional :: memory
    integer(c_int64_t) :: bytes
    bytes = 0
    if (present(memory)) bytes = memory
  end function

end module
