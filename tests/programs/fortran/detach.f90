! SPDX-License-Identifier: Apache-2.0
!
! Fortran: detach. omp_fulfill_event takes the handle by value, as omp_lib declares it. Events are fulfilled by the task
! itself, by a later task, and before the body has ended; taskwait, dependences and the region's end wait for them.
!
! Covers: task(detach, depend:in/out, firstprivate), omp_fulfill_event
program detach
  use omp_lib
  implicit none
  integer, parameter :: n = 50
  integer(kind=omp_event_handle_kind) :: event, events(n)
  integer :: i, done, order

  ! A chain of events: each task fulfils that of the one before.
  done = 0
  !$omp parallel
  !$omp single
  do i = 1, n
    !$omp task detach(event)
    !$omp atomic
    done = done + 1
    !$omp end task
    events(i) = event
  end do
  !$omp task shared(events) private(i)
  do i = n, 1, -1
    call omp_fulfill_event(events(i))
  end do
  !$omp end task
  !$omp taskwait
  if (done /= n) error stop "taskwait"
  !$omp end single
  !$omp end parallel

  ! A successor starts after the event, not after the body.
  order = 0
  !$omp parallel
  !$omp single
  do i = 1, n
    !$omp task depend(out: order) detach(event)
    !$omp end task
    !$omp task firstprivate(event, i)
    !$omp atomic
    done = done - 1
    call omp_fulfill_event(event)
    !$omp end task
    !$omp task depend(in: order) firstprivate(i)
    !$omp atomic
    order = order + 1
    !$omp end task
    !$omp taskwait
    if (done /= n - i) error stop "event"
    if (order /= i) error stop "successor"
  end do
  !$omp end single
  !$omp end parallel

  ! By the task itself.
  !$omp parallel
  !$omp single
  !$omp taskgroup
  do i = 1, n
    !$omp task detach(event) firstprivate(i)
    call omp_fulfill_event(event)
    !$omp atomic
    done = done + i
    !$omp end task
  end do
  !$omp end taskgroup
  if (done /= n * (n + 1) / 2) error stop "taskgroup"
  !$omp end single
  !$omp end parallel
end program detach
