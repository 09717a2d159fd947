! SPDX-License-Identifier: Apache-2.0
!
! Fortran: workshare, the combined constructs, data sharing, threadprivate, atomics, and constructs with an end of their
! own clauses (copyprivate, nowait).
!
! Covers: workshare, parallel workshare, parallel sections, parallel master, parallel(private, firstprivate, default,
!  if, copyin), for(private, firstprivate, nowait, schedule:static, linear), single(copyprivate, nowait), master,
!  masked(filter), sections(lastprivate), threadprivate, atomic(capture, read, write), barrier, flush, simd(reduction),
!  declare reduction(initializer), task(if, priority, mergeable), scope(reduction), parallel for simd,
!  omp_get_thread_num, omp_get_level, omp_set_num_threads
module counted
  implicit none
  type count
    integer :: value = 0
  end type
  integer, save :: own = 3
  !$omp threadprivate(own)
end module

program constructs
  use omp_lib
  use counted
  implicit none
  integer :: i, n, team, scratch, base, total, first, second, last, step, before
  real :: a(100), b(100)
  type(count) :: counts
  !$omp declare reduction(add : count : omp_out%value = omp_out%value + omp_in%value) &
  !$omp   initializer(omp_priv = count(0))

  n = omp_get_max_threads()
  call omp_set_num_threads(n)

  a = 1
  b = 0
  !$omp parallel shared(a, b)
  !$omp workshare
  a = a + 2
  where (a > 2) b = 2 * a
  !$omp end workshare
  if (any(b /= 6)) error stop "workshare"
  !$omp end parallel
  !$omp parallel workshare
  b = a + b
  !$omp end parallel workshare
  if (any(b /= 9)) error stop "parallel workshare"

  scratch = 5
  base = 10
  total = 0
  !$omp parallel default(none) shared(total, team) private(scratch) firstprivate(base) if(n > 0)
  !$omp single
  team = omp_get_num_threads()
  !$omp end single
  scratch = omp_get_thread_num()
  base = base + scratch
  !$omp barrier
  if (base /= 10 + omp_get_thread_num()) error stop "private copies"
  if (omp_get_level() /= 1) error stop "level"
  !$omp atomic
  total = total + scratch
  !$omp end parallel
  if (scratch /= 5 .or. base /= 10 .or. total /= team * (team - 1) / 2) error stop "data sharing"

  own = 8
  !$omp parallel copyin(own)
  if (own /= 8) error stop "copyin"
  own = own + omp_get_thread_num()
  !$omp end parallel
  !$omp parallel
  if (own /= 8 + omp_get_thread_num()) error stop "threadprivate"
  !$omp end parallel

  total = 0
  step = 1
  !$omp parallel shared(total) private(scratch, before)
  !$omp do private(scratch) firstprivate(base) schedule(static, 3)
  do i = 1, 100
    scratch = i
    !$omp atomic
    total = total + scratch + base
  end do
  !$omp end do nowait
  !$omp barrier
  if (total /= 5050 + 1000) error stop "do"
  !$omp do linear(step : 2)
  do i = 1, 100
    if (step /= 1 + 2 * (i - 1)) error stop "linear"
    step = step + 2
  end do
  !$omp end do
  !$omp single
  before = 42
  !$omp end single copyprivate(before)
  if (before /= 42) error stop "copyprivate"
  !$omp master
  if (omp_get_thread_num() /= 0) error stop "master"
  !$omp end master
  !$omp masked filter(0)
  if (omp_get_thread_num() /= 0) error stop "masked"
  !$omp end masked
  !$omp single
  total = 0
  !$omp end single nowait
  !$omp end parallel

  first = 0
  second = 0
  !$omp parallel sections lastprivate(last)
  !$omp section
  first = 1
  last = 1
  !$omp section
  second = 2
  last = 2
  !$omp end parallel sections
  if (first /= 1 .or. second /= 2 .or. last /= 2) error stop "sections"

  !$omp parallel master
  total = total + 1
  !$omp end parallel master
  if (total /= 1) error stop "parallel master"

  total = 0
  !$omp parallel private(before, scratch) shared(total)
  !$omp atomic capture
  before = total
  total = total + 1
  !$omp end atomic
  if (before < 0 .or. before >= omp_get_num_threads()) error stop "capture"
  !$omp barrier
  !$omp flush(total)
  !$omp atomic read
  scratch = total
  if (scratch /= omp_get_num_threads()) error stop "read"
  !$omp barrier
  !$omp atomic write
  total = 7
  !$omp end parallel
  if (total /= 7) error stop "write"

  total = 0
  !$omp simd reduction(+:total)
  do i = 1, 100
    total = total + i
  end do
  if (total /= 5050) error stop "simd"
  total = 0
  !$omp parallel do simd reduction(+:total)
  do i = 1, 100
    total = total + i
  end do
  if (total /= 5050) error stop "parallel do simd"
  !$omp parallel do reduction(add:counts)
  do i = 1, 100
    counts%value = counts%value + i
  end do
  if (counts%value /= 5050) error stop "declared reduction"

  total = 0
  !$omp parallel shared(total)
  !$omp scope reduction(+:total)
  total = total + 1
  !$omp end scope
  if (total /= omp_get_num_threads()) error stop "scope"
  !$omp end parallel

  total = 0
  !$omp parallel
  !$omp single
  !$omp task if(.false.) priority(1) mergeable shared(total)
  total = 3
  !$omp end task
  if (total /= 3) error stop "undeferred task"
  !$omp end single
  !$omp end parallel
end program
