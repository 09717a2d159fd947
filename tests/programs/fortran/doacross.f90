! SPDX-License-Identifier: Apache-2.0
!
! Fortran: doacross loops of one and two dimensions, upwards and downwards, 4- and 8-byte integers.
!
! Covers: for(ordered, schedule:static/dynamic/runtime), ordered(depend:source/sink)
program doacross
  use omp_lib
  implicit none
  integer, parameter :: rows = 30, columns = 20
  integer :: i, j, step
  integer(kind=8) :: k
  integer(kind=8) :: line(0:200), plane(0:rows, 0:columns), serial(0:rows, 0:columns)

  call omp_set_dynamic(.false.)
  do step = 1, 3
    line = 0
    call omp_set_schedule(merge(omp_sched_static, omp_sched_dynamic, step == 1), step)
    !$omp parallel do ordered(1) schedule(runtime)
    do i = 1, 200
      !$omp ordered depend(sink: i - 1)
      line(i) = line(i - 1) + i
      !$omp ordered depend(source)
    end do
    do i = 1, 200
      if (line(i) /= i * (i + 1) / 2) error stop "upwards"
    end do

    line = 0
    !$omp parallel do ordered(1) schedule(dynamic, 3)
    do k = 199, 1, -2
      !$omp ordered depend(sink: k + 2)
      if (k < 199) line(k) = line(k + 2)
      line(k) = line(k) + k
      !$omp ordered depend(source)
    end do
    if (line(1) /= 10000) error stop "downwards"
  end do

  serial = 1
  do i = 1, rows
    do j = 1, columns
      serial(i, j) = mod(serial(i - 1, j) + 2 * serial(i, j - 1) + serial(i - 1, j - 1), 1000003_8)
    end do
  end do
  plane = 1
  !$omp parallel private(i, j)
  !$omp do ordered(2) schedule(static, 1)
  do i = 1, rows
    do j = 1, columns
      !$omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)
      plane(i, j) = mod(plane(i - 1, j) + 2 * plane(i, j - 1) + plane(i - 1, j - 1), 1000003_8)
      !$omp ordered depend(source)
    end do
  end do
  !$omp end do nowait
  !$omp end parallel
  if (any(plane /= serial)) error stop "wavefront"
end program doacross
