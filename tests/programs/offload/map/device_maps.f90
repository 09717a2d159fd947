! SPDX-License-Identifier: Apache-2.0
!
! Fortran data on devices: arrays of every kind, derived types, allocatable arrays, sections, and deferred regions.
!
! Covers: target(map:to/from/tofrom, firstprivate, nowait, depend), target data(map:tofrom),
!   target enter data(map:to), target exit data(map:from), target update(to, from),
!   target teams distribute parallel for(reduction), declare target
module shapes
  implicit none
  integer, parameter :: n = 100
  type :: particle
    real(8) :: x(3) = 0
    integer :: kind = 0
  end type
contains
  integer function twice(i)
    !$omp declare target
    integer, intent(in) :: i
    twice = 2 * i
  end function

  include 'device_check.inc'
end module

program device_maps
  use omp_lib
  use shapes
  implicit none
  call map_types()
  call allocatables()
  call sections(20)
  call derived_types()
  call deferred()
contains
  subroutine map_types()
    integer :: a(n), b(n), c(n), s, i
    a = [(i, i = 1, n)]
    b = 0
    c = 5
    s = 3
    !$omp target map(to: a) map(from: b) map(tofrom: c) firstprivate(s)
    do i = 1, n
      b(i) = twice(a(i)) + s
      c(i) = c(i) + a(i)
    end do
    s = 0
    !$omp end target
    call check(all(b == [(2 * i + 3, i = 1, n)]), 'from')
    call check(all(c == [(i + 5, i = 1, n)]), 'tofrom')
    call check(s == 3, 'firstprivate')
  end subroutine

  subroutine allocatables()
    real(8), allocatable :: v(:), m(:, :)
    real(8) :: total
    integer :: i, j
    allocate (v(n), m(10, 20))
    v = 1
    m = 2
    total = 0
    !$omp target data map(tofrom: v, m)
    !$omp target teams distribute parallel do
    do i = 1, n
      v(i) = v(i) + i
    end do
    !$omp target teams distribute parallel do collapse(2) reduction(+: total) map(tofrom: total)
    do j = 1, 20
      do i = 1, 10
        m(i, j) = m(i, j) * j
        total = total + m(i, j)
      end do
    end do
    !$omp target update from(v)
    call check(v(n) == n + 1, 'update from')
    !$omp end target data
    call check(m(10, 20) == 40, 'allocatable matrix')
    call check(total == 4200, 'reduction')
  end subroutine

  subroutine sections(k)
    integer, intent(in) :: k
    integer :: a(0:n - 1), i
    a = 1
    !$omp target enter data map(to: a(k:2 * k))
    !$omp target map(tofrom: a(k:2 * k))
    do i = k, 2 * k
      a(i) = i
    end do
    !$omp end target
    !$omp target exit data map(from: a(k:2 * k))
    call check(a(k) == k .and. a(2 * k) == 2 * k, 'section')
    call check(a(k - 1) == 1 .and. a(2 * k + 1) == 1, 'outside the section')
  end subroutine

  subroutine derived_types()
    type(particle) :: p, many(10)
    integer :: i
    p%kind = 4
    !$omp target map(tofrom: p, many)
    p%x(2) = p%kind
    do i = 1, 10
      many(i)%kind = i
      many(i)%x(1) = i
    end do
    !$omp end target
    call check(p%x(2) == 4, 'derived type')
    call check(sum(many%kind) == 55, 'array of derived types')
  end subroutine

  subroutine deferred()
    integer :: x, y, i
    x = 0
    y = 0
    !$omp parallel
    !$omp single
    do i = 1, 10
      !$omp target nowait map(tofrom: x) depend(inout: x)
      x = x + 1
      !$omp end target
      !$omp task depend(inout: x) shared(x, y)
      y = y + x
      !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    call check(x == 10, 'deferred regions')
    call check(y == 55, 'tasks between them')
  end subroutine
end program
