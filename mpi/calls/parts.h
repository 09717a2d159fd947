/* SPDX-License-Identifier: Apache-2.0
 *
 * The requests of MPI_Waitall, MPI_Waitany and MPI_Waitsome that the poller tests in place of the call. See Several in
 * pending.h.
 */
#ifndef MARLINE_MPI_PARTS_H
#define MARLINE_MPI_PARTS_H

#include <stdbool.h>

#include "engine/engine.h"

/* A call with more open requests than this tests them itself, 64 at a time. */
enum { kMostParts = 8 };

/* Is on the stack of the task that waits. */
typedef struct Parts {
  Several several;
  Pending parts[kMostParts];
  int indices[kMostParts]; /* index of each part in the call's requests */
  MPI_Status* status;      /* for the status of the part that completes, or MPI_STATUS_IGNORE */
  bool are_too_many;       /* there are more open requests than kMostParts: known once parts_add_open() has seen them */
} Parts;

/* `whole` has no parts yet; the functions are described in Several. */
void parts_begin(Parts* parts, Pending* whole, bool (*part_completed)(Several* several, Pending* part),
                 void (*part_failed_too)(Several* several, Pending* part));

/* Whether the request is neither null nor inactive nor complete. */
bool parts_is_open(MPI_Request request);

/* The poller will also test request i of the call. There must be fewer than kMostParts parts. */
void parts_add(Parts* parts, int i, MPI_Request request);

/* Adds all open requests of `requests`. If these are too many, adds none, and does not look at requests any more.
 * Returns true if all open requests are added, and some other requests are neither null nor open: they may have
 * completed since they were last tested. */
bool parts_add_open(Parts* parts, int count, const MPI_Request* requests);

/* The index of `part` in the requests of the call. */
int parts_index(const Parts* parts, const Pending* part);

#endif
