/* SPDX-License-Identifier: Apache-2.0
 *
 * Polls MPI for the probes of tasks.
 *
 * A few probes of a communicator are tested one by one. For more of them, one MPI_Iprobe for any message shows that no
 * message has come, or which message is the first, and the probe for that message is looked up here. (This is not done
 * for a few probes, because an implementation may look at each rank for it.) A first message that no probe is for hides
 * the other messages: then some probes are tested one by one, in turn.
 */
#include "engine/probes.h"

#include <stdlib.h>

#include "base/report.h"

/* Communicators at a time; probes on other communicators are tested one by one (open_calls.c). */
enum { kCommunicators = 8, kFirstCapacity = 64, kFew = 4, kInTurn = 24, kMostHits = 16 };

typedef struct Probe {
  int peer;
  int tag;
  Pending* call;
} Probe;

/* The probes of one communicator; unused if count is 0. A probe that leaves is replaced by the last one. */
typedef struct Group {
  MPI_Comm comm;
  Probe* probes;
  int count;
  int capacity;
  int place; /* where the last probe was found: its neighbours mostly come next */
  int turn;  /* the next probe to be tested in turn */
} Group;

static Group groups[kCommunicators];
static int probe_count; /* of all groups: if there are none, a poll does not look at the groups */

static Group* group_of(MPI_Comm comm) {
  Group* unused = NULL;
  for (Group* group = groups; group < groups + kCommunicators; ++group) {
    if (group->count == 0)
      unused = group;
    else if (group->comm == comm)
      return group;
  }
  if (unused != NULL) unused->comm = comm;
  return unused;
}

static void grow(Group* group) {
  const int capacity = group->capacity > 0 ? 2 * group->capacity : kFirstCapacity;
  group->probes = realloc(group->probes, (size_t)capacity * sizeof *group->probes);
  if (group->probes == NULL)
    report_fatal("no memory for %d tasks in MPI_Probe: let fewer tasks wait at a time", capacity);
  group->capacity = capacity;
}

bool probes_put(Pending* probe) {
  Group* group = group_of(probe->call->comm);
  if (group == NULL) return false;
  if (group->count == group->capacity) grow(group);
  ++probe_count;
  group->probes[group->count++] = (Probe){.peer = probe->call->peer, .tag = probe->call->tag, .call = probe};
  return true;
}

/* Returns true if probe i has its result, or an error: then it is taken out and reported. */
static bool ask(Group* group, int i, void (*report)(Pending* probe)) {
  Pending* call = group->probes[i].call;
  if (!call->finished(call)) return false;
  --probe_count;
  group->probes[i] = group->probes[--group->count];
  report(call);
  return true;
}

/* Returns the next probe, from group->place on, that is for the message; -1: none is. */
static int find(const Group* group, const MPI_Status* message) {
  for (int looked = 0, i = group->place; looked < group->count; ++looked, ++i) {
    if (i >= group->count) i = 0;
    const Probe* probe = &group->probes[i];
    if ((probe->peer == MPI_ANY_SOURCE || probe->peer == message->MPI_SOURCE) &&
        (probe->tag == MPI_ANY_TAG || probe->tag == message->MPI_TAG))
      return i;
  }
  return -1;
}

static void ask_in_turn(Group* group, void (*report)(Pending* probe)) {
  const int most = group->count < kInTurn ? group->count : kInTurn;
  for (int asked = 0; asked < most && group->count > 0; ++asked) {
    if (group->turn >= group->count) group->turn = 0;
    if (!ask(group, group->turn, report)) ++group->turn;
  }
}

static void poll_group(Group* group, void (*report)(Pending* probe)) {
  if (group->count <= kFew) {
    ask_in_turn(group, report);
    return;
  }
  for (int hits = 0; hits < kMostHits && group->count > 0; ++hits) {
    int flag = 0;
    MPI_Status message;
    const int error = next_mpi.iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, group->comm, &flag, &message);
    if (error == MPI_SUCCESS && !flag) return;
    const int i = error == MPI_SUCCESS ? find(group, &message) : -1;
    if (i >= 0) group->place = i;
    if (i < 0 || !ask(group, i, report)) {
      ask_in_turn(group, report);
      return;
    }
  }
}

void probes_poll(void (*report)(Pending* probe)) {
  for (Group* group = groups; probe_count > 0 && group < groups + kCommunicators; ++group) {
    if (group->count > 0) poll_group(group, report);
  }
}

void probes_clear(void) {
  for (Group* group = groups; group < groups + kCommunicators; ++group) {
    free(group->probes);
    *group = (Group){0};
  }
  probe_count = 0;
}
