! SPDX-License-Identifier: Apache-2.0
!
! Target constructs in Fortran where the host is the only device.
!
! Covers: target(map, firstprivate, depend, nowait), target data(map), target enter data(map, nowait, depend),
!  target update, target teams distribute parallel for(reduction), declare target, omp_is_initial_device
module scaled
  implicit none
contains
  integer function twice(x)
    !$omp declare target
    integer, intent(in) :: x
    twice = 2 * x
  end function
end module

program target_host
  use omp_lib
  use scaled
  implicit none
  integer :: i, value, total, seen(8), chained
  integer, allocatable :: array(:)
  logical :: initial

  allocate(array(100))
  initial = .false.
  !$omp target map(from: array) map(tofrom: initial)
  initial = omp_is_initial_device()
  do i = 1, 100
    array(i) = twice(i)
  end do
  !$omp end target
  if (.not. initial) stop 1
  if (sum(array) /= 10100) stop 2

  !$omp parallel
  !$omp single
  do i = 1, 8
    value = i
    !$omp target nowait firstprivate(value, i) map(tofrom: seen)
    seen(i) = value
    !$omp end target
  end do
  value = -1
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  if (any(seen /= [(i, i = 1, 8)])) stop 3

  chained = 0
  !$omp parallel
  !$omp single
  do i = 1, 50
    !$omp target nowait map(tofrom: chained) depend(inout: chained)
    chained = chained + 1
    !$omp end target
    !$omp target enter data map(to: chained) depend(inout: chained) nowait
    !$omp task depend(inout: chained) shared(chained)
    chained = chained * 2 - chained
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  if (chained /= 50) stop 4

  total = 0
  !$omp target data map(tofrom: array)
  !$omp target teams distribute parallel do reduction(+: total) map(tofrom: total)
  do i = 1, 100
    total = total + array(i)
  end do
  !$omp end target teams distribute parallel do
  !$omp target update from(array)
  !$omp end target data
  if (total /= 10100) stop 5
end program
