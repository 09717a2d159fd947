! SPDX-License-Identifier: Apache-2.0
!
! Fortran arrays with descriptors in regions that a cluster is sent ahead: pointers that change their bounds between
! regions, arrays that come and go, components, and persistent graphs of such regions; against the same on the host.
!
! Covers: target(nowait, depend, map:tofrom, firstprivate), target enter data(map:to, nowait),
!   target exit data(map:from, nowait)
module cluster_descriptors_module
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: long = c_int64_t, cells = 24, blocks = 3
  integer :: seed = 12345
  type block
    integer(long), pointer :: a(:), b(:, :)
  end type
contains
  include '../map/device_check.inc'

  integer function draw(below)
    integer, intent(in) :: below
    seed = mod(seed * 1103 + 12345, 1000003)
    draw = mod(seed / 7, below)
  end function

  ! What a region does with the part of an array that it sees.
  integer(long) function next(value, at, number)
    integer(long), intent(in) :: value
    integer, intent(in) :: at, number
    !$omp declare target
    next = mod(3 * value + at + number, 1000003_long)
  end function
end module

program cluster_descriptors
  use cluster_descriptors_module
  use marline
  implicit none
  call parts_of_an_array()
  !$omp parallel
  !$omp single
  call arrays_that_come_and_go()
  !$omp end single
  !$omp end parallel
  call components()
  call graphs()
  print '(a)', 'good=1'
