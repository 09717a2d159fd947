/* SPDX-License-Identifier: Apache-2.0
 *
 * What Marline's libraries need of mpi.h, in the ABI of MPICH: MPICH 3.2 and later, Intel MPI, Cray MPICH
 * (libmpi.so.12; libmpich.so.12 on Debian). tests/e2e/run/test_mpi_abi.py compares the values with those of an
 * installed MPICH.
 */
#ifndef MARLINE_PMPI_MPICH_H
#define MARLINE_PMPI_MPICH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Errhandler;
typedef int MPI_Group;
typedef int MPI_Info;
typedef int MPI_Message;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Session;
typedef int MPI_Win;
typedef struct ADIOI_FileD* MPI_File;

typedef long MPI_Aint;
typedef long long MPI_Count;
typedef int MPI_Fint;
typedef long long MPI_Offset;

typedef struct MPI_Status {
  int count_lo;
  int count_hi_and_cancelled;
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
} MPI_Status;

/* The names by which the loader knows these libraries. */
#define MARLINE_PMPI_LIBRARIES "libmpi.so.12", "libmpich.so.12"

#define MPI_SUCCESS 0
#define MPI_ERR_ARG 12
#define MPI_ERR_OTHER 15
#define MPI_ERR_IN_STATUS 17
#define MPI_ERR_PENDING 18
#define MPI_ERR_NO_MEM 34

#define MPI_ANY_SOURCE (-2)
#define MPI_ANY_TAG (-1)
#define MPI_PROC_NULL (-1)
#define MPI_ROOT (-3)
#define MPI_UNDEFINED (-32766)
#define MPI_KEYVAL_INVALID 0x24000000

#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3

#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_PROCESSOR_NAME 128

#define MPI_GRAPH 1
#define MPI_CART 2
#define MPI_DIST_GRAPH 3

#define MPI_IN_PLACE ((void*)-1)
#define MPI_STATUS_IGNORE ((MPI_Status*)1)
#define MPI_STATUSES_IGNORE ((MPI_Status*)1)

#define MPI_COMM_NULL ((MPI_Comm)0x04000000)
#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_COMM_SELF ((MPI_Comm)0x44000001)
#define MPI_REQUEST_NULL ((MPI_Request)0x2c000000)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)0x6c000000)
#define MPI_WIN_NULL ((MPI_Win)0x20000000)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x54000001)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x0c000000)
#define MPI_BYTE ((MPI_Datatype)0x4c00010d)
#define MPI_PACKED ((MPI_Datatype)0x4c00010f)
#define MPI_INT ((MPI_Datatype)0x4c000405)
#define MPI_UINT64_T ((MPI_Datatype)0x4c00083e)
#define MPI_MIN ((MPI_Op)0x58000002)

#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function*)0)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function*)0)

#define MPI_Request_c2f(request) ((MPI_Fint)(request))
#define MPI_Request_f2c(request) ((MPI_Request)(request))
extern MPI_Fint* MPI_F_STATUS_IGNORE;
extern MPI_Fint* MPI_F_STATUSES_IGNORE;
extern MPI_Fint* MPI_F08_STATUS_IGNORE;
extern MPI_Fint* MPI_F08_STATUSES_IGNORE;

#include "../functions.h"
#include "../functions/large.h"
#include "../functions/large_data.h"

#ifdef __cplusplus
}
#endif

#endif
