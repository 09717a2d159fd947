/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Probe and MPI_Mprobe. In a task, MPI_Iprobe or MPI_Improbe is called until it finds a message. After MPI_Probe,
 * as with threads, another task may receive the message that this task has seen, unless they use different tags or
 * communicators; MPI_Mprobe takes the message out of the queue. In a speculation scope that is stopped there is no
 * message, as from MPI_PROC_NULL.
 */
#include "engine/engine.h"
#include "engine/waiting.h"
#include "speculation/speculation.h"

typedef struct PendingProbe {
  Pending base; /* first: the engine hands back a pointer to it */
  int source;
  int tag;
  MPI_Comm comm;
  MPI_Message* message; /* NULL: MPI_Probe */
  MPI_Status* status;
  Speculation* scope; /* or NULL */
} PendingProbe;

static bool finished(Pending* pending) {
  PendingProbe* call = (PendingProbe*)pending;
  int flag = 0;
  if (call->scope != NULL && speculation_is_stopped(call->scope)) call->source = MPI_PROC_NULL;
  call->base.error = call->message == NULL
                         ? next_mpi.iprobe(call->source, call->tag, call->comm, &flag, call->status)
                         : next_mpi.improbe(call->source, call->tag, call->comm, &flag, call->message, call->status);
  return flag || call->base.error != MPI_SUCCESS;
}

static int wait_for_message(PendingProbe* call) {
  call->scope = speculation_of(call->comm);
  call->base.is_probe = call->scope == NULL; /* without a scope, its source is always what the call says */
  if (!finished(&call->base)) engine_wait(&call->base);
  return call->base.error;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  PASS_ON_FROM_TOOL(probe(source, tag, comm, status));
  const MpiCall call = {
      .name = "MPI_Probe", .caller = __builtin_return_address(0), .comm = comm, .peer = source, .tag = tag};
  if (!engine_takes(__builtin_return_address(0))) {
    BLOCKED_IN(&call);
    return next_mpi.probe(source, tag, comm, status);
  }
  return wait_for_message(&(PendingProbe){
      .base = {.finished = finished, .call = &call}, .source = source, .tag = tag, .comm = comm, .status = status});
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  PASS_ON_FROM_TOOL(mprobe(source, tag, comm, message, status));
  const MpiCall call = {
      .name = "MPI_Mprobe", .caller = __builtin_return_address(0), .comm = comm, .peer = source, .tag = tag};
  if (!engine_takes(__builtin_return_address(0))) {
    BLOCKED_IN(&call);
    return next_mpi.mprobe(source, tag, comm, message, status);
  }
  return wait_for_message(&(PendingProbe){.base = {.finished = finished, .call = &call},
                                          .source = source,
                                          .tag = tag,
                                          .comm = comm,
                                          .message = message,
                                          .status = status});
}

extern __typeof__(MPI_Probe) PMPI_Probe __attribute__((alias("MPI_Probe")));
extern __typeof__(MPI_Mprobe) PMPI_Mprobe __attribute__((alias("MPI_Mprobe")));
