! SPDX-License-Identifier: Apache-2.0
! User regions of Score-P in Fortran, as SCOREP_USER_REGION_BEGIN and SCOREP_USER_REGION_END expand.
subroutine fortran_part()
  integer(8) :: handle = -1
  call SCOREP_F_Begin(handle, "of Fortran   ", 0, "scorep_part.f90", 6)
  call SCOREP_F_RegionEnd(handle)
end subroutine
