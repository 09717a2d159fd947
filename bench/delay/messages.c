/* SPDX-License-Identifier: Apache-2.0
 *
 * Point-to-point calls: a send notes its time, a receive is held back. A blocking receive is a posted one that is
 * waited for, so that it is counted and posted as one step among the threads (post_lock). Any thread.
 */
#include <pthread.h>

#include "delay.h"
#include "held.h"
#include "next.h"
#include "stamps.h"

/* A receive gets its number in the order in which MPI matches it. */
static pthread_mutex_t post_lock = PTHREAD_MUTEX_INITIALIZER;

#define SEND(name, ...)                                                                                       \
  int MPI_##name(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) { \
    stamps_send(destination, tag, comm, count, type);                                                         \
    return next.name(buffer, count, type, destination, tag, comm);                                            \
  }                                                                                                           \
  extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))
#define ISEND(name)                                                                                         \
  int MPI_##name(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm, \
                 MPI_Request* request) {                                                                    \
    stamps_send(destination, tag, comm, count, type);                                                       \
    return next.name(buffer, count, type, destination, tag, comm, request);                                 \
  }                                                                                                         \
  extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))

SEND(Send);
SEND(Ssend);
SEND(Bsend);
SEND(Rsend);
ISEND(Isend);
ISEND(Issend);
ISEND(Ibsend);
ISEND(Irsend);

/* Receives --------------------------------------------------------------------------------------------------------- */

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  if (source == MPI_PROC_NULL || !delay_is_on()) return next.Irecv(buffer, count, type, source, tag, comm, request);
  pthread_mutex_lock(&post_lock);
  const uint64_t stamp = stamps_receive(source, tag, comm);
  const int error = next.Irecv(buffer, count, type, source, tag, comm, request);
  if (error == MPI_SUCCESS) held_add(*request, stamp);
  pthread_mutex_unlock(&post_lock);
  return error;
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL || !delay_is_on()) return next.Recv(buffer, count, type, source, tag, comm, status);
  MPI_Request request;
  const int error = PMPI_Irecv(buffer, count, type, source, tag, comm, &request);
  return error != MPI_SUCCESS ? error : PMPI_Wait(&request, status);
}

int MPI_Sendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type, int destination, int send_tag,
                 void* recv_buffer, int recv_count, MPI_Datatype recv_type, int source, int recv_tag, MPI_Comm comm,
                 MPI_Status* status) {
  if (source == MPI_PROC_NULL || !delay_is_on()) {
    stamps_send(destination, send_tag, comm, send_count, send_type);
    return next.Sendrecv(send_buffer, send_count, send_type, destination, send_tag, recv_buffer, recv_count, recv_type,
                         source, recv_tag, comm, status);
  }
  MPI_Request receive;
  int error = PMPI_Irecv(recv_buffer, recv_count, recv_type, source, recv_tag, comm, &receive);
  if (error != MPI_SUCCESS) return error;
  error = PMPI_Send(send_buffer, send_count, send_type, destination, send_tag, comm);
  const int receive_error = PMPI_Wait(&receive, status);
  return error != MPI_SUCCESS ? error : receive_error;
}

int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int destination, int send_tag, int source,
                         int recv_tag, MPI_Comm comm, MPI_Status* status) {
  stamps_send(destination, send_tag, comm, count, type);
  const uint64_t stamp = source != MPI_PROC_NULL ? stamps_receive(source, recv_tag, comm) : 0;
  const int error = next.Sendrecv_replace(buffer, count, type, destination, send_tag, source, recv_tag, comm, status);
  if (source != MPI_PROC_NULL) linger(stamp);
  return error;
}

/* Receives at an unknown place of their sequence ------------------------------------------------------------------- */

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  stamps_distrust("a matched probe");
  return next.Mprobe(source, tag, comm, message, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  stamps_distrust("a matched probe");
  return next.Improbe(source, tag, comm, flag, message, status);
}

int MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  const int no_message = *message == MPI_MESSAGE_NO_PROC;
  const int error = next.Imrecv(buffer, count, type, message, request);
  if (error == MPI_SUCCESS && !no_message) held_add(*request, 0);
  return error;
}

int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  const int no_message = *message == MPI_MESSAGE_NO_PROC;
  const int error = next.Mrecv(buffer, count, type, message, status);
  if (!no_message) linger(0);
  return error;
}

/* Persistent requests: all are held back from their start on, receives and sends alike, as a handle does not tell. A
 * send then looks complete a delay later than it is, which MPI allows. */
int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  stamps_distrust("persistent requests");
  return next.Recv_init(buffer, count, type, source, tag, comm, request);
}

int MPI_Start(MPI_Request* request) {
  const int error = next.Start(request);
  if (error == MPI_SUCCESS) held_add(*request, 0);
  return error;
}

int MPI_Startall(int count, MPI_Request requests[]) {
  const int error = next.Startall(count, requests);
  for (int i = 0; error == MPI_SUCCESS && i < count; ++i) held_add(requests[i], 0);
  return error;
}

int MPI_Cancel(MPI_Request* request) {
  stamps_distrust("MPI_Cancel");
  held_forget(*request);
  return next.Cancel(request);
}

#define ALIAS(name) extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))
ALIAS(Irecv);
ALIAS(Recv);
ALIAS(Sendrecv);
ALIAS(Sendrecv_replace);
ALIAS(Mprobe);
ALIAS(Improbe);
ALIAS(Imrecv);
ALIAS(Mrecv);
ALIAS(Recv_init);
ALIAS(Start);
ALIAS(Startall);
ALIAS(Cancel);
