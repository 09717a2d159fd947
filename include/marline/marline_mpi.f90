! SPDX-License-Identifier: Apache-2.0
!
! marline_mpi.h for Fortran programs with integer handles (`use mpi`, mpif.h): compile this file with the program, and
! link the archive libmarline-mpi-link.a of the program's MPI. Names, arguments and meaning are those of marline_mpi.h;
! what is written here is only what differs. For `use mpi_f08`: marline_mpi_f08.f90.
!
! A status is integer(MPI_STATUS_SIZE), MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE. What MPI writes to later (buffers,
! statuses) is asynchronous, and is no expression or section that the compiler copies. `error` may be left out.
module marline_mpi
  use, intrinsic :: iso_c_binding, only: c_funptr, c_int, c_intptr_t, c_ptr
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
      import :: c_int
      integer(c_int), intent(inout) :: request
      integer(c_int), asynchronous :: status(*)
      integer(c_int), intent(out), optional :: error
    end subroutine
    subroutine marline_mpi_iwaitall(count, requests, statuses, error) bind(C, name='marline_mpi_iwaitall_f')
      import :: c_int
      integer(c_int), value :: count
      integer(c_int), intent(inout) :: requests(*)
      integer(c_int), asynchronous :: statuses(*)
      integer(c_int), intent(out), optional :: error
    end subroutine

    subroutine marline_mpi_on_completion(count, requests, statuses, callback, arg, error) &
        bind(C, name='marline_mpi_on_completion_f')
      import :: c_funptr, c_int, c_ptr
      integer(c_int), value :: count
      integer(c_int), intent(inout) :: requests(*)
      integer(c_int), asynchronous :: statuses(*)
      type(c_funptr), value :: callback
      type(c_ptr), value :: arg
      integer(c_int), intent(out), optional :: error
    end subroutine

    ! `event` is of kind omp_event_handle_kind, or the address of a type(marline_event).
    subroutine marline_mpi_fulfill(count, requests, statuses, event, error) bind(C, name='marline_mpi_fulfill_f')
      import :: c_int, c_intptr_t
      integer(c_int), value :: count
      integer(c_int), intent(inout) :: requests(*)
      integer(c_int), asynchronous :: statuses(*)
      integer(c_intptr_t), value :: event
      integer(c_int), intent(out), optional :: error
    end subroutine
  end interface
end module
