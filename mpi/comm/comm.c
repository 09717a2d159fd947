/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers communicators, and finds their entries.
 */
#include "comm/comm.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "comm/key_table.h"

/* How many communicators were made with the same key. */
typedef struct Made Made;
struct Made {
  KeyNode by_key; /* under the lock: in `made` */
  Made* next;     /* the next one of the same parent */
  uint64_t count;
};

typedef struct Comm Comm;
struct Comm {
  KeyNode by_handle;        /* under the lock: in `known` */
  KeyNode by_identity;      /* under the lock: in `known_by_identity` */
  _Atomic(MPI_Comm) handle; /* 0: the entry is free. Written under the lock; release, for find() */
  Comm* next;               /* under the lock: in the list of free entries */
  Made* made;               /* under the lock: the counts of what was made from it */
  CommInfo info;            /* constant while the entry is in use, except the name, which the lock protects */
  int* members;
  _Atomic(CollectiveLog*) log; /* written under the lock, read by threads that hold the communicator or the lock */
  char name[kCommNameBytes];
};

enum { kSelfIdentity = 2, kOfUnknownOrigin = 3 };

/* Taken when a communicator is made, named or freed, and when an unknown one is seen; find() seldom takes it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static KeyTable known;             /* under the lock; find() peeks into it without the lock, and checks what it gets */
static KeyTable known_by_identity; /* under the lock */
static Comm* spare;                /* under the lock */
/* Under the lock. The counts of what was made from a communicator are removed with it. So the table has as many
 * entries as there are different groups and tags of communicators made from an existing parent, and of communicators
 * made without a parent. */
static KeyTable made;
static int key = MPI_KEYVAL_INVALID; /* written once, by comm_start() */
static atomic_bool started;          /* set by comm_start(), release; acquired by threads that read `key` and `world` */
static MPI_Group world;
_Atomic(MPI_Comm) comm_world_known;

/* Identities ------------------------------------------------------------------------------------------------------- */

/* SplitMix64's finalizer (Steele, Lea, Flood 2014), over the hash so far and the next value. */
static uint64_t mix(uint64_t hash, uint64_t value) {
  uint64_t x = (hash ^ value) + UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static uint64_t hash_of(const int* members, int size) {
  uint64_t hash = (uint64_t)size;
  for (int i = 0; i < size; ++i) hash = mix(hash, (uint64_t)members[i]);
  return hash;
}

static void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (memory == NULL) report_fatal("no memory for %zu bytes about a communicator: free some", bytes);
  return memory;
}

/* The ranks in MPI_COMM_WORLD of a group's members, -1 for members that are not in it. Frees the group. */
static int* world_ranks(MPI_Group group, int size) {
  int* ranks = allocate(2 * (size_t)size * sizeof *ranks + 1);
  for (int i = 0; i < size; ++i) ranks[size + i] = i;
  next_mpi.group_translate_ranks(group, size, ranks + size, world, ranks);
  for (int i = 0; i < size; ++i) ranks[i] = ranks[i] == MPI_UNDEFINED ? -1 : ranks[i];
  next_mpi.group_free(&group);
  return ranks;
}

static bool all_in_world(const int* members, int size) {
  for (int i = 0; i < size; ++i)
    if (members[i] < 0) return false;
  return true;
}

/* Fills size, rank and members; `identity` becomes the hash of the members. The two sides of an inter-communicator
 * must agree: a sum of two hashes does not depend on which side is first. Returns false if MPI does not accept the
 * handle. */
static bool look_at(MPI_Comm comm, CommInfo* info, int** members) {
  int is_inter = 0;
  MPI_Group group;
  if (next_mpi.comm_test_inter(comm, &is_inter) != MPI_SUCCESS || next_mpi.comm_group(comm, &group) != MPI_SUCCESS)
    return false;
  next_mpi.comm_size(comm, &info->size);
  next_mpi.comm_rank(comm, &info->rank);
  *members = world_ranks(group, info->size);
  info->identity = hash_of(*members, info->size);
  info->is_agreed = all_in_world(*members, info->size);
  if (is_inter) {
    free(*members);
    next_mpi.comm_remote_size(comm, &info->remote_size);
    next_mpi.comm_remote_group(comm, &group);
    *members = world_ranks(group, info->remote_size);
    info->identity += hash_of(*members, info->remote_size);
    info->is_agreed = info->is_agreed && all_in_world(*members, info->remote_size);
  }
  return true;
}

/* Called under the lock. `parent` may be NULL. */
static uint64_t count_made(Comm* parent, uint64_t of_key) {
  Made* entry = (Made*)key_table_find(&made, of_key); /* by_key is its first member */
  if (entry != NULL) return ++entry->count;
  entry = allocate(sizeof *entry);
  entry->count = 1;
  key_table_add(&made, &entry->by_key, of_key);
  if (parent != NULL) {
    entry->next = parent->made;
    parent->made = entry;
  }
  return 1;
}

