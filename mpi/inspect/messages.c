/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks MPI for messages in a thread. The mutex protects the state. While `asking` is set, the asking thread owns the
 * list, otherwise the server owns it.
 */
#include "inspect/messages.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/mpi_library.h"
#include "comm/comm.h"

/* Limits of one answer to `marline ps`, which takes kSeconds at most. Further messages, communicators and senders
 * are left out. */
enum { kMostMessages = 256, kMostComms = 256, kMostSenders = 1024, kSeconds = 2 };

typedef struct Message {
  uint64_t comm;
  int source;
  int tag;
  int bytes; /* INT_MAX: that many or more */
} Message;

typedef struct KnownComm {
  MPI_Comm comm;
  uint64_t identity;
  int senders;
} KnownComm;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static bool may_ask;
static bool asking;
static Message messages[kMostMessages];
static int message_count;
static KnownComm comms[kMostComms];
static int comm_count;

static void note_comm(const CommInfo* info, void* unused) {
  (void)unused;
  const int senders = info->remote_size > 0 ? info->remote_size : info->size;
  if (comm_count < kMostComms)
    comms[comm_count++] = (KnownComm){info->comm, info->identity, senders < kMostSenders ? senders : kMostSenders};
}

static bool still_wanted(void) {
  pthread_mutex_lock(&mutex);
  const bool wanted = may_ask;
  pthread_mutex_unlock(&mutex);
  return wanted;
}

static void look_for(const KnownComm* known, int source) {
  int flag = 0;
  int bytes = 0;
  MPI_Status status;
  if (comm_identity(known->comm) != known->identity) /* freed since */
    return;
  if (next_mpi.iprobe(source, MPI_ANY_TAG, known->comm, &flag, &status) != MPI_SUCCESS || !flag) return;
  next_mpi.get_count(&status, MPI_PACKED, &bytes);
  if (bytes == MPI_UNDEFINED) /* more than an int can count */
    bytes = INT_MAX;
  messages[message_count++] = (Message){known->identity, source, status.MPI_TAG, bytes};
}

static void* ask(void* unused) {
  (void)unused;
  pthread_setname_np(pthread_self(), "marline/ps-mpi");
  message_count = comm_count = 0;
  comm_for_each(note_comm, NULL);
  for (int c = 0; c < comm_count; ++c)
    for (int source = 0; source < comms[c].senders && message_count < kMostMessages && still_wanted(); ++source)
      look_for(&comms[c], source);
  pthread_mutex_lock(&mutex);
  asking = false;
  pthread_cond_broadcast(&answered);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

/* Called under the mutex. */
static void wait_for_answer(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kSeconds;
  while (asking && pthread_cond_timedwait(&answered, &mutex, &until) == 0);
}

void messages_start(int thread_level) { may_ask = thread_level == MPI_THREAD_MULTIPLE; }

void messages_stop(void) {
  pthread_mutex_lock(&mutex);
  may_ask = false;
  wait_for_answer();
  pthread_mutex_unlock(&mutex);
}

/* Called under the mutex. Returns what is wrong, or NULL. */
static const char* try_to_ask(void) {
  pthread_t thread;
  if (!may_ask) return "MPI may not be asked: no MPI_THREAD_MULTIPLE, or MPI_Finalize has been called";
  if (!asking) {
    asking = true;
    if (pthread_create(&thread, NULL, ask, NULL) != 0) {
      asking = false;
      return "no thread can be started to ask MPI";
    }
    pthread_detach(thread);
  }
  wait_for_answer();
  return asking ? "MPI does not answer: MPI_Iprobe hangs, or waits for a lock that another call of MPI holds" : NULL;
}

void messages_describe(const Out* out) {
  pthread_mutex_lock(&mutex);
  const char* problem = try_to_ask();
  pthread_mutex_unlock(&mutex);
  if (problem != NULL) {
    print(out, "{\"problem\":\"%s\"}", problem);
    return;
  }
  print(out, "{\"messages\":[");
  for (int i = 0; i < message_count; ++i)
    print(out, "%s{\"comm\":%lld,\"source\":%d,\"tag\":%d,\"bytes\":%d}", i > 0 ? "," : "", (long long)messages[i].comm,
          messages[i].source, messages[i].tag, messages[i].bytes);
  print(out, "]}");
}
