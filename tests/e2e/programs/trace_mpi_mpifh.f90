! SPDX-License-Identifier: Apache-2.0
!
! See trace_mpi_fortran.inc: the oldest of the bindings.
program trace_mpi_mpifh
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, other, value, got, comm, request(2)
  include 'trace_mpi_fortran.inc'
