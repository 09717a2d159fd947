/* SPDX-License-Identifier: Apache-2.0
 *
 * What Marline's libraries need of mpi.h, in the ABI of Open MPI 4 and 5 (libmpi.so.40). Predefined handles are
 * addresses of objects in Open MPI's library. Nothing here needs that library when it is linked: pmpi_resolve()
 * (pmpi/library.h) finds the objects. These libraries have no variants with large counts. tests/e2e/run/test_mpi_abi.py
 * compares the values with those of an installed Open MPI.
 */
#ifndef MARLINE_PMPI_OPENMPI_H
#define MARLINE_PMPI_OPENMPI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ompi_communicator_t* MPI_Comm;
typedef struct ompi_datatype_t* MPI_Datatype;
typedef struct ompi_errhandler_t* MPI_Errhandler;
typedef struct ompi_file_t* MPI_File;
typedef struct ompi_group_t* MPI_Group;
typedef struct ompi_info_t* MPI_Info;
typedef struct ompi_instance_t* MPI_Session;
typedef struct ompi_message_t* MPI_Message;
typedef struct ompi_op_t* MPI_Op;
typedef struct ompi_request_t* MPI_Request;
typedef struct ompi_win_t* MPI_Win;

typedef ptrdiff_t MPI_Aint;
typedef long long MPI_Count;
typedef int MPI_Fint;
typedef long long MPI_Offset;

typedef struct ompi_status_public_t {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int cancelled;
  size_t bytes;
} MPI_Status;

/* The names by which the loader knows these libraries. */
#define MARLINE_PMPI_LIBRARIES "libmpi.so.40", "libmpi.so.80"

#define MPI_SUCCESS 0
#define MPI_ERR_ARG 13
#define MPI_ERR_OTHER 16
#define MPI_ERR_IN_STATUS 18
#define MPI_ERR_PENDING 19
#define MPI_ERR_NO_MEM 39

#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_PROC_NULL (-2)
#define MPI_ROOT (-4)
#define MPI_UNDEFINED (-32766)
#define MPI_KEYVAL_INVALID (-1)

#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3

#define MPI_MAX_ERROR_STRING 256
#define MPI_MAX_LIBRARY_VERSION_STRING 256
#define MPI_MAX_OBJECT_NAME 64
#define MPI_MAX_PROCESSOR_NAME 256

#define MPI_CART 1
#define MPI_GRAPH 2
#define MPI_DIST_GRAPH 3

#define MPI_IN_PLACE ((void*)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)

/* X(member, name of the object). */
#define MARLINE_PMPI_OBJECTS(X)                        \
  X(comm_null, "ompi_mpi_comm_null")                   \
  X(comm_world, "ompi_mpi_comm_world")                 \
  X(comm_self, "ompi_mpi_comm_self")                   \
  X(request_null, "ompi_request_null")                 \
  X(message_no_proc, "ompi_message_no_proc")           \
  X(win_null, "ompi_mpi_win_null")                     \
  X(errors_return, "ompi_mpi_errors_return")           \
  X(datatype_null, "ompi_mpi_datatype_null")           \
  X(byte, "ompi_mpi_byte")                             \
  X(packed, "ompi_mpi_packed")                         \
  X(of_int, "ompi_mpi_int")                            \
  X(of_uint64, "ompi_mpi_uint64_t")                    \
  X(op_min, "ompi_mpi_op_min")                         \
  X(comm_null_copy_fn, "OMPI_C_MPI_COMM_NULL_COPY_FN") \
  X(win_null_copy_fn, "OMPI_C_MPI_WIN_NULL_COPY_FN")   \
  X(win_null_delete_fn, "OMPI_C_MPI_WIN_NULL_DELETE_FN")

#define MARLINE_PMPI_MEMBER(member, name) void* member;
typedef struct PmpiObjects {
  MARLINE_PMPI_OBJECTS(MARLINE_PMPI_MEMBER)
} PmpiObjects;

/* Written once, by pmpi_resolve(). Each library of Marline has its own. */
extern PmpiObjects pmpi_objects __attribute__((visibility("hidden")));

#define MPI_COMM_NULL ((MPI_Comm)pmpi_objects.comm_null)
#define MPI_COMM_WORLD ((MPI_Comm)pmpi_objects.comm_world)
#define MPI_COMM_SELF ((MPI_Comm)pmpi_objects.comm_self)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)pmpi_objects.message_no_proc)
#define MPI_WIN_NULL ((MPI_Win)pmpi_objects.win_null)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)pmpi_objects.errors_return)
#define MPI_DATATYPE_NULL ((MPI_Datatype)pmpi_objects.datatype_null)
#define MPI_BYTE ((MPI_Datatype)pmpi_objects.byte)
#define MPI_PACKED ((MPI_Datatype)pmpi_objects.packed)
#define MPI_INT ((MPI_Datatype)pmpi_objects.of_int)
#define MPI_UINT64_T ((MPI_Datatype)pmpi_objects.of_uint64)
#define MPI_MIN ((MPI_Op)pmpi_objects.op_min)
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)pmpi_objects.comm_null_copy_fn)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function*)pmpi_objects.win_null_copy_fn)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function*)pmpi_objects.win_null_delete_fn)

#ifdef MARLINE_LINKED_WITH_MPI /* the archive that programs link: the linker finds the objects */
extern struct ompi_predefined_request_t ompi_request_null;
#define MPI_REQUEST_NULL ((MPI_Request) & ompi_request_null)
#else
#define MPI_REQUEST_NULL ((MPI_Request)pmpi_objects.request_null)
#endif

MPI_Fint MPI_Request_c2f(MPI_Request request);
MPI_Request MPI_Request_f2c(MPI_Fint request);
extern MPI_Fint* MPI_F_STATUS_IGNORE;
extern MPI_Fint* MPI_F_STATUSES_IGNORE;

#include "../functions.h"

#ifdef __cplusplus
}
#endif

#endif
