/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts that the MPI drivers share: which rank owns which column, and which outputs are sent to which rank. Each
 * rank owns a block of columns. An output is sent once to each rank that reads it, directly between the cells of both
 * ranks: every rank allocates all cells, and uses the cells of its own columns and of the columns that it reads. Made
 * by the main thread of each rank, then only read.
 */
#ifndef MARLINE_TASKBENCH_RANKS_H
#define MARLINE_TASKBENCH_RANKS_H

#include <mpi.h>

#include "driver.h"

struct Message {
  int32_t column;
  int32_t peer;
};

/* Ascending columns. */
struct Messages {
  struct Message* at;
  long count;
};

struct Exchange {
  long first, last; /* own columns: first .. last - 1 */
  long phases;
  struct Messages *sends, *receives; /* [phase]: messages with the outputs that a step of this phase reads */
  long most;                         /* sends and receives of one step */
};

/* Initializes MPI with at least this thread level, or fails. */
const struct Ranks* ranks_start(int* argc, char*** argv, int level);
/* Passes the program's exit status on. */
int ranks_finish(int status);

void exchange_build(struct Exchange* exchange, const struct Bench* bench);
void exchange_free(struct Exchange* exchange);

/* Messages with outputs of step t; there are none after the last step. */
static inline struct Messages exchange_of(const struct Messages* of_phases, const struct Bench* bench, long t) {
  if (t + 1 >= bench->options.graph.steps) return (struct Messages){0};
  return of_phases[bench_phase(bench, t + 1)];
}

/* Unique as long as a cell keeps its output: the same tag is used again only after that. */
static inline int exchange_tag(const struct Bench* bench, long t, long column) {
  return (int)((t & (bench->options.slots - 1)) * bench->options.graph.width + column);
}

/* Own columns that exist in step t end before this one. */
static inline long exchange_last_at(const struct Exchange* exchange, const struct Bench* bench, long t) {
  long width = graph_width_at(&bench->options.graph, t);
  return width < exchange->last ? width : exchange->last;
}

/* Starts all receives, and all sends, of outputs of step t; the number of requests added. */
int exchange_start_receives(const struct Exchange* exchange, const struct Bench* bench, long t, MPI_Request* requests);
int exchange_start_sends(const struct Exchange* exchange, const struct Bench* bench, long t, MPI_Request* requests);

static inline void exchange_start_send(const struct Bench* bench, long t, struct Message message,
                                       MPI_Request* request) {
  MPI_Isend(bench_cell(bench, t, message.column), (int)bench->options.output_bytes, MPI_BYTE, message.peer,
            exchange_tag(bench, t, message.column), MPI_COMM_WORLD, request);
}

#endif
