! SPDX-License-Identifier: Apache-2.0
!
! Persistent graphs from Fortran: the loop form, in each mode, against the serial sum.
!
! Covers: marline persistent graphs
program persistent
  use, intrinsic :: iso_c_binding
  use marline
  implicit none
  integer :: mode, bodies, i
  integer(c_int64_t) :: x, serial
  type(c_ptr) :: graph

  do mode = MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_REPLAY
    x = 1
    bodies = 0
    !$omp parallel shared(x)
    !$omp single
    graph = marline_graph_begin(int(mode, c_int))
    do i = 1, 8
      if (marline_graph_iterate(graph) == 0) cycle
      if (i == 5) call marline_graph_invalidate(graph)
      bodies = bodies + 1
      !$omp task depend(inout: x) firstprivate(i)
      x = 3 * x + i
      !$omp end task
      !$omp task depend(inout: x)
      x = x + 1
      !$omp end task
    end do
    call marline_graph_end(graph)
    !$omp end single
    !$omp end parallel
    serial = 1
    do i = 1, 8
      serial = 3 * serial + merge(1, i, mode == MARLINE_GRAPH_REPLAY) + 1
    end do
    if (x /= serial) error stop "wrong sum"
    if (bodies /= merge(1, 8, mode == MARLINE_GRAPH_REPLAY)) error stop "wrong number of bodies"
  end do
end program
