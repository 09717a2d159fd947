! SPDX-License-Identifier: Apache-2.0
!
! What random Fortran target programs have in common (generate.py): their objects, what must come out, and a serial
! reference. A generated file defines ELEMENT, the type of all elements, CONVERT(x) to it, and includes this.
!
! An object is a run of elements that the program has in one of many forms: a plain array, an allocatable one, what a
! pointer is associated with, a component. It has four blocks, with a dependence object each. The device has nothing of
! it, or one range that begins and ends with blocks; a construct names blocks that all lie in that range, or none.
!
! Covers: target update(from), target exit data(map:delete, map:from), declare target, taskwait
module model
  implicit none
  integer, parameter :: objects = 8, blocks = 4, longest = 24, scalars = 2
  integer, parameter :: o_plain = 1, o_grown = 2, o_aimed = 3, o_whole = 4, o_linked = 5

  type storage
    ELEMENT, pointer, contiguous :: v(:) => null()
  end type
  type fixed_part
    integer :: before = 11
    ELEMENT :: f(longest)
    integer :: behind = 22
  end type
  type pointer_part
    integer :: before = 33
    ELEMENT, pointer :: p(:) => null()
    integer :: behind = 44
  end type

  type assorted_parts
    ELEMENT :: n
    ELEMENT, pointer :: a(:) => null()
    ELEMENT, pointer :: sole => null()
    ELEMENT :: f(4)
    ELEMENT, pointer :: p(:) => null()
  end type

  ELEMENT, target :: plain(longest)
  ELEMENT, allocatable, target :: grown(:)
  ELEMENT, pointer :: aimed(:)
  type(fixed_part), target :: whole
  type(pointer_part), target :: linked
  ELEMENT, target :: room(4 * longest)   ! of the objects that lie side by side, and of what `aimed` is associated with
  ELEMENT, allocatable :: lone
  ELEMENT, pointer :: sole

  type(storage) :: host(objects)
  integer :: length(objects), first(objects), last(objects)  ! the blocks that the device has; 0: none
  logical :: through_component(objects)                      ! it has them by the component's name
  ELEMENT :: h(longest, objects), d(longest, objects)        ! on the host, on the device
  ELEMENT :: h_scalar(scalars), d_scalar(scalars)
  logical :: scalar_is_there(scalars)
  integer(1) :: cell(blocks, objects), scalar_cell(scalars)  ! dependence objects
  integer :: state, seed, steps = 30
  character(:), allocatable :: trace
  logical :: singly = .false.  ! each operation is awaited and looked at: to find the wrong one

