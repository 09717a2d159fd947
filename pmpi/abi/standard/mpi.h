/* SPDX-License-Identifier: Apache-2.0
 *
 * What Marline's libraries need of mpi.h, in the ABI that MPI 5.0 defines (chapter 20; libmpi_abi.so.1): MPICH 5, Intel
 * MPI 2021.17. tests/e2e/run/test_mpi_abi.py compares the values with those of an installed library.
 */
#ifndef MARLINE_PMPI_STANDARD_H
#define MARLINE_PMPI_STANDARD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
typedef struct MPI_ABI_Errhandler* MPI_Errhandler;
typedef struct MPI_ABI_File* MPI_File;
typedef struct MPI_ABI_Group* MPI_Group;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Message* MPI_Message;
typedef struct MPI_ABI_Op* MPI_Op;
typedef struct MPI_ABI_Request* MPI_Request;
typedef struct MPI_ABI_Session* MPI_Session;
typedef struct MPI_ABI_Win* MPI_Win;

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Count;
typedef int MPI_Fint;
typedef int64_t MPI_Offset;

typedef struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int internal[5];
} MPI_Status;

/* The names by which the loader knows these libraries. */
#define MARLINE_PMPI_LIBRARIES "libmpi_abi.so.1"

#define MPI_SUCCESS 0
#define MPI_ERR_ARG 13
#define MPI_ERR_OTHER 16
#define MPI_ERR_PENDING 18
#define MPI_ERR_IN_STATUS 19
#define MPI_ERR_NO_MEM 39

#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-2)
#define MPI_PROC_NULL (-3)
#define MPI_ROOT (-4)
#define MPI_UNDEFINED (-32766)
#define MPI_KEYVAL_INVALID 0

#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1024
#define MPI_THREAD_SERIALIZED 2048
#define MPI_THREAD_MULTIPLE 4096

#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_PROCESSOR_NAME 256

#define MPI_CART 211
#define MPI_GRAPH 212
#define MPI_DIST_GRAPH 213

#define MPI_IN_PLACE ((void*)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)

#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)0x129)
#define MPI_WIN_NULL ((MPI_Win)0x110)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x143)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_PACKED ((MPI_Datatype)0x207)
#define MPI_INT ((MPI_Datatype)0x209)
#define MPI_UINT64_T ((MPI_Datatype)0x259)
#define MPI_MIN ((MPI_Op)0x22)

#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function*)0)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function*)0)

#include "../functions.h"
#include "../functions/large.h"
#include "../functions/large_data.h"

#ifdef __cplusplus
}
#endif

#endif
