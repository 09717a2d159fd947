// SPDX-License-Identifier: Apache-2.0
//
// Remembers matched messages: MPI_Mprobe knows communicator and sender, but MPI_Mrecv does not name them. A message is
// open from the one call to the other, so few are open at a time: a list under a lock is enough.
#include <pthread.h>
#include <stdlib.h>

#include "mpi/calls.hpp"

namespace marline::trace {
namespace {

struct Open {
  Open* next;
  MPI_Message message;
  u64 comm;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Messages that are matched and not received, newest first. A program has few at a time.
Open* open_messages;  // under `lock`

}  // namespace

void remember_message(MPI_Message message, u64 comm) {
  if (message == MPI_MESSAGE_NO_PROC) {
    return;
  }
  auto* fresh = static_cast<Open*>(malloc(sizeof(Open)));
  if (fresh == nullptr) {
    return;  // the receive is then recorded without a communicator
  }
  pthread_mutex_lock(&lock);
  *fresh = {open_messages, message, comm};
  open_messages = fresh;
  pthread_mutex_unlock(&lock);
}

u64 forget_message(MPI_Message message) {
  u64 comm = 0;
  pthread_mutex_lock(&lock);
  for (Open** link = &open_messages; *link != nullptr; link = &(*link)->next) {
    if ((*link)->message == message) {
      Open* found = *link;
      comm = found->comm;
      *link = found->next;
      free(found);
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return comm;
}

}  // namespace marline::trace