/* Called under the lock, when nothing is made from `parent` any more. */
static void forget_made(Comm* parent) {
  while (parent->made != NULL) {
    Made* entry = parent->made;
    parent->made = entry->next;
    key_table_remove(&made, &entry->by_key);
    free(entry);
  }
}

/* Entries ---------------------------------------------------------------------------------------------------------- */

/* Called under the lock. */
static Comm* find_known(MPI_Comm comm) {
  return (Comm*)key_table_find(&known, (uintptr_t)comm); /* by_handle is its first member */
}

/* The caller's communicator is not freed meanwhile, so an entry that has its handle now is the right one, and stays
 * so. */
static Comm* find(MPI_Comm comm) {
  if (comm == (MPI_Comm)0) return NULL;
  /* Acquire: pairs with the release in enter(). */
  Comm* entry = (Comm*)key_table_peek(&known, (uintptr_t)comm);
  if (entry != NULL && atomic_load_explicit(&entry->handle, memory_order_acquire) == comm) return entry;
  if (!atomic_load_explicit(&started, memory_order_acquire)) return NULL;
  pthread_mutex_lock(&lock);
  entry = find_known(comm);
  pthread_mutex_unlock(&lock);
  return entry;
}

/* Called under the lock. Takes ownership of `members`. */
static void enter(MPI_Comm comm, const CommInfo* info, int* members, const char* name) {
  Comm* entry = spare;
  if (entry != NULL)
    spare = entry->next;
  else
    entry = allocate(sizeof *entry);
  entry->info = *info;
  entry->info.comm = comm;
  entry->info.members = entry->members = members;
  entry->info.name = strncpy(entry->name, name, kCommNameBytes - 1);
  if (info->is_agreed && info->size > 1 && info->remote_size == 0)
    entry->info.log = entry->log = allocate(sizeof(CollectiveLog));
  atomic_store_explicit(&entry->handle, comm, memory_order_release); /* pairs with find() */
  key_table_add(&known, &entry->by_handle, (uintptr_t)comm);
  key_table_add(&known_by_identity, &entry->by_identity, info->identity);
}

/* The attribute's delete function, which MPI calls when the communicator is freed. */
static int forget(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  Comm* entry = value;
  pthread_mutex_lock(&lock);
  key_table_remove(&known, &entry->by_handle);
  key_table_remove(&known_by_identity, &entry->by_identity);
  forget_made(entry);
  atomic_store_explicit(&entry->handle, (MPI_Comm)0, memory_order_relaxed);
  free(entry->members);
  free(entry->log);
  entry->members = NULL;
  entry->log = NULL;
  entry->next = spare;
  spare = entry;
  pthread_mutex_unlock(&lock);
  return MPI_SUCCESS;
}

static int copy_nothing(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)value, (void)copy;
  *flag = 0;
  return MPI_SUCCESS;
}

/* `parent` may be NULL; `origin` is its identity, or says where else the communicator comes from. */
static void get_to_know(MPI_Comm comm, Comm* parent, uint64_t origin, int tag, bool is_agreed) {
  CommInfo info = {0};
  int* members = NULL;
  if (!look_at(comm, &info, &members)) return;
  info.is_agreed = info.is_agreed && is_agreed;
  const uint64_t of_key = mix(mix(info.identity, origin), (uint64_t)tag);
  pthread_mutex_lock(&lock);
  const bool is_new = find_known(comm) == NULL; /* two threads may meet an unknown communicator at the same time */
  if (is_new) {
    info.identity = mix(of_key, count_made(parent, of_key));
    enter(comm, &info, members, "");
  }
  Comm* entry = find_known(comm);
  pthread_mutex_unlock(&lock);
  if (is_new)
    next_mpi.comm_set_attr(comm, key, entry);
  else
    free(members);
}

static void enter_predefined(MPI_Comm comm, uint64_t identity, const char* name) {
  CommInfo info = {0};
  int* members = NULL;
  if (!look_at(comm, &info, &members)) return;
  info.identity = identity;
  pthread_mutex_lock(&lock);
  enter(comm, &info, members, name);
  pthread_mutex_unlock(&lock);
}

/* The interface ---------------------------------------------------------------------------------------------------- */

void comm_start(void) {
  const MPI_Comm comm_world = MPI_COMM_WORLD;
  int rank = 0;
  next_mpi.comm_group(comm_world, &world);
  next_mpi.comm_rank(comm_world, &rank);
  next_mpi.comm_create_keyval(copy_nothing, forget, &key, NULL);
  enter_predefined(comm_world, kWorldIdentity, "MPI_COMM_WORLD");
  enter_predefined(MPI_COMM_SELF, mix(kSelfIdentity, (uint64_t)rank), "MPI_COMM_SELF");
  atomic_store_explicit(&comm_world_known, comm_world, memory_order_relaxed);
  atomic_store_explicit(&started, true, memory_order_release);
}

