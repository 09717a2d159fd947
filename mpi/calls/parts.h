/* SPDX-License-Identifier: Apache-2.0
 *
 * The requests of MPI_Waitall, MPI_Waitany and MPI_Waitsome that the poller asks about in the call's place. See Several
 * in engine.h.
 */
#ifndef MARLINE_MPI_PARTS_H
#define MARLINE_MPI_PARTS_H

#include <stdbool.h>

#include "engine/engine.h"

/* A call with more open requests than these asks for them itself, 64 at a time. */
enum { kMostParts = 8 };

/* Lies on the stack of the task that waits. */
typedef struct Parts {
  Several several;
  Pending parts[kMostParts];
  int indices[kMostParts]; /* of the parts, in the call's requests */
  MPI_Status* status;      /* for that of the one that completes, or MPI_STATUS_IGNORE */
  bool are_too_many;       /* open requests for this: known once parts_add_open() has met them */
} Parts;

/* `whole` has no parts yet; the functions are as in Several. */
void parts_begin(Parts* parts, Pending* whole, bool (*part_completed)(Several* several, Pending* part),
                 void (*part_failed_too)(Several* several, Pending* part));

/* Neither null nor inactive nor complete. */
bool parts_is_open(MPI_Request request);

/* The poller will ask about request i of the call, too. There are fewer than kMostParts. */
void parts_add(Parts* parts, int i, MPI_Request request);

/* All open ones of `requests`, unless these are too many: none then, and no request is looked at again. True if all are
 * there, and some are neither null nor open: they may have completed since they were last asked about. */
bool parts_add_open(Parts* parts, int count, const MPI_Request* requests);

/* Which request of the call `part` is. */
int parts_index(const Parts* parts, const Pending* part);

#endif
