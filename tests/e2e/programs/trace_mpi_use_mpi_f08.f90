! SPDX-License-Identifier: Apache-2.0
!
! See trace_mpi_fortran.inc: the module with handles that have types.
program trace_mpi_use_mpi_f08
  use mpi_f08
  implicit none
  integer :: ierr, rank, other, value, got
  type(MPI_Comm) :: comm
  type(MPI_Request) :: request(2)
  include 'trace_mpi_fortran.inc'
