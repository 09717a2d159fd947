! SPDX-License-Identifier: Apache-2.0
!
! As nodes_sum.c.
program nodes_sum
  use omp_lib
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function getpid() bind(c)
      import :: c_int
    end function
  end interface
  integer, parameter :: total = 6000
  integer :: numbers(total), devices, others, d, i, first, last, process
  integer(8) :: part, sum_of_all

  devices = omp_get_num_devices()
  others = 0
  sum_of_all = 0
  numbers = [(i - 1, i = 1, total)]
  do d = 0, devices - 1
    first = total / devices * d + 1
    last = total / devices * (d + 1)
    part = 0
    !$omp target device(d) map(to: numbers) map(tofrom: part) map(from: process)
    do i = first, last
      part = part + numbers(i)
    end do
    process = getpid()
    !$omp end target
    sum_of_all = sum_of_all + part
    if (process /= getpid()) others = others + 1
  end do
  print '(a,i0,a,i0,a,i0)', 'devices ', devices, ' others ', others, ' sum ', sum_of_all
end program