contains
  ! The pointer is mapped once, and gets another part, or other bounds alone, when nothing is under way.
  subroutine parts_of_an_array()
    integer(long), target :: x(cells)
    integer(long), pointer :: p(:)
    integer(long) :: expected(cells)
    integer :: round, link, first, last, low, i, number
    x = 1
    expected = 1
    p => x
    first = 1
    low = 1
    !$omp target enter data map(to: x, p)
    !$omp parallel
    !$omp single
    number = 0
    do round = 1, 30
      if (draw(4) /= 0) then
        if (draw(2) == 0) first = 1 + draw(cells / 2)
        last = first + draw(cells / 2)
        low = draw(5) - 2
        p(low:) => x(first:last)
      end if
      ! Once more, ahead of the regions: the pointer is attached already, or not.
      !$omp target enter data map(to: p) depend(inout: x) nowait
      do link = 1, 4
        number = number + 1
        !$omp target nowait depend(inout: x) map(tofrom: p) firstprivate(number) private(i)
        do i = lbound(p, 1), ubound(p, 1)
          p(i) = next(p(i), i, number)
        end do
        !$omp end target
        do i = lbound(p, 1), ubound(p, 1)
          expected(first + i - low) = next(expected(first + i - low), i, number)
        end do
      end do
      !$omp target exit data map(release: p) depend(inout: x) nowait
      !$omp taskwait
    end do
    !$omp end single
    !$omp end parallel
    !$omp target exit data map(release: p) map(from: x)
    call check(all(x == expected), 'parts of an array')
  end subroutine

  ! Enter data, regions and exit data of arrays of other sizes, often at the same address; or regions that bring them.
  subroutine arrays_that_come_and_go()
    integer(long), allocatable :: a(:), b(:, :), ea(:), eb(:, :)
    integer :: round, link, i, number, last, columns
    logical :: kept
    number = 0
    do round = 1, 30
      last = 3 + draw(cells)
      columns = 1 + draw(6)
      allocate(a(2:last), b(0:1, columns))
      a = round
      b = -round
      ea = a
      eb = b
      kept = draw(2) == 0
      if (kept) then
        !$omp target enter data map(to: a, b) depend(out: a) nowait
      end if
      do link = 1, 3
        number = number + 1
        !$omp target nowait depend(inout: a) map(tofrom: a, b) firstprivate(number) private(i)
        do i = lbound(a, 1), ubound(a, 1)
          a(i) = next(a(i), i, number) + size(b)
        end do
        b(0, ubound(b, 2)) = next(b(0, ubound(b, 2)), 1, number) + size(a)
        !$omp end target
        do i = 2, ubound(a, 1)
          ea(i) = next(ea(i), i, number) + size(b)
        end do
        eb(0, ubound(b, 2)) = next(eb(0, ubound(b, 2)), 1, number) + size(a)
      end do
      if (kept) then
        !$omp target exit data map(from: a, b) depend(inout: a) nowait
      end if
      !$omp taskwait
      call check(all(a == ea) .and. all(b == eb), 'arrays that come and go')
      deallocate(a, b, ea, eb)
    end do
  end subroutine

  subroutine components()
    type(block) :: of(blocks)
    integer(long) :: expected(cells, blocks)
    integer :: link, c, i
    expected = 1
    do c = 1, blocks
      allocate(of(c)%a(cells - c), of(c)%b(c, 2))
      of(c)%a = 1
      of(c)%b = c
      call enter(of(c))
    end do
    !$omp parallel
    !$omp single
    do link = 1, 6
      do c = 1, blocks
        call advance(of(c), c, link)
        do i = 1, cells - c
          expected(i, c) = next(expected(i, c), i, link)
        end do
      end do
    end do
    !$omp taskwait
    !$omp end single
    !$omp end parallel
    do c = 1, blocks
      call leave(of(c))
      call check(all(of(c)%a == expected(1:cells - c, c)) .and. of(c)%b(c, 2) == c + 6, 'components')
    end do
  end subroutine

  subroutine enter(one)
    type(block) :: one
    !$omp target enter data map(to: one) map(to: one%a, one%b)
  end subroutine

  subroutine advance(one, c, link)
    type(block) :: one
    integer, intent(in) :: c, link
    integer :: i
    !$omp target nowait depend(inout: one) map(tofrom: one%a, one%b) firstprivate(c, link) private(i)
    do i = 1, size(one%a)
      one%a(i) = next(one%a(i), i, link)
    end do
    one%b(c, 2) = one%b(c, 2) + 1
    !$omp end target
  end subroutine

  subroutine leave(one)
    type(block) :: one
    !$omp target exit data map(from: one%a, one%b) map(release: one)
  end subroutine

  ! The pointer's bounds change in the midst of the iterations, or never. (A replay without the code would keep the old
  ! ones or not: it is not asked for.)
  subroutine graphs()
    integer(long), target :: x(cells)
    integer(long), pointer :: p(:)
    integer(long), allocatable :: a(:)
    integer(long) :: ex(cells), ea(cells), eo(cells - 1)
    type(block) :: one
    integer :: mode, changed_at, it, k, i, low
    type(c_ptr) :: graph
    do mode = MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_NOWAIT
      do changed_at = 0, 12, 6
        x = 1
        ex = 1
        allocate(a(cells))
        a = 2
        ea = 2
        p => x
        allocate(one%a(cells - 1), one%b(1, 2))
        one%a = 1
        eo = 1
        one%b = 0
        call enter(one)
        !$omp target enter data map(to: x, p, a)
        !$omp parallel
        !$omp single
        graph = marline_graph_begin(int(mode, c_int))
        do it = 1, 20
          if (it == changed_at) then
            !$omp taskwait
            p(-3:) => x
          end if
          low = lbound(p, 1)
          if (marline_graph_iterate(graph) == 0) cycle
          do k = 1, 3
            !$omp target nowait depend(inout: x) map(tofrom: p) firstprivate(it, k) private(i)
            do i = lbound(p, 1), ubound(p, 1)
              p(i) = next(p(i), i, it + k)
            end do
            !$omp end target
            !$omp target nowait depend(inout: a) map(tofrom: a) firstprivate(it, k) private(i)
            do i = 1, size(a)
              a(i) = next(a(i), i, it + k)
            end do
            !$omp end target
            call advance(one, 1, it + k)
            do i = 1, cells - 1
              eo(i) = next(eo(i), i, it + k)
            end do
            do i = 1, cells
              ex(i) = next(ex(i), i + low - 1, it + k)
              ea(i) = next(ea(i), i, it + k)
            end do
          end do
        end do
        call marline_graph_end(graph)
        !$omp end single
        !$omp end parallel
        !$omp target exit data map(release: p) map(from: x, a)
        call leave(one)
        call check(all(x == ex) .and. all(a == ea) .and. all(one%a == eo) .and. one%b(1, 2) == 60, 'graphs')
        deallocate(a, one%a, one%b)
      end do
    end do
  end subroutine
end program
