/* SPDX-License-Identifier: Apache-2.0
 *
 * User regions of Score-P, as its macros expand: begun, defined first and then entered, and by name; and those of a
 * subroutine of Fortran. */
#include "scorep.h"

#include <stddef.h>

void fortran_part_(void);

int main(void) {
  static SCOREP_User_RegionHandle begun, defined;
  for (int i = 0; i < 2; i++) {
    SCOREP_User_RegionBegin(&begun, NULL, NULL, "begun", 0, __FILE__, __LINE__);
    SCOREP_User_RegionInit(&defined, NULL, NULL, "defined before", 0, __FILE__, __LINE__);
    SCOREP_User_RegionEnter(defined);
    SCOREP_User_RegionEnd(defined);
    SCOREP_User_RegionEnd(begun);
  }
  SCOREP_User_RegionByNameBegin("by name", 0, __FILE__, __LINE__);
  SCOREP_User_RegionByNameEnd("by name");
  fortran_part_();
  return 0;
}
