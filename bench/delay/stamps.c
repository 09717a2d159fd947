/* SPDX-License-Identifier: Apache-2.0
 *
 * Boards, communicators and counts. See stamps.h.
 *
 * A note is one word: 24 bits of its name's hash above 40 bits of time in units of 64 ns (19 hours; a reader adds the
 * bits above from the present). It is complete in itself, hence relaxed; MPI's message orders it before its reader. One
 * of 2^24 lost notes is taken for another.
 */
#include "stamps.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "delay.h"
#include "links.h"
#include "next.h"

enum { kSlots = 1 << 16, kTimeBits = 40, kTimeShift = 6, kFirstCounts = 1024 };
static const uint64_t kTimeMask = (UINT64_C(1) << kTimeBits) - 1;

typedef _Atomic uint64_t Note;

/* What is known of a communicator: an attribute of it. */
typedef struct Known {
  uint64_t key;      /* the same on all its processes */
  uint64_t children; /* how many communicators have been made of it: collective calls, so the same on all */
  int size;
  int world_ranks[];
} Known;

/* How many messages have gone each way: an open table of (name, count). */
typedef struct Counts {
  uint64_t* names;
  uint64_t* counts;
  size_t capacity;
  size_t used;
} Counts;

static MPI_Win window = MPI_WIN_NULL;
static int keyval = MPI_KEYVAL_INVALID;
static int world_rank;
static Note** boards; /* by rank in MPI_COMM_WORLD; NULL: on another node */

static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;
static Counts sent;
static Counts received;
static _Atomic bool distrusted;

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9E3779B97F4A7C15U + (a << 6) + (a >> 2))) * 0xBF58476D1CE4E5B9U;
  x = (x ^ x >> 29) * 0x94D049BB133111EBU;
  return x ^ x >> 32;
}

/* Communicators ---------------------------------------------------------------------------------------------------- */

static int forget_known(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm;
  (void)key;
  (void)extra;
  free(value);
  return MPI_SUCCESS;
}

static Known* known(MPI_Comm comm) {
  Known* found = NULL;
  int flag = 0;
  if (keyval == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL) return NULL;
  next.Comm_get_attr(comm, keyval, &found, &flag);
  return flag ? found : NULL;
}

static void translate(MPI_Comm comm, Known* about) {
  MPI_Group group;
  MPI_Group world;
  int* ranks = calloc((size_t)about->size, sizeof *ranks);
  if (ranks == NULL) abort();
  for (int i = 0; i < about->size; ++i) ranks[i] = i;
  next.Comm_group(comm, &group);
  next.Comm_group(MPI_COMM_WORLD, &world);
  next.Group_translate_ranks(group, about->size, ranks, world, about->world_ranks);
  next.Group_free(&group);
  next.Group_free(&world);
  free(ranks);
}

static void know(MPI_Comm comm, uint64_t key) {
  int inter = 0;
  int size = 0;
  next.Comm_test_inter(comm, &inter);
  next.Comm_size(comm, &size);
  Known* about = inter ? NULL : malloc(sizeof *about + (size_t)size * sizeof(int));
  if (about == NULL) return;
  *about = (Known){.key = key, .size = size};
  translate(comm, about);
  next.Comm_set_attr(comm, keyval, about);
}

void stamps_adopt(MPI_Comm parent, MPI_Comm child) {
  Known* from = known(parent);
  if (from == NULL) return;
  const uint64_t key = mix(from->key, ++from->children);
  if (child != MPI_COMM_NULL) know(child, key);
}

/* Counts ----------------------------------------------------------------------------------------------------------- */

static size_t slot_of(const Counts* table, uint64_t name) {
  size_t slot = name & (table->capacity - 1);
  while (table->names[slot] != 0 && table->names[slot] != name) slot = (slot + 1) & (table->capacity - 1);
  return slot;
}

static void grow(Counts* table) {
  Counts bigger = {.capacity = table->capacity > 0 ? 4 * table->capacity : kFirstCounts, .used = table->used};
  bigger.names = calloc(bigger.capacity, sizeof *bigger.names);
  bigger.counts = calloc(bigger.capacity, sizeof *bigger.counts);
  if (bigger.names == NULL || bigger.counts == NULL) abort();
  for (size_t i = 0; i < table->capacity; ++i)
    if (table->names[i] != 0) {
      const size_t slot = slot_of(&bigger, table->names[i]);
      bigger.names[slot] = table->names[i];
      bigger.counts[slot] = table->counts[i];
    }
  free(table->names);
  free(table->counts);
  *table = bigger;
}

