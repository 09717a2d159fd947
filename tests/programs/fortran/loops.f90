! SPDX-License-Identifier: Apache-2.0
!
! Fortran: regions, loops, reductions, sections, critical, locks and the omp_lib routines, which gfortran calls by
! names of their own (omp_set_num_threads_, omp_set_lock_, ...).
!
! Covers: parallel(num_threads, reduction), parallel for, for(schedule:dynamic/guided/runtime, collapse, ordered,
!  lastprivate, reduction), ordered, sections, section, single, critical, omp_get_num_threads, omp_get_max_threads,
!  omp_in_parallel, omp_get_dynamic, omp_set_schedule, omp_get_schedule, omp_init_lock, omp_destroy_lock,
!  omp_set_lock, omp_unset_lock, omp_get_wtime
program loops
  use omp_lib
  implicit none
  integer :: n, i, j, threads, total, last, chunk
  integer(kind=omp_sched_kind) :: kind
  integer(kind=8) :: big, k
  real(kind=8) :: sum, start, a(100), cells(10)
  integer(kind=omp_lock_kind) :: lock

  n = omp_get_max_threads()
  call omp_set_dynamic(.false.)
  if (omp_get_dynamic()) error stop "dynamic is set"
  if (omp_in_parallel()) error stop "in parallel outside a region"
  start = omp_get_wtime()

  threads = 0
  !$omp parallel num_threads(n) reduction(+:threads)
  threads = threads + 1
  if (omp_get_num_threads() /= n) error stop "team size"
  !$omp end parallel
  if (threads /= n) error stop "reduction over threads"

  sum = 0
  cells = 0
  !$omp parallel do schedule(dynamic, 3) reduction(+:sum, cells) lastprivate(last)
  do i = 100, 1, -1
    a(i) = i
    sum = sum + i
    cells(mod(i, 10) + 1) = cells(mod(i, 10) + 1) + 1
    last = i
  end do
  if (sum /= 5050d0 .or. last /= 1 .or. any(cells /= 10)) error stop "parallel do"

  big = 0
  !$omp parallel do schedule(guided) reduction(max:big)
  do k = 2_8**40, 2_8**40 + 1000, 7
    big = max(big, k)
  end do
  if (big /= 2_8**40 + 994) error stop "64-bit loop"

  total = 0
  !$omp parallel do collapse(2) reduction(+:total)
  do i = 1, 10
    do j = 1, 10
      total = total + i * j
    end do
  end do
  if (total /= 3025) error stop "collapse"

  call omp_set_schedule(omp_sched_dynamic, 5)
  call omp_get_schedule(kind, chunk)
  if (kind /= omp_sched_dynamic .or. chunk /= 5) error stop "schedule"
  call omp_init_lock(lock)
  total = 0
  last = 0
  !$omp parallel
  !$omp do schedule(runtime) ordered
  do i = 1, 50
    !$omp ordered
    if (last /= i - 1) error stop "ordered"
    last = i
    !$omp end ordered
    call omp_set_lock(lock)
    total = total + 1
    call omp_unset_lock(lock)
  end do
  !$omp end do
  !$omp sections
  !$omp section
  a(1) = -1
  !$omp section
  a(2) = -2
  !$omp end sections
  !$omp single
  total = total + 1000
  !$omp end single
  !$omp critical (adding)
  total = total + 1
  !$omp end critical (adding)
  !$omp end parallel
  call omp_destroy_lock(lock)
  if (total /= 1050 + n .or. a(1) /= -1 .or. a(2) /= -2) error stop "worksharing"
  if (omp_get_wtime() < start) error stop "clock"
end program loops
