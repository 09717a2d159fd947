! SPDX-License-Identifier: Apache-2.0
!
! Persistent graphs of target regions on a cluster, from Fortran: chains of regions in each mode, against the serial
! sum.
!
! Covers: target(nowait, depend, map:tofrom, firstprivate), target enter data(map:to), target exit data(map:from)
program cluster_graphs
  use, intrinsic :: iso_c_binding
  use marline
  implicit none
  integer, parameter :: chains = 6, iterations = 16
  integer(c_int64_t) :: x(chains), serial(chains)
  integer :: mode, i, c
  type(c_ptr) :: graph

  do mode = MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_REPLAY
    x = 1
    !$omp target enter data map(to: x)
    !$omp parallel shared(x)
    !$omp single
    graph = marline_graph_begin(int(mode, c_int))
    do i = 1, iterations
      if (marline_graph_iterate(graph) == 0) cycle
      do c = 1, chains
        !$omp target nowait depend(inout: x(c)) map(tofrom: x) firstprivate(c, i)
        x(c) = mod(3 * x(c) + i + c, 1000003_c_int64_t)
        !$omp end target
      end do
    end do
    call marline_graph_end(graph)
    !$omp end single
    !$omp end parallel
    !$omp target exit data map(from: x)
    serial = 1
    do i = 1, iterations
      do c = 1, chains
        serial(c) = mod(3 * serial(c) + merge(1, i, mode == MARLINE_GRAPH_REPLAY) + c, 1000003_c_int64_t)
      end do
    end do
    if (any(x /= serial)) error stop "wrong sums"
  end do
end program
