! SPDX-License-Identifier: Apache-2.0
!
! The module `marline`: affinity from Fortran, on a described machine of two NUMA domains. Every task runs, once.
!
! Covers: marline locality
program affinity
  use, intrinsic :: iso_c_binding
  use marline
  implicit none
  integer, parameter :: blocks = 64, n = 1024
  real(c_double), allocatable, target :: x(:, :)
  integer :: b

  allocate (x(n, blocks))
  x = 0
  !$omp parallel
  !$omp single
  do b = 1, blocks
    call marline_task_affinity(c_loc(x(1, b)), int(n * 8, c_size_t))
    !$omp task firstprivate(b) shared(x)
    x(:, b) = x(:, b) + b
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  do b = 1, blocks
    if (any(x(:, b) /= b)) error stop "a task did not run, or twice"
  end do
end program