void comm_stop(void) {
  if (!atomic_exchange_explicit(&started, false, memory_order_relaxed)) return;
  next_mpi.comm_free_keyval(&key); /* MPI keeps it as long as a communicator has the attribute */
  next_mpi.group_free(&world);
}

uint64_t comm_identity(MPI_Comm comm) {
  const Comm* entry = find(comm);
  return entry != NULL ? entry->info.identity : 0;
}

int comm_peers(MPI_Comm comm) {
  const Comm* entry = find(comm);
  if (entry == NULL) return 0;
  return entry->info.remote_size > 0 ? entry->info.remote_size : entry->info.size;
}

uint64_t comm_identify(MPI_Comm comm) {
  const Comm* entry = find(comm);
  if (entry == NULL && comm != (MPI_Comm)0 && atomic_load_explicit(&started, memory_order_acquire) &&
      comm != MPI_COMM_NULL) {
    get_to_know(comm, NULL, kOfUnknownOrigin, 0, false);
    entry = find(comm);
  }
  return entry != NULL ? entry->info.identity : 0;
}

void comm_created(int error, MPI_Comm parent, const MPI_Comm* created, int tag) {
  if (error != MPI_SUCCESS || *created == MPI_COMM_NULL || !atomic_load_explicit(&started, memory_order_acquire))
    return;
  Comm* from = parent != (MPI_Comm)0 ? find(parent) : NULL;
  get_to_know(*created, from, from != NULL ? from->info.identity : 0, tag,
              parent == (MPI_Comm)0 || (from != NULL && from->info.is_agreed));
}

int comm_tag_of(const char* string) {
  uint64_t hash = 0;
  for (; *string != '\0'; ++string) hash = mix(hash, (unsigned char)*string);
  return (int)(hash & INT_MAX);
}

void comm_named(int error, MPI_Comm comm, const char* name) {
  Comm* entry = error == MPI_SUCCESS ? find(comm) : NULL;
  if (entry == NULL) return;
  pthread_mutex_lock(&lock);
  strncpy(entry->name, name, kCommNameBytes - 1);
  pthread_mutex_unlock(&lock);
}

CollectiveLog* comm_log(MPI_Comm comm) {
  const Comm* entry = find(comm);
  return entry != NULL ? atomic_load_explicit(&entry->log, memory_order_relaxed) : NULL;
}

void comm_stop_log(MPI_Comm comm) {
  Comm* entry = find(comm);
  if (entry == NULL) return;
  pthread_mutex_lock(&lock);
  entry->info.log = NULL; /* the memory is not freed: a call in progress will write to it */
  atomic_store_explicit(&entry->log, NULL, memory_order_relaxed);
  pthread_mutex_unlock(&lock);
}

/* Called under the lock. */
static const Comm* find_identity(uint64_t identity) {
  KeyNode* node = key_table_find(&known_by_identity, identity);
  return node != NULL ? (const Comm*)((const char*)node - offsetof(Comm, by_identity)) : NULL;
}

CommLogState comm_log_read(uint64_t identity, uint64_t number, LoggedCollective* record) {
  CommLogState state = kLogNotYet;
  pthread_mutex_lock(&lock);
  const Comm* entry = find_identity(identity);
  if (entry != NULL && entry->info.log == NULL)
    state = kLogGone;
  else if (entry != NULL && collective_log_begun(entry->info.log) >= number)
    state = collective_log_read(entry->info.log, number, record) ? kLogRead : kLogGone;
  pthread_mutex_unlock(&lock);
  return state;
}

int* comm_members(uint64_t identity, int* size, char* name) {
  int* members = NULL;
  pthread_mutex_lock(&lock);
  const Comm* entry = find_identity(identity);
  if (entry != NULL) {
    *size = entry->info.size;
    members = allocate((size_t)*size * sizeof *members);
    memcpy(members, entry->members, (size_t)*size * sizeof *members);
    memcpy(name, entry->name, kCommNameBytes);
  }
  pthread_mutex_unlock(&lock);
  return members;
}

typedef struct Visit {
  comm_visit_fn visit;
  void* arg;
} Visit;

static void visit_known(KeyNode* node, void* arg) {
  const Visit* visit = arg;
  visit->visit(&((const Comm*)node)->info, visit->arg);
}

void comm_for_each(comm_visit_fn visit, void* arg) {
  pthread_mutex_lock(&lock);
  key_table_for_each(&known, visit_known, &(Visit){visit, arg});
  pthread_mutex_unlock(&lock);
}
