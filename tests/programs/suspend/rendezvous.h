/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a known set of tasks suspend together: each calls rendezvous_meet, and none returns before all have called. On
 * fewer threads than tasks this can only end if every task but the last really leaves its thread.
 */
#ifndef PROGRAMS_RENDEZVOUS_H
#define PROGRAMS_RENDEZVOUS_H

#include "../check.h"
#include <marline/marline.h>

enum { kMeetings = 16, kMembers = 64 };

typedef struct {
  int members;
  int arrived[kMeetings];
  marline_event_t events[kMeetings][kMembers];
} Rendezvous;

static inline void rendezvous_init(Rendezvous* r, int members) {
  memset(r, 0, sizeof *r);
  r->members = members;
  for (int m = 0; m < kMeetings; m++)
    for (int i = 0; i < members; i++) marline_event_init(&r->events[m][i]);
}

static inline void rendezvous_meet(Rendezvous* r, int meeting, int member) {
  if (__atomic_add_fetch(&r->arrived[meeting], 1, __ATOMIC_ACQ_REL) < r->members) {
    marline_event_wait(&r->events[meeting][member]);
    return;
  }
  for (int i = 0; i < r->members; i++)
    if (i != member) marline_event_fulfill(&r->events[meeting][i]);
}

#endif
