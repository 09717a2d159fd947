/* SPDX-License-Identifier: Apache-2.0
 *
 * For its callers an MPI library without MPI_THREAD_MULTIPLE: preloaded after libmarline-mpi. It ends the job if a call
 * breaks the rule of its level (LOW_LEVEL=single, funneled or serialized; MPI 3.1, 12.4.3), and, if there is an owner
 * (MARLINE_MPI_THREADS=owner), if a call is made that could block and has a nonblocking twin.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_t main_thread;
static int inside;         /* threads that are in a call */
static __thread int depth; /* a call inside another, from MPI or from a callback */

static int level(void) {
  const char* name = getenv("LOW_LEVEL");
  if (name == NULL || strcmp(name, "funneled") == 0) return MPI_THREAD_FUNNELED;
  return strcmp(name, "serialized") == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE;
}

static void broken(const char* call, const char* rule) {
  fprintf(stderr, "low_level_library: FAILED: %s %s\n", call, rule);
  fflush(stderr);
  _exit(3);
}

static void enter(const char* call) {
  if (depth++ > 0) return;
  if (level() < MPI_THREAD_SERIALIZED && !pthread_equal(pthread_self(), main_thread))
    broken(call, "is called by another thread than the one that initialised MPI");
  if (__atomic_add_fetch(&inside, 1, __ATOMIC_ACQ_REL) != 1)
    broken(call, "is called while another thread is in a call");
}

static void leave(void) {
  if (--depth == 0) __atomic_sub_fetch(&inside, 1, __ATOMIC_ACQ_REL);
}

static void may_block(const char* call, int blocks) {
  if (depth == 0 && blocks && getenv("MARLINE_MPI_THREADS") != NULL)
    broken(call, "is made by the owner, who may block in it");
}

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  main_thread = pthread_self();
  int (*init)(int*, char***, int, int*) = (int (*)(int*, char***, int, int*))dlsym(RTLD_NEXT, "PMPI_Init_thread");
  return init(argc, argv, required < level() ? required : level(), provided);
}

#define CHECKED(NAME, BLOCKS, PARAMETERS, ARGUMENTS)                            \
  int PMPI_##NAME PARAMETERS {                                                  \
    static __typeof__(PMPI_##NAME)* next;                                       \
    if (next == NULL) next = (__typeof__(next))dlsym(RTLD_NEXT, "PMPI_" #NAME); \
    may_block("MPI_" #NAME, BLOCKS);                                            \
    enter("MPI_" #NAME);                                                        \
    const int returned = next ARGUMENTS;                                        \
    leave();                                                                    \
    return returned;                                                            \
  }

CHECKED(Comm_rank, 0, (MPI_Comm comm, int* rank), (comm, rank))
CHECKED(Comm_size, 0, (MPI_Comm comm, int* size), (comm, size))
CHECKED(Comm_dup, 0, (MPI_Comm comm, MPI_Comm* made), (comm, made))
CHECKED(Comm_split, 0, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made))
CHECKED(Comm_free, 0, (MPI_Comm * comm), (comm))
CHECKED(Comm_set_errhandler, 0, (MPI_Comm comm, MPI_Errhandler handler), (comm, handler))
CHECKED(Error_class, 0, (int error, int* class), (error, class))
CHECKED(Get_count, 0, (const MPI_Status* status, MPI_Datatype type, int* count), (status, type, count))
CHECKED(Type_size, 0, (MPI_Datatype type, int* size), (type, size))
CHECKED(Type_contiguous, 0, (int count, MPI_Datatype type, MPI_Datatype* made), (count, type, made))
CHECKED(Type_commit, 0, (MPI_Datatype * type), (type))
CHECKED(Type_free, 0, (MPI_Datatype * type), (type))
CHECKED(Op_create, 0, (MPI_User_function * function, int commutes, MPI_Op* op), (function, commutes, op))
CHECKED(Isend, 0,
        (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request),
        (buffer, count, type, to, tag, comm, request))
CHECKED(Issend, 0,
        (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request),
        (buffer, count, type, to, tag, comm, request))
CHECKED(Irecv, 0, (void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request),
        (buffer, count, type, from, tag, comm, request))
CHECKED(Ibarrier, 0, (MPI_Comm comm, MPI_Request* request), (comm, request))
CHECKED(Iallreduce, 0,
        (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
        (in, out, count, type, op, comm, request))
CHECKED(Test, 0, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status))
CHECKED(Testany, 0, (int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status),
        (count, requests, index, flag, status))
CHECKED(Testall, 0, (int count, MPI_Request* requests, int* flag, MPI_Status* statuses),
        (count, requests, flag, statuses))
CHECKED(Iprobe, 0, (int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status), (from, tag, comm, flag, status))
CHECKED(Finalize, 0, (void), ())

/* A receive does not block if its message is there. */
static int is_there(int from, int tag, MPI_Comm comm) {
  int flag = 0;
  PMPI_Iprobe(from, tag, comm, &flag, MPI_STATUS_IGNORE);
  return flag;
}

/* Calls with nonblocking twins. */
CHECKED(Send, to != MPI_PROC_NULL, (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
        (buffer, count, type, to, tag, comm))
CHECKED(Recv, from != MPI_PROC_NULL && !is_there(from, tag, comm),
        (void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status),
        (buffer, count, type, from, tag, comm, status))
CHECKED(Wait, 1, (MPI_Request * request, MPI_Status* status), (request, status))
CHECKED(Waitall, 1, (int count, MPI_Request* requests, MPI_Status* statuses), (count, requests, statuses))
CHECKED(Probe, from != MPI_PROC_NULL, (int from, int tag, MPI_Comm comm, MPI_Status* status), (from, tag, comm, status))
CHECKED(Barrier, 1, (MPI_Comm comm), (comm))
CHECKED(Allreduce, 1, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm))
