/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of MPI that a task waits for, as the task fills it and the poller completes it.
 *
 * A Pending lives on the stack of the task that waits. The task fills it and posts it. From then on the poller owns it,
 * until the poller fulfils the event. After that the task owns it again, and it may no longer exist.
 */
#ifndef MARLINE_MPI_PENDING_H
#define MARLINE_MPI_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/call.h"
#include "base/mpi_library.h"
#include "engine/gate.h"
#include "marline/marline.h"

/* How many requests one look at a call for several requests may test, because a poll must not take long. */
enum { kRequestsPerLook = 64 };

typedef struct Several Several;

typedef struct Pending {
  struct Pending* next; /* used by the poller, once posted */
  marline_event_t event;
  /* Tests the call, and keeps the result if there is one. NULL for a single request: such requests are tested many
   * at a time. Called by the poller; must not block. */
  bool (*finished)(struct Pending* pending);
  /* A single request. The poller leaves in it what MPI does: MPI_REQUEST_NULL, or the now inactive persistent one. */
  MPI_Request request;
  MPI_Status* status;
  int error;
  const MpiCall* call; /* describes the call */
  bool is_probe;       /* the poller may look for its message by `call` (probes.h) */
  bool cancelled;      /* used by the poller: MPI_Cancel has been called for the request */
  int place;           /* used by the poller: its index among the requests that are tested */
  uint64_t seen;       /* when the poller found it complete; 0 unless times are taken (counters.h) */
  /* Called by the poller in place of fulfilling the event, for a caller that does not wait. The poller does not
   * touch the Pending afterwards. Must not block; may post again. */
  void (*completed)(struct Pending* pending);
  Gate gate;        /* for a thread that waits and cannot suspend */
  Several* several; /* of a call that waits for several requests, and of each of its parts; or NULL */
} Pending;

/* Requests that the poller tests in place of a call: together with the single requests of all tasks, many in one
 * call of MPI, which costs a tenth of testing each call by itself. They are active, and not null. The poller calls
 * the functions, which must not block. */
struct Several {
  Pending* whole;
  Pending* parts; /* `request`, `status`, `call` and `several` are set */
  int count;      /* 0: the poller calls whole->finished(), which may put parts here and return false */
  /* A part has completed, and the poller tests none any more. Returns true if the call has its result; otherwise the
   * poller goes on as after whole->finished(). */
  bool (*part_completed)(Several* several, Pending* part);
  /* Called after part_completed, for each other part that MPI has ended at the same time with an error. The part has
   * no status. Not called for a call with one part at a time. */
  void (*part_failed_too)(Several* several, Pending* part);
};

#endif
