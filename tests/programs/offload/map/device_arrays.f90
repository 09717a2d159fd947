! SPDX-License-Identifier: Apache-2.0
!
! What Fortran passes with a descriptor: pointers, optional and assumed-shape arguments, text, arrays that are allocated
! after they have been mapped, and variables of modules.
!
! Covers: target(map:tofrom), target data(map:tofrom, use_device_addr), target(has_device_addr),
!   target enter data(map:to), target exit data(map:from), target update(to, from), declare target(to)
module device_arrays_module
  implicit none
  integer :: declared = 7
  real(8) :: declared_array(5) = 1d0
  !$omp declare target(declared, declared_array)
  integer, allocatable :: of_module(:)
contains
  include 'device_check.inc'

  subroutine shapes(z, n, y)
    integer, intent(in) :: n
    integer :: z(n)
    integer :: y(:)
    !$omp target map(tofrom: z, y)
    z(1) = 4
    y(1) = 2
    y(size(y)) = 9
    !$omp end target
    !$omp target data map(z) use_device_addr(z)
    !$omp target has_device_addr(z)
    z(2) = 40
    !$omp end target
    !$omp end target data
    call check(z(1) == 4 .and. z(2) == 40, 'explicit shape')
    call check(y(1) == 2 .and. y(size(y)) == 9, 'assumed shape')
  end subroutine

  integer function sum_present(a, b) result(r)
    integer, optional :: a, b(:)
    r = 0
    !$omp target map(tofrom: a, b, r)
    if (present(a)) r = r + a
    if (present(b)) r = r + b(1)
    !$omp end target
  end function
end module

program device_arrays
  use device_arrays_module
  implicit none
  integer :: grid(3, 4) = 3, plain(10) = 2, five = 5
  call shapes(plain, 10, grid(3, 2:))
  call shapes(grid(:, 1), 3, plain(1:9:2))
  plain(1) = 20
  call check(sum_present() == 0, 'nothing is present')
  call check(sum_present(five, plain) == 25, 'both are present')
  call pointers()
  call text()
  call late_allocation()
  call mapped_twice()
  call module_variables()
contains
  subroutine pointers()
    type :: holder
      integer :: n
      integer, pointer :: p(:)
    end type
    type(holder) :: h
    integer, pointer :: p(:)
    allocate(p(5), h%p(4))
    p = 3
    h%p = 1
    !$omp target map(tofrom: p)
    p(2) = 5
    !$omp end target
    !$omp target map(tofrom: h%p)
    h%p(3) = 8
    !$omp end target
    call check(p(2) == 5 .and. p(3) == 3, 'pointer')
    call check(h%p(3) == 8 .and. h%p(4) == 1, 'component that is a pointer')
    deallocate(p, h%p)
  end subroutine

  subroutine text()
    character(len=5) :: fixed
    character(len=:), allocatable :: deferred
    real(8), allocatable :: scalar
    fixed = 'abcde'
    deferred = 'hello'
    allocate(scalar)
    scalar = 1d0
    !$omp target map(tofrom: fixed, deferred, scalar)
    fixed(1:1) = 'x'
    deferred(1:1) = 'j'
    scalar = scalar + 1
    !$omp end target
    call check(fixed == 'xbcde' .and. deferred == 'jello', 'text')
    call check(abs(scalar - 2d0) < 1d-9, 'scalar that is allocated')
  end subroutine

  ! The descriptor is mapped before the array has memory.
  subroutine late_allocation()
    integer, allocatable :: a(:)
    integer :: seen
    !$omp target map(tofrom: a) map(from: seen)
    seen = merge(1, 0, allocated(a))
    !$omp end target
    call check(seen == 0, 'not allocated')
    !$omp target enter data map(to: a)
    allocate(a(4))
    a = 2
    !$omp target map(tofrom: a)
    a(2) = a(1) + size(a)
    !$omp end target
    call check(a(2) == 6 .and. a(4) == 2, 'allocated after the map')
  end subroutine

  subroutine mapped_twice()
    integer, allocatable :: a(:)
    integer :: round
    do round = 1, 3
      allocate(a(10 * round))
      a = 1
      !$omp target enter data map(to: a)
      !$omp target enter data map(to: a)
      !$omp target
      a(5) = round
      !$omp end target
      !$omp target exit data map(from: a)
      !$omp target update from(a(5:5))
      call check(a(5) == round, 'update while mapped')
      !$omp target exit data map(from: a)
      deallocate(a)
    end do
  end subroutine

  subroutine module_variables()
    integer :: seen, i
    allocate(of_module(5))
    of_module = 1
    !$omp target data map(tofrom: of_module)
    !$omp target teams distribute parallel do
    do i = 1, 5
      of_module(i) = i
    end do
    !$omp end target data
    call check(all(of_module == [1, 2, 3, 4, 5]), 'allocatable of a module')
    declared = 9
    !$omp target update to(declared)
    !$omp target map(from: seen)
    seen = declared
    declared_array(2) = 5d0
    declared = 11
    !$omp end target
    !$omp target update from(declared, declared_array)
    call check(seen == 9 .and. declared == 11, 'declared variable')
    call check(abs(declared_array(2) - 5d0) < 1d-9, 'declared array')
  end subroutine
end program
