! SPDX-License-Identifier: Apache-2.0
!
! See trace_mpi_fortran.inc: the module with handles that are integers.
program trace_mpi_use_mpi
  use mpi
  implicit none
  integer :: ierr, rank, other, value, got, comm, request(2)
  include 'trace_mpi_fortran.inc'
