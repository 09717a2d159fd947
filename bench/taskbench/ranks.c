/* SPDX-License-Identifier: Apache-2.0
 *
 * Start and end of MPI, the collectives for main.c, and the lists of messages. Errors of MPI itself end the program:
 * the communicator keeps MPI_ERRORS_ARE_FATAL.
 */
#include "ranks.h"

#include <stdlib.h>

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static uint64_t sum(uint64_t value) {
  uint64_t total;
  MPI_Allreduce(&value, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

static double largest(double value) {
  double most;
  MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

const struct Ranks* ranks_start(int* argc, char*** argv, int level) {
  static struct Ranks ranks = {0, 1, barrier, sum, largest};
  int provided;
  MPI_Init_thread(argc, argv, level, &provided);
  if (provided < level) fail("MPI provides thread level %d, this driver needs %d", provided, level);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  return &ranks;
}

int ranks_finish(int status) {
  MPI_Finalize();
  return status;
}

/* Of each column, which ranks other than its owner read it in a step of this phase. */
static void mark_readers(const struct Bench* bench, long phase, const int32_t* owners, int ranks, bool* reads) {
  const struct Graph* graph = &bench->options.graph;
  for (long i = 0; i < graph_width_at(graph, phase); ++i) {
    long count;
    const int32_t* inputs = plan_inputs(&bench->plan, phase, i, &count);
    for (long k = 0; k < count; ++k) reads[(long)inputs[k] * ranks + owners[i]] = owners[inputs[k]] != owners[i];
  }
}

static void append(struct Messages* messages, long column, int peer) {
  if ((messages->count & (messages->count - 1)) == 0) { /* full: grows at the powers of two */
    size_t room = messages->count ? 2 * (size_t)messages->count : 1;
    messages->at = realloc(messages->at, room * sizeof *messages->at);
    if (!messages->at) fail("cannot allocate the list of %zu messages: take a smaller --width", room);
  }
  messages->at[messages->count++] = (struct Message){(int32_t)column, peer};
}

static void list_messages(struct Exchange* exchange, const struct Bench* bench, const int32_t* owners, int rank,
                          int ranks) {
  long width = bench->options.graph.width;
  for (long phase = 1; phase < exchange->phases; ++phase) {
    bool* reads = allocate((size_t)(width * ranks) * sizeof *reads);
    mark_readers(bench, phase, owners, ranks, reads);
    for (long j = 0; j < width; ++j) {
      for (int peer = 0; owners[j] == rank && peer < ranks; ++peer)
        if (reads[j * ranks + peer]) append(&exchange->sends[phase], j, peer);
      if (reads[j * ranks + rank]) append(&exchange->receives[phase], j, owners[j]);
    }
    free(reads);
    long count = exchange->sends[phase].count + exchange->receives[phase].count;
    if (count > exchange->most) exchange->most = count;
  }
}

static void check_tags(const struct Bench* bench) {
  int *most, known;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &known);
  long needed = bench->options.slots * bench->options.graph.width - 1;
  if (!known || needed > *most)
    fail("needs message tags up to %ld, more than MPI has: take smaller --width or --slots", needed);
}

void exchange_build(struct Exchange* exchange, const struct Bench* bench) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check_tags(bench);
  long width = bench->options.graph.width;
  int32_t* owners = allocate((size_t)width * sizeof *owners);
  for (int r = 0; r < ranks; ++r)
    for (long i = r * width / ranks; i < (r + 1) * width / ranks; ++i) owners[i] = r;
  exchange->first = rank * width / ranks;
  exchange->last = (rank + 1) * width / ranks;
  exchange->phases = bench->plan.phases;
  exchange->sends = allocate((size_t)exchange->phases * sizeof *exchange->sends);
  exchange->receives = allocate((size_t)exchange->phases * sizeof *exchange->receives);
  exchange->most = 0;
  list_messages(exchange, bench, owners, rank, ranks);
  free(owners);
}

void exchange_free(struct Exchange* exchange) {
  for (long phase = 0; phase < exchange->phases; ++phase) {
    free(exchange->sends[phase].at);
    free(exchange->receives[phase].at);
  }
  free(exchange->sends);
  free(exchange->receives);
}

int exchange_start_receives(const struct Exchange* exchange, const struct Bench* bench, long t, MPI_Request* requests) {
  struct Messages receives = exchange_of(exchange->receives, bench, t);
  for (long k = 0; k < receives.count; ++k) {
    struct Message message = receives.at[k];
    MPI_Irecv(bench_cell(bench, t, message.column), (int)bench->options.output_bytes, MPI_BYTE, message.peer,
              exchange_tag(bench, t, message.column), MPI_COMM_WORLD, &requests[k]);
  }
  return (int)receives.count;
}

int exchange_start_sends(const struct Exchange* exchange, const struct Bench* bench, long t, MPI_Request* requests) {
  struct Messages sends = exchange_of(exchange->sends, bench, t);
  for (long k = 0; k < sends.count; ++k) exchange_start_send(bench, t, sends.at[k], &requests[k]);
  return (int)sends.count;
}
