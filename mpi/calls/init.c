/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Init and MPI_Init_thread. They ask MPI for MPI_THREAD_MULTIPLE, because tasks call MPI from several threads and
 * the poller calls it from any thread. The program gets the provided level, which is never less than without Marline. A
 * program that asks for TAMPI's level above it (compat/TAMPI.h) gets that level; MPI_Query_thread then returns it, too.
 *
 * With an owner (owner.h), chosen by MARLINE_MPI_THREADS=owner or because the library provides MPI_THREAD_SERIALIZED
 * only, the program still has MPI_THREAD_MULTIPLE. MPI then does not know the program's level and main thread, so the
 * functions here answer in its place.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <marline/devices.h>

#include "../pmpi/caller.h"
#include "base/mpi_library.h"
#include "base/options.h"
#include "base/report.h"
#include "base/unserved.h"
#include "comm/comm.h"
#include "comm/order.h"
#include "engine/owner.h"
#include "engine/poller.h"
#include "inspect/describe.h"

static pthread_t main_thread; /* the thread that has initialised MPI, as the program sees it */

static void warn_of_options(void) {
  size_t length = 0;
  const char* fault = caller_option_fault(&length);
  if (fault != NULL)
    report_warning(
        "MARLINE_MPI_NEVER_SUSPEND: \"%.*s\" is the beginning of no library's file name, and without effect; "
        "write names without folders or blanks, as in libone,libother",
        (int)length, fault);
}

enum { kTaskMultiple = MPI_THREAD_MULTIPLE + 1 }; /* MPI_TASK_MULTIPLE */

static int asked_for; /* written before MPI_Init_thread returns */

/* The level that the program gets. */
static int level_of(int provided) {
  return asked_for == kTaskMultiple && provided == MPI_THREAD_MULTIPLE ? kTaskMultiple : provided;
}

static pid_t initialized_by;
static int own_rank;

/* MPI treats an exit without MPI_Finalize as an error, but reports it at length, or not at all. `marline run`
 * reports exits with other statuses. */
static void warn_of_exit(int status, void* unused) {
  (void)unused;
  int finalized = 0;
  if (status != 0 || getpid() != initialized_by) return;
  next_mpi.finalized(&finalized);
  if (!finalized) report_warning("rank %d exits without having called MPI_Finalize, which ends the job", own_rank);
}

static int wanted_level(void) { return owner_exists() ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE; }

static int init_library(int* argc, char*** argv, bool by_a_tool, int* provided) {
  if (!by_a_tool) return next_mpi.init_thread(argc, argv, wanted_level(), provided);
  const int error = next_mpi.init(argc, argv); /* the tool's MPI_Init, which calls MPI_Init below */
  if (error == MPI_SUCCESS) next_mpi.query_thread(provided);
  return error;
}

/* Waits by nonblocking calls: with an owner (owner.h) this is the thread that makes all calls, and it makes none
 * that may block. All ranks must take part. If some do not, the others wait for ever, so a long wait is reported. */
static void await_ranks(MPI_Request* request) {
  enum { kPatience = 10 }; /* seconds */
  const time_t begin = time(NULL);
  int done = 0, reported = 0;
  while (!done) {
    if (next_mpi.test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) report_fatal("MPI_Test failed in MPI_Init");
    if (!reported && !done && time(NULL) - begin > kPatience) {
      report_warning(
          "rank %d waits in MPI_Init for other ranks to tell where their devices are; start all ranks with the "
          "same MARLINE_DEVICES",
          own_rank);
      reported = 1;
    }
  }
}

static void gather(const void* own, void* all, size_t bytes) {
  MPI_Request request;
  const int count = (int)bytes;
  const MPI_Datatype packed = MPI_PACKED;
  if (next_mpi.iallgather(own, count, packed, all, count, packed, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
    report_fatal("MPI_Iallgather failed in MPI_Init");
  await_ranks(&request);
}

/* Exchanges with all ranks where their devices are, for devices on other ranks' nodes. */
static void meet(void) {
  marline_ranks_t ranks = {.rank = own_rank, .gather = gather};
  next_mpi.comm_size(MPI_COMM_WORLD, &ranks.count);
  marline_ranks_meet(&ranks);
}

/* `by_a_tool`: a tool between this library and MPI defines the function that the program calls, which is MPI_Init. */
static int init(int* argc, char*** argv, bool by_a_tool, int* provided) {
  main_thread = pthread_self();
  marline_mpi_is_served();
  if (mpi_options()->one_owner && !owner_exists()) /* MPI itself must refuse a second MPI_Init */
    poller_take_over();
  const int error = init_library(argc, argv, by_a_tool, provided);
  if (error == MPI_SUCCESS) {
    if (!owner_exists() && *provided == MPI_THREAD_SERIALIZED) poller_take_over();
    if (owner_exists()) *provided = MPI_THREAD_MULTIPLE;
    warn_of_options();
    initialized_by = getpid();
    next_mpi.comm_rank(MPI_COMM_WORLD, &own_rank);
    if (own_rank == 0) unserved_report();
    on_exit(warn_of_exit, NULL);
    comm_start();
    poller_start(*provided);
    describe_start(*provided);
    if (*provided == MPI_THREAD_MULTIPLE) order_start();
    meet();
  }
  return error;
}

int MPI_Init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  library_resolve();
  PASS_ON_FROM_TOOL(init_thread(argc, argv, wanted_level(), &provided));
  return init(argc, argv, next_mpi.init != mpi_itself.init, &provided);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  library_resolve();
  PASS_ON_FROM_TOOL(init_thread(argc, argv, wanted_level(), provided));
  const int error = init(argc, argv, false, provided);
  asked_for = required;
  if (error == MPI_SUCCESS) *provided = level_of(*provided);
  return error;
}

int MPI_Query_thread(int* provided) {
  library_resolve();
  PASS_ON_FROM_TOOL(query_thread(provided));
  *provided = MPI_THREAD_MULTIPLE;
  const int error = owner_exists() ? MPI_SUCCESS : next_mpi.query_thread(provided);
  if (error == MPI_SUCCESS) *provided = level_of(*provided);
  return error;
}

int MPI_Is_thread_main(int* flag) {
  library_resolve();
  PASS_ON_FROM_TOOL(is_thread_main(flag));
  if (!owner_exists()) return next_mpi.is_thread_main(flag);
  *flag = pthread_equal(pthread_self(), main_thread) != 0;
  return MPI_SUCCESS;
}

extern __typeof__(MPI_Is_thread_main) PMPI_Is_thread_main __attribute__((alias("MPI_Is_thread_main")));
extern __typeof__(MPI_Init) PMPI_Init __attribute__((alias("MPI_Init")));
extern __typeof__(MPI_Init_thread) PMPI_Init_thread __attribute__((alias("MPI_Init_thread")));
extern __typeof__(MPI_Query_thread) PMPI_Query_thread __attribute__((alias("MPI_Query_thread")));
