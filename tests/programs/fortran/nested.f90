! SPDX-License-Identifier: Apache-2.0
!
! Fortran: regions inside regions, with teams of several threads at three levels.
!
! Covers: parallel(num_threads, private, firstprivate, copyin, reduction), threadprivate, omp_set_max_active_levels,
!  omp_get_max_active_levels, omp_get_level, omp_get_ancestor_thread_num, omp_get_team_size, omp_get_active_level
program nested
  use omp_lib
  implicit none
  integer :: n, first, second, third, leaves, sum, i
  integer, save :: counter = 0
  !$omp threadprivate(counter)

  call omp_set_dynamic(.false.)
  call omp_set_max_active_levels(3)
  if (omp_get_max_active_levels() /= 3) error stop "max_active_levels"
  n = omp_get_max_threads()
  if (omp_get_ancestor_thread_num(-huge(0_8)) /= -1 .or. omp_get_team_size(-huge(0_8)) /= -1) error stop "far below"
  if (omp_get_ancestor_thread_num(huge(0_8)) /= -1 .or. omp_get_team_size(huge(0_8)) /= -1) error stop "far above"
  leaves = 0
  sum = 0
  !$omp parallel num_threads(n) private(first) reduction(+: leaves, sum)
  first = omp_get_thread_num()
  counter = first
  !$omp parallel num_threads(2) private(second) firstprivate(first) reduction(+: leaves, sum) copyin(counter)
  second = omp_get_thread_num()
  if (counter /= first) error stop "copyin"
  if (omp_get_num_threads() /= 2) error stop "size of the second level"
  !$omp parallel num_threads(3) private(third) firstprivate(first, second) reduction(+: leaves, sum)
  third = omp_get_thread_num()
  if (omp_get_level() /= 3) error stop "level"
  if (omp_get_num_threads() /= 3) error stop "size of the third level"
  if (omp_get_ancestor_thread_num(1) /= first) error stop "ancestor 1"
  if (omp_get_ancestor_thread_num(2) /= second) error stop "ancestor 2"
  if (omp_get_ancestor_thread_num(3) /= third) error stop "ancestor 3"
  if (omp_get_team_size(1) /= n .or. omp_get_team_size(2) /= 2 .or. omp_get_team_size(3) /= 3) error stop "sizes"
  if (omp_get_active_level() /= merge(3, 2, n > 1)) error stop "active level"
  leaves = leaves + 1
  !$omp do schedule(dynamic)
  do i = 1, 100
    sum = sum + i
  end do
  !$omp end do
  !$omp end parallel
  !$omp end parallel
  !$omp end parallel
  if (leaves /= 6 * n) error stop "leaves"
  if (sum /= 2 * n * 5050) error stop "sum"
end program nested
