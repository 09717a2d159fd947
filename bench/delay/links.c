/* SPDX-License-Identifier: Apache-2.0
 *
 * See links.h. Of each direction between two nodes a word in shared memory says until when it is busy. A word is moved
 * by compare and swap and read alone; MPI's message orders it before the receiver, hence relaxed.
 */
#include "links.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link_speed.h"
#include "next.h"
#include "now.h"

typedef _Atomic uint64_t Busy;

static int ranks;
static int rank;
static int* node_of; /* by rank: the lowest rank on its node */
static Link* links;  /* by node and node */
static Busy* busy;   /* by node and node; shared by all processes */
static int64_t latency;
static MPI_Win window = MPI_WIN_NULL;
static char* names;
static _Atomic bool in_force; /* written by the thread that calls MPI_Pcontrol, read by all: relaxed */

/* By all ranks alike. None ends the job before the first one's line is written. */
static void refuse(const char* text, const char* value) {
  if (rank == 0) fprintf(stderr, "mpi-delay: %s%s\n", text, value);
  next.Barrier(MPI_COMM_WORLD);
  next.Abort(MPI_COMM_WORLD, 2);
}

/* Names ------------------------------------------------------------------------------------------------------------ */

/* Cuts the list into a name for each rank; `apart` is a node for each. */
static char** cut_names(const char* list) {
  char** name = calloc((size_t)ranks, sizeof *name);
  enum { kDigits = 12 };
  names = strcmp(list, "apart") == 0 ? malloc((size_t)ranks * kDigits) : strdup(list);
  if (name == NULL || names == NULL) abort();
  if (strcmp(list, "apart") == 0) {
    for (int i = 0; i < ranks; ++i) {
      name[i] = names + (ptrdiff_t)i * kDigits;
      snprintf(name[i], kDigits, "%d", i);
    }
    return name;
  }
  int count = 0;
  char* rest = names;
  for (char* each = strsep(&rest, ","); each != NULL; each = strsep(&rest, ","), ++count)
    if (count < ranks) name[count] = each;
  if (count != ranks) refuse("MPI_NODES_AS names more or fewer nodes than there are ranks: ", list);
  return name;
}

static void read_links(const char* text, char** name) {
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to) {
      Link* link = &links[from * ranks + to];
      if (node_of[from] == node_of[to]) continue;
      const char* wrong = link_read(text, name[from], name[to], link);
      if (wrong != NULL) refuse("MPI_LINK is not latency=TIME,bandwidth=BYTES from here on: ", wrong);
      latency = (int64_t)link->latency > latency ? (int64_t)link->latency : latency;
    }
}

static void find_nodes(char** name) {
  for (int i = 0; i < ranks; ++i)
    while (strcmp(name[node_of[i]], name[i]) != 0) ++node_of[i];
}

/* Shared memory ---------------------------------------------------------------------------------------------------- */

static void share(void) {
  MPI_Comm machine;
  MPI_Aint bytes = 0;
  int here = 0;
  int unit = 0;
  const size_t words = (size_t)ranks * (size_t)ranks;
  next.Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  next.Comm_size(machine, &here);
  if (here != ranks) refuse("MPI_LINK delays only links between processes of one machine", "");
  next.Win_allocate_shared(rank == 0 ? (MPI_Aint)(words * sizeof(Busy)) : 0, (int)sizeof(Busy), MPI_INFO_NULL, machine,
                           &busy, &window);
  next.Win_shared_query(window, 0, &bytes, &unit, &busy);
  for (size_t i = 0; rank == 0 && i < words; ++i) atomic_store_explicit(&busy[i], 0, memory_order_relaxed);
  next.Barrier(machine); /* all words are there before the first message */
  next.Comm_free(&machine);
}

void links_start(void) {
  const char* text = getenv("MPI_LINK");
  const char* list = getenv("MPI_NODES_AS");
  if (text == NULL || *text == '\0') return;
  next.Comm_rank(MPI_COMM_WORLD, &rank);
  next.Comm_size(MPI_COMM_WORLD, &ranks);
  if (getenv("MPI_DELAY_US") != NULL) refuse("MPI_LINK and MPI_DELAY_US exclude each other", "");
  if (list == NULL || *list == '\0') refuse("MPI_LINK needs MPI_NODES_AS, a name for each rank's node, or `apart`", "");
  node_of = calloc((size_t)ranks, sizeof *node_of);
  links = calloc((size_t)ranks * (size_t)ranks, sizeof *links);
  if (node_of == NULL || links == NULL) abort();
  char** name = cut_names(list);
  find_nodes(name);
  read_links(text, name);
  free(name);
  share();
  links_switch(true);
}

void links_stop(void) {
  if (!links_are_there()) return;
  links_switch(false);
  next.Win_free(&window);
}

/* Messages --------------------------------------------------------------------------------------------------------- */

bool links_are_there(void) { return links != NULL; }

void links_switch(bool on) { atomic_store_explicit(&in_force, on && links_are_there(), memory_order_relaxed); }

static bool are_slow(void) { return atomic_load_explicit(&in_force, memory_order_relaxed); }

static size_t place_of(int from, int to) { return (size_t)(node_of[from] * ranks + node_of[to]); }

int64_t links_send(int from, int to, int64_t bytes) {
  const int64_t now = delay_now();
  if (!are_slow() || node_of[from] == node_of[to]) return now;
  const Link* link = &links[(size_t)(from * ranks + to)];
  return (int64_t)link_pass(link, &busy[place_of(from, to)], (uint64_t)now, (uint64_t)bytes);
}

int64_t links_last(void) {
  int64_t last = delay_now();
  for (int from = 0; are_slow() && from < ranks; ++from) {
    const uint64_t until = atomic_load_explicit(&busy[place_of(from, rank)], memory_order_relaxed);
    last = (int64_t)until > last ? (int64_t)until : last;
  }
  return last + links_latency();
}

int64_t links_latency(void) { return are_slow() ? latency : 0; }

void links_refuse(const char* what) {
  if (!links_are_there()) return;
  fprintf(stderr, "mpi-delay: MPI_LINK cannot time %s; bench/delay/README.md says what it can\n", what);
  next.Abort(MPI_COMM_WORLD, 2);
}
