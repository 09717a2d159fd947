! SPDX-License-Identifier: Apache-2.0
!
! The Fortran face of cancelling later tasks.
!
! Covers: marline later cancellation
program later
  use marline
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: ran(20), i
  ran = 0
  !$omp parallel
  !$omp single
  !$omp taskgroup
  do i = 1, 20
    if (marline_taskgroup_cancelled() /= merge(1, 0, i > 8)) error stop 'cancelled too early or too late'
    !$omp task firstprivate(i) shared(ran)
    ran(i) = ran(i) + 1
    !$omp end task
    if (i == 8) call marline_taskgroup_cancel_later()
  end do
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel
  if (any(ran(1:8) /= 1)) error stop 'an earlier task did not run'
  if (any(ran(9:) /= 0)) error stop 'a later task ran'
end program later
