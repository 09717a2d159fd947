! SPDX-License-Identifier: Apache-2.0
!
! tests/e2e/report/test_loops.py: a `do` loop in which the second of two threads works four times as long.
program loops
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  integer :: i, step
  integer(c_int) :: ended(4)

  do step = 1, 3
    !$omp parallel do schedule(static)  ! UNEQUAL
    do i = 1, 4
      ended(i) = usleep(merge(5000, 20000, i <= 2))
    end do
    !$omp end parallel do
  end do
  if (any(ended /= 0)) error stop 1
end program
