/* SPDX-License-Identifier: Apache-2.0
 *
 * The communicators that this process knows: an identity that is the same on all processes of a communicator, its
 * members, and its name.
 *
 * The identity costs no message. It is a hash of the parent communicator, of the members, and of how many communicators
 * the same members have made from the same parent before. Making a communicator is collective over its members, so all
 * members count alike. If it is not known how a communicator was made (MPI_Comm_idup, processes of two worlds), the
 * processes may count differently: then the identity is valid in this process only, and `is_agreed` is false.
 *
 * An entry is found by the communicator's handle and is removed with the communicator: it is the value of an attribute,
 * and the attribute's delete function removes the entry. Entries are reused but never freed. So a reader may read a
 * stale entry; it sees that the entry is for another handle, and continues. MPI is never called under the lock here,
 * because MPI calls back under its own locks.
 */
#ifndef MARLINE_MPI_COMM_H
#define MARLINE_MPI_COMM_H

#include <stdatomic.h>
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
  int remote_size;          /* 0: it is no inter-communicator */
  const int* members;       /* ranks in MPI_COMM_WORLD, -1: not in it; for an inter-communicator, of the remote group */
  const char* name;         /* given by the program, or of a predefined communicator; else "" */
  const CollectiveLog* log; /* of its collective calls; NULL: none is kept */
} CommInfo;

/* After MPI_Init, before the program can make a communicator. */
void comm_start(void);

/* Before MPI_Finalize: frees the MPI objects of comm_start(). Later, unknown communicators stay unknown. */
void comm_stop(void);

/* The identity of a communicator that is not freed meanwhile; 0 for MPI_COMM_NULL, before MPI_Init, and for an
 * unknown communicator. Takes a few nanoseconds; any thread. */
uint64_t comm_identity(MPI_Comm comm);

/* The handle of MPI_COMM_WORLD from comm_start() on, for ever; 0 before. Most calls have it. Any thread. */
extern __attribute__((visibility("hidden"))) _Atomic(MPI_Comm) comm_world_known;
enum { kWorldIdentity = 1 };

/* comm_identity() without a call for MPI_COMM_WORLD. Relaxed: an identity needs no other data. */
static inline uint64_t comm_identity_quick(MPI_Comm comm) {
  if (comm != (MPI_Comm)0 && comm == atomic_load_explicit(&comm_world_known, memory_order_relaxed))
    return kWorldIdentity;
  return comm_identity(comm);
}

/* To how many ranks one may send in the communicator; 0 if it is not known. Otherwise the same as comm_identity(). */
int comm_peers(MPI_Comm comm);

/* The same as comm_identity(), but registers an unknown communicator, by calls of MPI. `comm` is a valid handle, or
 * null. */
uint64_t comm_identify(MPI_Comm comm);

/* Called by the wrapper of a call that makes communicators: `made` is made from `parent` (0: from no communicator in
 * particular), if `error` is MPI_SUCCESS. `tag` distinguishes communicators that are made at the same time. */
void comm_created(int error, MPI_Comm parent, const MPI_Comm* made, int tag);

/* A number for a tag that is a string (MPI 4.0, 7.4.2: MPI_Comm_create_from_group). */
int comm_tag_of(const char* string);

/* Called by the wrapper of MPI_Comm_set_name. */
void comm_named(int error, MPI_Comm comm, const char* name);

/* The communicator's log of collective calls, for the thread that makes one. NULL if logs cannot be compared between
 * processes: the communicator has one process, is an inter-communicator, or not all processes agree on its identity. */
CollectiveLog* comm_log(MPI_Comm comm);

/* From now on the collectives of the communicator are not the same calls on all processes: it has no log any more. */
void comm_stop_log(MPI_Comm comm);

/* Reads entry `number` in the log of a communicator that another thread may free meanwhile. */
typedef enum CommLogState { kLogNotYet, kLogGone, kLogRead } CommLogState;
CommLogState comm_log_read(uint64_t identity, uint64_t number, LoggedCollective* record);

/* The members of such a communicator, which the caller frees, and its name, with room for kCommNameBytes. Returns
 * NULL if there is no such communicator. */
int* comm_members(uint64_t identity, int* size, char* name);

/* Calls visit(info, arg) for each known communicator, under the lock: visit calls neither MPI nor functions of this
 * header, and keeps no pointer. Any thread. */
typedef void (*comm_visit_fn)(const CommInfo* info, void* arg);
void comm_for_each(comm_visit_fn visit, void* arg);

#endif
