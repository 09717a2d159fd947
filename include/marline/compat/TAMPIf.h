! SPDX-License-Identifier: Apache-2.0
!
! For Fortran sources that are preprocessed: see TAMPI.h.
#ifndef MARLINE_COMPAT_TAMPIF_H
#define MARLINE_COMPAT_TAMPIF_H

! MPI_THREAD_MULTIPLE + 1
#define MPI_TASK_MULTIPLE 4

#endif
