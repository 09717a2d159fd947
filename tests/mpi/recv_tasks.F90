! SPDX-License-Identifier: Apache-2.0
!
! Fortran through the mpi module or, with MPIF_H, through mpif.h: blocking receives in tasks, created before the sends,
! on two ranks of one thread. The wrappers that translate to C are part of the MPI library, and yet their calls are the
! program's.
program recv_tasks
#ifndef MPIF_H
  use mpi
#endif
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: messages = 64
  integer :: rank, peer, error, i, total
  integer :: received(messages), sent(messages)
  integer :: statuses(MPI_STATUS_SIZE, messages), sum_in_task, mine

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  peer = 1 - rank
  received = -1
  sum_in_task = -1
  mine = rank + 1
  !$omp parallel num_threads(1)
  !$omp single
  do i = 1, messages
    !$omp task firstprivate(i)
    call MPI_Recv(received(i), 1, MPI_INTEGER, peer, i, MPI_COMM_WORLD, statuses(:, i), error)
    !$omp end task
  end do
  do i = 1, messages
    !$omp task firstprivate(i)
    sent(i) = 100 * rank + i
    call MPI_Send(sent(i), 1, MPI_INTEGER, peer, i, MPI_COMM_WORLD, error)
    !$omp end task
  end do
  !$omp task
  call MPI_Allreduce(mine, sum_in_task, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  !$omp end task
  !$omp end single
  !$omp end parallel
  do i = 1, messages
    if (received(i) /= 100 * peer + i) call fail('content', i)
    if (statuses(MPI_SOURCE, i) /= peer) call fail('source', i)
    if (statuses(MPI_TAG, i) /= i) call fail('tag', i)
  end do
  if (sum_in_task /= 3) call fail('sum', sum_in_task)
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (total /= 1) call fail('sum in place', total)
  call MPI_Finalize(error)
  print '("rank ", i0, ": done")', rank

contains

  subroutine fail(what, which)
    character(*), intent(in) :: what
    integer, intent(in) :: which
    integer :: ignored
    print '("rank ", i0, ": FAILED: ", a, " of ", i0)', rank, what, which
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine fail
end program recv_tasks
