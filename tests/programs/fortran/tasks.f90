! SPDX-License-Identifier: Apache-2.0
!
! Fortran: tasks with dependences on array elements, taskgroup, taskloop, task reductions, arrays as firstprivate.
!
! Covers: parallel(shared), single, task(final, untied, firstprivate, shared, in_reduction, depend:in/inout),
!  taskloop(grainsize, reduction), taskgroup(task_reduction), taskwait, taskyield, omp_in_final
program tasks
  use omp_lib
  implicit none
  integer, parameter :: n = 64
  integer :: i, step, cells(n), total
  integer :: block(100)
  real(kind=8) :: x, y

  cells = 0
  !$omp parallel
  !$omp single
  do step = 1, 20
    do i = 2, n
      !$omp task depend(in: cells(i - 1)) depend(inout: cells(i)) firstprivate(i, step)
      if (cells(i) /= step - 1) error stop "inout"
      if (i > 2 .and. cells(i - 1) /= step) error stop "in"
      cells(i) = step
      !$omp end task
    end do
  end do
  !$omp end single
  !$omp end parallel
  if (any(cells(2:) /= 20)) error stop "wavefront"

  total = 0
  !$omp parallel shared(total)
  !$omp single
  !$omp taskgroup
  do i = 1, 50
    block = i
    !$omp task firstprivate(block, i) untied
    if (any(block /= i)) error stop "firstprivate array"
    !$omp taskyield
    !$omp task shared(total)
    !$omp atomic
    total = total + 1
    !$omp end task
    !$omp end task
  end do
  !$omp end taskgroup
  if (total /= 50) error stop "taskgroup"
  !$omp taskloop grainsize(7) reduction(+:total)
  do i = 1, 100
    total = total + i
  end do
  !$omp end taskloop
  if (total /= 5100) error stop "taskloop reduction"
  !$omp end single
  !$omp end parallel

  x = 0
  !$omp parallel
  !$omp single
  !$omp taskgroup task_reduction(+:x)
  do i = 1, 40
    !$omp task in_reduction(+:x) firstprivate(i)
    x = x + i
    !$omp end task
  end do
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel
  if (x /= 820d0) error stop "task reduction"

  y = 1
  !$omp parallel
  !$omp single
  do i = 1, 10
    !$omp task depend(inout: y) shared(y)
    y = y * 2
    !$omp end task
  end do
  !$omp taskwait
  if (y /= 1024d0) error stop "taskwait"
  !$omp task final(.true.) shared(y)
  if (.not. omp_in_final()) error stop "final"
  y = 0
  !$omp end task
  !$omp end single
  !$omp end parallel
  if (y /= 0d0) error stop "final task lost"
end program tasks
