! SPDX-License-Identifier: Apache-2.0
!
! marline_mpi.f90 with integer handles, and TAMPI's subroutines: receives are bound to tasks and posted before the
! sends, on two ranks of one thread; a callback, and a detach clause's event.
module told
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int), target, save :: calls = 0
contains
  subroutine count_call(error, arg) bind(C)
    integer(c_int), value :: error
    type(c_ptr), value :: arg
    integer(c_int), pointer :: counter
    call c_f_pointer(arg, counter)
    if (error == 0) then
      !$omp atomic
      counter = counter + 1
    end if
  end subroutine
end module

program iwait_integers
  use, intrinsic :: iso_c_binding
  use mpi
  use marline_mpi
  use told
  implicit none
  external :: TAMPI_Iwait, TAMPI_Iwaitall, TAMPI_Blocking_enabled
  integer, parameter :: messages = 60
  integer :: rank, peer, error, i, seen, provided, enabled
  integer, asynchronous, save :: received(messages), statuses(MPI_STATUS_SIZE, messages)
  integer, save :: sent(messages), requests(2), sends(messages)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE + 1, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  if (provided /= MPI_THREAD_MULTIPLE + 1) call fail('thread level', provided)
  if (marline_mpi_is_active() /= 1) call fail('is_active', 0)
  call TAMPI_Blocking_enabled(enabled, error)
  if (enabled /= 1) call fail('blocking', enabled)
  peer = 1 - rank
  received = -1
  seen = 0
  !$omp parallel num_threads(1)
  !$omp single
  do i = 1, messages, 2
    !$omp task firstprivate(i) private(requests, error) depend(out: received(i))
    call MPI_Irecv(received(i), 1, MPI_INTEGER, peer, i, MPI_COMM_WORLD, requests(1), error)
    call MPI_Irecv(received(i + 1), 1, MPI_INTEGER, peer, i + 1, MPI_COMM_WORLD, requests(2), error)
    select case (mod(i / 2, 4))
    case (0)
      call marline_mpi_iwait(requests(1), statuses(:, i), error)
      call marline_mpi_iwait(requests(2), statuses(:, i + 1))
    case (1)
      call marline_mpi_iwaitall(2, requests, statuses(:, i:i + 1), error)
    case (2)
      call TAMPI_Iwait(requests(1), statuses(1, i), error)
      call TAMPI_Iwait(requests(2), statuses(1, i + 1), error)
    case (3)
      call TAMPI_Iwaitall(2, requests, statuses(1, i), error)
    end select
    if (any(requests /= MPI_REQUEST_NULL)) call fail('request', i)
    !$omp end task
    !$omp task firstprivate(i) depend(in: received(i))
    if (received(i) /= 100 * peer + i .or. received(i + 1) /= 100 * peer + i + 1) call fail('content', i)
    if (any(statuses(MPI_SOURCE, i:i + 1) /= peer)) call fail('source', i)
    if (statuses(MPI_TAG, i) /= i .or. statuses(MPI_TAG, i + 1) /= i + 1) call fail('tag', i)
    !$omp atomic
    seen = seen + 1
    !$omp end task
  end do
  do i = 1, messages
    !$omp task firstprivate(i) private(requests, error)
    sent(i) = 100 * rank + i
    call MPI_Isend(sent(i), 1, MPI_INTEGER, peer, i, MPI_COMM_WORLD, requests(1), error)
    call marline_mpi_iwait(requests(1), MPI_STATUS_IGNORE, error)
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  if (seen /= messages / 2) call fail('successors', seen)

  do i = 1, 2
    call MPI_Irecv(received(i), 1, MPI_INTEGER, peer, i, MPI_COMM_WORLD, requests(i), error)
  end do
  call marline_mpi_on_completion(2, requests, MPI_STATUSES_IGNORE, c_funloc(count_call), c_loc(calls), error)
  do i = 1, 2
    call MPI_Send(sent(i), 1, MPI_INTEGER, peer, i, MPI_COMM_WORLD, error)
  end do
  do
    !$omp atomic read
    i = calls
    if (i == 1) exit
  end do
  call MPI_Finalize(error)
  print '(a, i0, a)', 'rank ', rank, ': done'

contains

  subroutine fail(what, where)
    character(*), intent(in) :: what
    integer, intent(in) :: where
    integer :: ierror
    print '(a, i0, 3a, i0)', 'rank ', rank, ': FAILED: ', what, ' ', where
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
