! SPDX-License-Identifier: Apache-2.0
!
! marline_mpi_f08.f90, with mpi_f08's types: receives are bound to tasks, or fulfil the event of a task, before the
! sends, on two ranks of one thread.
program iwait_f08
  use mpi_f08
  use marline_mpi_f08
  use omp_lib, only: omp_event_handle_kind
  implicit none
  integer, parameter :: messages = 60
  integer :: rank, peer, i, seen
  integer, asynchronous, save :: received(messages)
  type(MPI_Status), asynchronous, save :: statuses(messages)
  integer, save :: sent(messages)
  type(MPI_Request), save :: requests(2), pair(2, messages)
  integer(omp_event_handle_kind) :: event

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  peer = 1 - rank
  received = -1
  seen = 0
  !$omp parallel num_threads(1)
  !$omp single
  do i = 1, messages, 2
    if (mod(i, 4) == 1) then
      !$omp task firstprivate(i) private(requests) depend(out: received(i))
      call MPI_Irecv(received(i), 1, MPI_INTEGER, peer, i, MPI_COMM_WORLD, requests(1))
      call MPI_Irecv(received(i + 1), 1, MPI_INTEGER, peer, i + 1, MPI_COMM_WORLD, requests(2))
      call marline_mpi_iwait(requests(1), statuses(i))
      call marline_mpi_iwaitall(1, requests(2:2), statuses(i + 1:i + 1))
      if (any(requests /= MPI_REQUEST_NULL)) call fail('request', i)
      !$omp end task
    else
      !$omp task detach(event) depend(out: received(i))
      !$omp end task
      call MPI_Irecv(received(i), 1, MPI_INTEGER, peer, i, MPI_COMM_WORLD, pair(1, i))
      call MPI_Irecv(received(i + 1), 1, MPI_INTEGER, peer, i + 1, MPI_COMM_WORLD, pair(2, i))
      call marline_mpi_fulfill(2, pair(:, i), statuses(i), event)
    end if
    !$omp task firstprivate(i) depend(in: received(i))
    if (received(i) /= 100 * peer + i .or. received(i + 1) /= 100 * peer + i + 1) call fail('content', i)
    if (statuses(i)%MPI_SOURCE /= peer .or. statuses(i + 1)%MPI_SOURCE /= peer) call fail('source', i)
    if (statuses(i)%MPI_TAG /= i .or. statuses(i + 1)%MPI_TAG /= i + 1) call fail('tag', i)
    !$omp atomic
    seen = seen + 1
    !$omp end task
  end do
  do i = 1, messages
    !$omp task firstprivate(i) private(requests)
    sent(i) = 100 * rank + i
    call MPI_Isend(sent(i), 1, MPI_INTEGER, peer, i, MPI_COMM_WORLD, requests(1))
    if (mod(i, 2) == 0) then
      call marline_mpi_iwait(requests(1), MPI_STATUS_IGNORE)
    else
      call marline_mpi_iwaitall(1, requests, MPI_STATUSES_IGNORE)
    end if
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  if (seen /= messages / 2) call fail('successors', seen)
  call MPI_Finalize()
  print '(a, i0, a)', 'rank ', rank, ': done'

contains

  subroutine fail(what, where)
    character(*), intent(in) :: what
    integer, intent(in) :: where
    print '(a, i0, 3a, i0)', 'rank ', rank, ': FAILED: ', what, ' ', where
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
