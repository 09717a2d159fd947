/* SPDX-License-Identifier: Apache-2.0
 *
 * The form with blocking messages in tasks; and the tasks that compute, which the form with detached tasks shares
 * (compute.h).
 *
 * The blocks at the edge and the messages have a priority: all else waits for them, one iteration after the other,
 * while the blocks inside can be worked on in the meantime. Every kind of task has a function of its own, so that the
 * code address which a tool sees at its creation names it. All are untied, and keep nothing thread-local across a call.
 */
#include <mpi.h>

#include "compute.h"

double* message_block(const Grid* grid, int iteration, const Message* message) {
  const int edge = message->upper ? 1 : grid->blocks;
  const int beyond = message->upper ? 0 : grid->blocks + 1;
  return grid_block(grid, iteration, message->sends ? edge : beyond);
}

/* No default(none) in these two: Open MPI's handles are the addresses of global variables. */
__attribute__((noinline)) static void task_send(const Work* work, int iteration, const Message* message) {
  const double* row = grid_edge(work->grid, iteration, message->upper);
  const int columns = work->grid->columns, to = message->neighbour, tag = message->tag;
#pragma omp task untied firstprivate(row, columns, to, tag) priority(1) \
    depend(in : message_block(work -> grid, iteration, message)[0])
  MPI_Send(row, columns, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void task_recv(const Work* work, int iteration, const Message* message) {
  double* row = grid_halo(work->grid, iteration, message->upper);
  const int columns = work->grid->columns, from = message->neighbour, tag = message->tag;
#pragma omp task untied firstprivate(row, columns, from, tag) priority(1) \
    depend(out : message_block(work -> grid, iteration, message)[0])
  MPI_Recv(row, columns, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* What a block is made of, and where it goes. */
#define NEEDS(grid, iteration, block)                                               \
  grid_block(grid, iteration, block - 1)[0], grid_block(grid, iteration, block)[0], \
      grid_block(grid, iteration, block + 1)[0]
#define MAKES(grid, iteration, block) grid_block(grid, iteration + 1, block)[0]

__attribute__((noinline)) static void task_edge(const Grid* grid, int iteration, int block) {
#pragma omp task untied default(none) firstprivate(grid, iteration, block) priority(1) \
    depend(in : NEEDS(grid, iteration, block)) depend(out : MAKES(grid, iteration, block))
  grid_compute(grid, iteration, block);
}

__attribute__((noinline)) static void task_inside(const Grid* grid, int iteration, int block) {
#pragma omp task untied default(none) firstprivate(grid, iteration, block) depend(in : NEEDS(grid, iteration, block)) \
    depend(out : MAKES(grid, iteration, block))
  grid_compute(grid, iteration, block);
}

void create_tasks(const Work* work, MessageTask send, MessageTask receive) {
  const Grid* grid = work->grid;
  for (int iteration = work->first; iteration < work->last; ++iteration) {
    Message messages[kMostMessages];
    const int count = exchange_messages(work->ranks, work->rank, kPlanes, iteration, messages);
    for (int i = 0; i < count; ++i) {
      (messages[i].sends ? send : receive)(work, iteration, &messages[i]);
    }
    for (int block = 1; block <= grid->blocks; ++block) {
      (block == 1 || block == grid->blocks ? task_edge : task_inside)(grid, iteration, block);
    }
  }
}

void tasks_run(const Work* work) {
#pragma omp parallel default(none) shared(work)
#pragma omp single
  create_tasks(work, task_send, task_recv);
}
