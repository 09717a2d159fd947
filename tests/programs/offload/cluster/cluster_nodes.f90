! SPDX-License-Identifier: Apache-2.0
!
! The module `marline`: which node of a cluster runs a deferred region, from Fortran.
!
! Covers: target(nowait, depend, device, map:tofrom)
program cluster_nodes
  use, intrinsic :: iso_c_binding
  use omp_lib
  use marline
  implicit none
  interface
    integer(c_int) function process() bind(C, name='getpid')
      import :: c_int
    end function
  end interface
  integer :: node, named, hinted

  !$omp target enter data map(to: named, hinted)
  !$omp parallel
  !$omp single
  do node = 1, omp_get_num_devices() - 1
    !$omp target device(node) map(tofrom: named)
    named = process()
    !$omp end target
    call marline_task_node(node)
    !$omp target nowait depend(inout: hinted) map(tofrom: hinted)
    hinted = process()
    !$omp end target
    !$omp taskwait
    !$omp target update from(named, hinted)
    if (named /= hinted) error stop "the region ran on another node"
  end do
  !$omp end single
  !$omp end parallel
  !$omp target exit data map(delete: named, hinted)
end program