static uint64_t count_one(Counts* table, uint64_t name) {
  pthread_mutex_lock(&counts_lock);
  if (2 * (table->used + 1) > table->capacity) grow(table);
  const size_t slot = slot_of(table, name);
  table->used += table->names[slot] == 0;
  table->names[slot] = name;
  const uint64_t number = ++table->counts[slot];
  pthread_mutex_unlock(&counts_lock);
  return number;
}

/* Notes ------------------------------------------------------------------------------------------------------------ */

static uint64_t sequence(const Known* comm, int from, int to, int tag) {
  return mix(mix(comm->key, (uint64_t)(uint32_t)tag), (uint64_t)(uint32_t)from << 32 | (uint32_t)to) | 1;
}

static Note* note_of(Note* board, uint64_t stamp) { return &board[stamp % kSlots]; }

static int64_t time_of(int to, int count, MPI_Datatype type) {
  int size = 0;
  if (!links_are_there()) return delay_now();
  next.Type_size(type, &size);
  return links_send(world_rank, to, (int64_t)count * size);
}

void stamps_send(int destination, int tag, MPI_Comm comm, int count, MPI_Datatype type) {
  const Known* about = delay_is_on() && destination >= 0 ? known(comm) : NULL;
  if (delay_is_on() && destination >= 0 && about == NULL)
    links_refuse("messages of a communicator that was made by a rare call");
  if (about == NULL || destination >= about->size) return;
  const int to = about->world_ranks[destination];
  const uint64_t name = sequence(about, world_rank, to, tag);
  const uint64_t stamp = mix(name, count_one(&sent, name));
  if (boards[to] == NULL) return;
  const uint64_t time = (uint64_t)(time_of(to, count, type) >> kTimeShift) + 1; /* rounded up: never too early */
  atomic_store_explicit(note_of(boards[to], stamp), (stamp & ~kTimeMask) | (time & kTimeMask), memory_order_relaxed);
}

uint64_t stamps_receive(int source, int tag, MPI_Comm comm) {
  if (source < 0 || tag < 0) stamps_distrust("a receive from any source or of any tag");
  if (!delay_is_on() || atomic_load_explicit(&distrusted, memory_order_relaxed)) return 0;
  const Known* about = known(comm);
  if (about == NULL || source >= about->size) return 0;
  const uint64_t name = sequence(about, about->world_ranks[source], world_rank, tag);
  return mix(name, count_one(&received, name));
}

void stamps_distrust(const char* call) {
  links_refuse(call);
  atomic_store_explicit(&distrusted, true, memory_order_relaxed);
}

int64_t stamps_read(uint64_t stamp, int64_t now) {
  const uint64_t note = atomic_load_explicit(note_of(boards[world_rank], stamp), memory_order_relaxed);
  if (note == 0 || (note & ~kTimeMask) != (stamp & ~kTimeMask)) return -1;
  const uint64_t present = (uint64_t)(now >> kTimeShift) + 1;
  const int64_t ahead = (int64_t)((note - present) << (64 - kTimeBits)) >> (64 - kTimeBits); /* arrivals may be */
  return ((int64_t)present + ahead) << kTimeShift;
}

/* Start and stop --------------------------------------------------------------------------------------------------- */

static void find_boards(MPI_Comm node) {
  Note* own = NULL;
  MPI_Group of_node;
  MPI_Group of_world;
  int size = 0;
  next.Win_allocate_shared((MPI_Aint)(kSlots * sizeof(Note)), (int)sizeof(Note), MPI_INFO_NULL, node, &own, &window);
  for (size_t i = 0; i < kSlots; ++i) atomic_store_explicit(&own[i], 0, memory_order_relaxed);
  next.Comm_group(node, &of_node);
  next.Comm_group(MPI_COMM_WORLD, &of_world);
  next.Comm_size(node, &size);
  for (int rank = 0; rank < size; ++rank) {
    MPI_Aint bytes = 0;
    int unit = 0;
    int in_world = 0;
    void* board = NULL;
    next.Group_translate_ranks(of_node, 1, &rank, of_world, &in_world);
    next.Win_shared_query(window, rank, &bytes, &unit, &board);
    boards[in_world] = board;
  }
  next.Group_free(&of_node);
  next.Group_free(&of_world);
}

void stamps_start(void) {
  int size = 0;
  MPI_Comm node;
  next.Comm_rank(MPI_COMM_WORLD, &world_rank);
  next.Comm_size(MPI_COMM_WORLD, &size);
  boards = calloc((size_t)size, sizeof(Note*));
  if (boards == NULL) abort();
  next.Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  find_boards(node);
  next.Comm_free(&node);
  next.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_known, &keyval, NULL);
  know(MPI_COMM_WORLD, 1);
  next.Barrier(MPI_COMM_WORLD); /* all boards are empty before the first note */
}

void stamps_stop(void) {
  next.Comm_free_keyval(&keyval);
  next.Win_free(&window);
}
