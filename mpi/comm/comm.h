/* SPDX-License-Identifier: Apache-2.0
 *
 * The communicators that this process knows: an identity that is the same on all processes of a communicator, its
 * members, and its name.
 *
 * The identity costs no message. It is a hash of the parent communicator, of the members, and of how many communicators
 * the same members have made from the same parent before. Making a communicator is collective over its members, so all
 * members count alike. If it is not known how a communicator was made (MPI_Comm_idup, processes of two worlds), the
 * processes may count differently: then its identity is valid in this process only, and `is_agreed` is false.
 *
 * An entry is found by the communicator's handle and goes with it, as an attribute of the communicator whose deletion
 * takes the entry out. Entries are reused but never freed. So a reader may read a stale entry; it sees that the entry
 * is for another handle, and continues. MPI is never called under the lock here, because MPI calls back under its own
 * locks.
 */
#ifndef MARLINE_MPI_COMM_H
#define MARLINE_MPI_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mpi_library.h"
#include "comm/collective_log.h"

enum { kCommNameBytes = 64 };

typedef struct CommInfo {
  MPI_Comm comm;
  uint64_t identity;
  bool is_agreed;           /* the identity is the same on all processes */
  int size;                 /* of the group of this process */
  int rank;                 /* of this process in it */
  int remote_size;          /* 0: no inter-communicator */
  const int* members;       /* ranks in MPI_COMM_WORLD, -1: not there; of the remote group of an inter-communicator */
  const char* name;         /* that the program gave it, or one of the predefined; else "" */
  const CollectiveLog* log; /* of its collective calls; NULL: none is kept */
} CommInfo;

/* After MPI_Init, before the program can make a communicator. */
void comm_start(void);

/* Before MPI_Finalize: gives back what comm_start() has of MPI. No communicator is got to know any more. */
void comm_stop(void);

/* The identity of a communicator that is not freed meanwhile; 0 for MPI_COMM_NULL, before MPI_Init, and for one that is
 * not known. A few nanoseconds; any thread. */
uint64_t comm_identity(MPI_Comm comm);

/* How many ranks one may send to in it; 0 if it is not known. As comm_identity(). */
int comm_peers(MPI_Comm comm);

/* As comm_identity(), and gets to know one that is not known yet, by calls of MPI. `comm` is a valid handle, or null.
 */
uint64_t comm_identify(MPI_Comm comm);

/* What the wrapper of a call that makes communicators says: `made` is from `parent` (0: from no communicator in
 * particular), if `error` is MPI_SUCCESS. `tag` tells apart what is made at the same time. */
void comm_created(int error, MPI_Comm parent, const MPI_Comm* made, int tag);

/* A number for a tag that is a string (MPI 4.0, 7.4.2: MPI_Comm_create_from_group). */
int comm_tag_of(const char* string);

/* What MPI_Comm_set_name's wrapper says. */
void comm_named(int error, MPI_Comm comm, const char* name);

/* Its log of collective calls, for the thread that makes one; NULL for those whose logs could not be compared between
 * processes: of one process, inter-communicators, and where not all agree on the identity. */
CollectiveLog* comm_log(MPI_Comm comm);

/* From now on the communicator's collectives are not the same calls on all processes: no log any more. */
void comm_stop_log(MPI_Comm comm);

/* Entry `number` in the log of a communicator that another thread may free meanwhile. */
typedef enum CommLogState { kLogNotYet, kLogGone, kLogRead } CommLogState;
CommLogState comm_log_read(uint64_t identity, uint64_t number, LoggedCollective* record);

/* The members of such a communicator, which the caller frees, and its name, with room for kCommNameBytes; NULL if there
 * is no such communicator. */
int* comm_members(uint64_t identity, int* size, char* name);

/* Calls visit(info, arg) for each known communicator, under the lock: visit calls neither MPI nor functions of this
 * header, and keeps no pointer. Any thread. */
typedef void (*comm_visit_fn)(const CommInfo* info, void* arg);
void comm_for_each(comm_visit_fn visit, void* arg);

#endif
