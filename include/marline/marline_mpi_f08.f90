! SPDX-License-Identifier: Apache-2.0
!
! marline_mpi.f90 for programs that use mpi_f08: the same with its types for requests and statuses.
module marline_mpi_f08
  use, intrinsic :: iso_c_binding, only: c_funptr, c_int, c_intptr_t, c_ptr
  use mpi_f08, only: MPI_Request, MPI_Status
  implicit none
  private

  public :: marline_mpi_is_active, marline_mpi_iwait, marline_mpi_iwaitall, marline_mpi_on_completion
  public :: marline_mpi_fulfill, marline_mpi_callback_fn

  abstract interface
    ! The type of a callback; pass its c_funloc.
    subroutine marline_mpi_callback_fn(error, arg) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: error
      type(c_ptr), value :: arg
    end subroutine
  end interface

  interface
    integer(c_int) function marline_mpi_is_active() bind(C)
      import :: c_int
    end function

    subroutine marline_mpi_iwait(request, status, error) bind(C, name='marline_mpi_iwait_f')
      import :: MPI_Request, MPI_Status, c_int
      type(MPI_Request), intent(inout) :: request
      type(MPI_Status), asynchronous :: status
      integer(c_int), intent(out), optional :: error
    end subroutine
    subroutine marline_mpi_iwaitall(count, requests, statuses, error) bind(C, name='marline_mpi_iwaitall_f')
      import :: MPI_Request, MPI_Status, c_int
      integer(c_int), value :: count
      type(MPI_Request), intent(inout) :: requests(*)
      type(MPI_Status), asynchronous :: statuses(*)
      integer(c_int), intent(out), optional :: error
    end subroutine

    subroutine marline_mpi_on_completion(count, requests, statuses, callback, arg, error) &
        bind(C, name='marline_mpi_on_completion_f')
      import :: MPI_Request, MPI_Status, c_funptr, c_int, c_ptr
      integer(c_int), value :: count
      type(MPI_Request), intent(inout) :: requests(*)
      type(MPI_Status), asynchronous :: statuses(*)
      type(c_funptr), value :: callback
      type(c_ptr), value :: arg
      integer(c_int), intent(out), optional :: error
    end subroutine

    ! `event` is of kind omp_event_handle_kind, or the address of a type(marline_event).
    subroutine marline_mpi_fulfill(count, requests, statuses, event, error) bind(C, name='marline_mpi_fulfill_f')
      import :: MPI_Request, MPI_Status, c_int, c_intptr_t
      integer(c_int), value :: count
      type(MPI_Request), intent(inout) :: requests(*)
      type(MPI_Status), asynchronous :: statuses(*)
      integer(c_intptr_t), value :: event
      integer(c_int), intent(out), optional :: error
    end subroutine
  end interface
end module