contains

  integer function draw(below)
    integer, intent(in) :: below
    state = int(mod(int(state, 8) * 48271_8, 2147483647_8))
    draw = mod(state / 7, below)
  end function

  pure ELEMENT function next(x, i, salt)
    ELEMENT, intent(in) :: x
    integer, intent(in) :: i, salt
    ELEMENT, parameter :: modulus = 10007
    !$omp declare target
    next = mod(CONVERT(3 * x + 7 * i + salt), modulus)
  end function

  pure ELEMENT function fresh(i, salt)
    integer, intent(in) :: i, salt
    !$omp declare target
    fresh = CONVERT(mod(31 * i + salt, 10007))
  end function

  integer function begin_of(o, b)
    integer, intent(in) :: o, b
    begin_of = (b - 1) * (length(o) / blocks) + 1
  end function

  integer function end_of(o, b)
    integer, intent(in) :: o, b
    end_of = b * (length(o) / blocks)
  end function

  logical function is_there(o, b)
    integer, intent(in) :: o, b
    is_there = b >= first(o) .and. b <= last(o)
  end function

  ! The cells of these blocks, the last one several times.
  function cells(b1, b2) result(c)
    integer, intent(in) :: b1, b2
    integer :: c(blocks), k
    c = [(min(b1 + k, b2), k = 0, blocks - 1)]
  end function

  ! `only`: of this object, if it is not 0. Blocks that the device has, or nothing that it has.
  logical function choose(only, o, b1, b2)
    integer, intent(in) :: only
    integer, intent(out) :: o, b1, b2
    integer :: k
    o = only
    if (o == 0) o = 1 + draw(objects)
    b1 = 1 + draw(blocks)
    b2 = b1 + draw(blocks - b1 + 1)
    choose = all([(is_there(o, k) .eqv. is_there(o, b1), k = b1, b2)])
  end function

  logical function choose_all(only, o)
    integer, intent(in) :: only
    integer, intent(out) :: o
    integer :: b1, b2
    choose_all = choose(only, o, b1, b2)
    choose_all = first(o) == 0 .or. (first(o) == 1 .and. last(o) == blocks)
  end function

  ! The reference ------------------------------------------------------------------------------------------------------

  subroutine refer_begin(o, b1, b2, to, always)
    integer, intent(in) :: o, b1, b2
    logical, intent(in) :: to, always
    integer :: lo, hi
    lo = begin_of(o, b1)
    hi = end_of(o, b2)
    if (to .and. (always .or. .not. is_there(o, b1))) d(lo:hi, o) = h(lo:hi, o)
  end subroutine

  subroutine refer_end(o, b1, b2, from, always)
    integer, intent(in) :: o, b1, b2
    logical, intent(in) :: from, always
    integer :: lo, hi
    lo = begin_of(o, b1)
    hi = end_of(o, b2)
    if (from .and. (always .or. .not. is_there(o, b1))) h(lo:hi, o) = d(lo:hi, o)
  end subroutine

  subroutine refer_kernel(o, b1, b2, fills, salt)
    integer, intent(in) :: o, b1, b2, salt
    logical, intent(in) :: fills
    integer :: i
    do i = begin_of(o, b1), end_of(o, b2)
      if (fills) d(i, o) = fresh(i, salt)
      if (.not. fills) d(i, o) = next(d(i, o), i, salt)
    end do
  end subroutine

  subroutine refer_region(o, b1, b2, to, from, always, fills, salt)
    integer, intent(in) :: o, b1, b2, salt
    logical, intent(in) :: to, from, always, fills
    call refer_begin(o, b1, b2, to, always)
    call refer_kernel(o, b1, b2, fills, salt)
    call refer_end(o, b1, b2, from, always)
  end subroutine

  ! Each element also depends on one of the other object's blocks.
  subroutine refer_two(o, b1, b2, q, c1, c2, salt)
    integer, intent(in) :: o, b1, b2, q, c1, c2, salt
    integer :: i, lo, n
    call refer_begin(o, b1, b2, .true., .false.)
    call refer_begin(q, c1, c2, .true., .false.)
    lo = begin_of(q, c1)
    n = end_of(q, c2) - lo + 1
    do i = begin_of(o, b1), end_of(o, b2)
      d(i, o) = next(d(lo + mod(i, n), q), i, salt)
    end do
    call refer_end(o, b1, b2, .true., .false.)
  end subroutine

  subroutine refer_scalar(k, salt)
    integer, intent(in) :: k, salt
    if (.not. scalar_is_there(k)) d_scalar(k) = h_scalar(k)
    d_scalar(k) = next(d_scalar(k), k, salt)
    if (.not. scalar_is_there(k)) h_scalar(k) = d_scalar(k)
  end subroutine

  ! The program's begin and end
  ! -----------------------------------------------------------------------------------------

  subroutine begin_objects()
    integer :: o, low, i
    trace = ''
    length = [(8 * (1 + draw(longest / 8)), o = 1, objects)]
    length([o_plain, o_whole]) = longest
    low = draw(6) - 2
    allocate(grown(low:low + length(o_grown) - 1), linked%p(length(o_linked)), lone, sole)
    aimed => room(4:3 + length(o_aimed))
    host(o_plain)%v => plain
    host(o_grown)%v(1:) => grown
    host(o_aimed)%v => aimed
    host(o_whole)%v => whole%f
    host(o_linked)%v => linked%p
    host(6)%v => room(2 * longest + 1:2 * longest + length(6))
    host(7)%v => room(2 * longest + length(6) + 1:2 * longest + length(6) + length(7))
    allocate(host(8)%v(length(8)))
    first = 0
    last = 0
    through_component = .false.
    scalar_is_there = .false.
    do o = 1, objects
      do i = 1, length(o)
        host(o)%v(i) = fresh(i, 100 * o)
        h(i, o) = host(o)%v(i)
      end do
    end do
    lone = 5
    sole = 6
    h_scalar = [lone, sole]
  end subroutine

  subroutine end_objects()
    integer :: o, n
    call check_host()
    do o = 1, objects
      if (first(o) == 0) cycle
      n = length(o)
      associate (lo => begin_of(o, first(o)), hi => end_of(o, last(o)))
        call bring_back(host(o)%v, n, lo, hi)
        if (any(host(o)%v(lo:hi) /= d(lo:hi, o))) call wrong('on the device', o)
      end associate
    end do
    if (scalar_is_there(1)) then
      !$omp target exit data map(from: lone)
      h_scalar(1) = d_scalar(1)
    end if
    if (scalar_is_there(2)) then
      !$omp target exit data map(from: sole)
      h_scalar(2) = d_scalar(2)
    end if
    if (lone /= h_scalar(1) .or. sole /= h_scalar(2)) call wrong('a scalar on the device', 0)
    deallocate(grown, linked%p, lone, sole, host(8)%v)
  end subroutine

  subroutine bring_back(a, n, lo, hi)
    integer, intent(in) :: n, lo, hi
    ELEMENT :: a(n)
    !$omp target update from(a(lo:hi))
    !$omp target exit data map(delete: a(lo:hi))
  end subroutine

  subroutine note(name, o, b1, b2)
    character(*), intent(in) :: name
    integer, intent(in) :: o, b1, b2
    character(60) :: text
    write (text, '(1x, a, a, i0, a, i0, a, i0, a)') name, '(', o, ': ', b1, '-', b2, ')'
    if (singly) call check_host()
    trace = trace // trim(text)
  end subroutine

  subroutine check_host()
    integer :: o
    !$omp taskwait
    do o = 1, objects
      if (any(host(o)%v(:length(o)) /= h(:length(o), o))) call wrong('on the host', o)
    end do
    if (lone /= h_scalar(1) .or. sole /= h_scalar(2)) call wrong('a scalar', 0)
    if (whole%before /= 11 .or. whole%behind /= 22 .or. linked%before /= 33 .or. linked%behind /= 44) &
      call wrong('beside a component', 0)
  end subroutine

  subroutine wrong(what, o)
    character(*), intent(in) :: what
    integer, intent(in) :: o
    print '(a, i0, 3a, i0)', 'seed ', seed, ': wrong ', what, ', object ', o
    print '(a)', 'steps:' // trace
    error stop 1
  end subroutine
end module
