/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives of concurrent tasks, one thread per rank, so that the order in which a rank begins them is the program's:
 * the second task of a pair goes on when the first has called. The first argument says what happens on the last rank:
 *
 *   unlike    it begins a broadcast before an allreduce, the others the allreduce first
 *   like      two allreduces of different lines in the other order: they match, and exchange wrong data
 *   one_rank  as `like`, but only this rank's tasks are concurrent: the tasks of other ranks depend on each other
 *   made      as `unlike`, on a communicator that was split from a duplicate
 *   joined    as `unlike`, on a communicator that was merged from those of MPI_Comm_accept and MPI_Comm_connect
 *   right     nothing: calls in progress at once, in one order; communicators in different orders; root and others
 *             calling from different lines, and lines that take turns. Nothing must be reported.
 */
#include <string.h>

#include "support.h"

/* Lets another task run until *flag is set. */
static void wait_for(const int* flag) {
  while (!__atomic_load_n(flag, __ATOMIC_RELAXED)) {
#pragma omp taskyield
  }
}

static void say(int* flag) { __atomic_store_n(flag, 1, __ATOMIC_RELAXED); }

static void sum_of_ranks(MPI_Comm comm) {
  int sum = 0;
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static void sum_of_ones(MPI_Comm comm) {
  int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static void broadcast(MPI_Comm comm) {
  int value = world_rank; /* as long as the others' data, so that MPI itself does not notice */
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
}

static volatile int place; /* written after calls that the compiler would make one of */

static void broadcast_elsewhere(MPI_Comm comm) {
  int value = 0;
  if (world_rank == 0) {
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    place = 1;
  } else {
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    place = 2;
  }
}

/* Calls from two lines: even ranks from one, odd ranks from the other; the lines swap with each turn. */
static void sum_in_turns(MPI_Comm comm) {
  static int turn;
  int sum = 0;
  if ((turn++ + world_rank) % 2 == 0) {
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    place = 1;
  } else {
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    place = 2;
  }
}

/* Two tasks; the second calls when the first has. */
static void concurrently(void (*first)(MPI_Comm), void (*second)(MPI_Comm), MPI_Comm of_first, MPI_Comm of_second) {
  int has_called = 0;
#pragma omp task shared(has_called)
  {
    say(&has_called);
    first(of_first);
  }
#pragma omp task shared(has_called)
  {
    wait_for(&has_called);
    second(of_second);
  }
#pragma omp taskwait
}

static void one_after_the_other(void (*first)(MPI_Comm), void (*second)(MPI_Comm), MPI_Comm comm) {
  int data = 0;
#pragma omp task depend(inout : data)
  first(comm);
#pragma omp task depend(inout : data)
  second(comm);
#pragma omp taskwait
}

static void swapped_on_the_last(void (*a)(MPI_Comm), void (*b)(MPI_Comm), MPI_Comm comm) {
  if (world_rank != world_size - 1) {
    concurrently(a, b, comm, comm);
  } else {
    let_peer_block(); /* in both calls */
    concurrently(b, a, comm, comm);
  }
}

/* The ranks but the last accept the last. */
static MPI_Comm joined(void) {
  static char port[MPI_MAX_PORT_NAME];
  MPI_Comm part;
  MPI_Comm inter;
  MPI_Comm all;
  const int is_last = world_rank == world_size - 1;
  MPI_Comm_split(MPI_COMM_WORLD, is_last, 0, &part);
  if (world_rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (is_last)
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, part, &inter);
  else
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, part, &inter);
  MPI_Intercomm_merge(inter, is_last, &all);
  MPI_Comm_set_name(all, "joined");
  return all;
}

static void right(void) {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (int i = 0; i < 20; ++i) {
    concurrently(sum_of_ranks, sum_of_ones, MPI_COMM_WORLD, MPI_COMM_WORLD);
    concurrently(broadcast_elsewhere, broadcast, MPI_COMM_WORLD, MPI_COMM_WORLD);
    concurrently(broadcast_elsewhere, broadcast_elsewhere, other, other);
    concurrently(sum_in_turns, broadcast, MPI_COMM_WORLD, MPI_COMM_WORLD);
    if (world_rank == world_size - 1)
      concurrently(broadcast, sum_of_ones, other, MPI_COMM_WORLD);
    else
      concurrently(sum_of_ones, broadcast, MPI_COMM_WORLD, other);
  }
  MPI_Comm_free(&other);
}

static void run(const char* what) {
  if (strcmp(what, "unlike") == 0) {
    swapped_on_the_last(sum_of_ranks, broadcast, MPI_COMM_WORLD);
  } else if (strcmp(what, "like") == 0) {
    swapped_on_the_last(sum_of_ranks, sum_of_ones, MPI_COMM_WORLD);
  } else if (strcmp(what, "one_rank") == 0) {
    if (world_rank != world_size - 1) {
      let_peer_block();
      one_after_the_other(sum_of_ranks, sum_of_ones, MPI_COMM_WORLD);
    } else {
      concurrently(sum_of_ones, sum_of_ranks, MPI_COMM_WORLD, MPI_COMM_WORLD);
    }
  } else if (strcmp(what, "made") == 0) {
    MPI_Comm copy;
    MPI_Comm half;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(copy, 0, -world_rank, &half); /* the other way round: the last rank is 0 in it */
    MPI_Comm_set_name(half, "turned");
    swapped_on_the_last(sum_of_ranks, broadcast, half);
  } else if (strcmp(what, "joined") == 0) {
    swapped_on_the_last(sum_of_ranks, broadcast, joined());
  } else {
    right();
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv, 3);
#pragma omp parallel
#pragma omp single
  run(argc > 1 ? argv[1] : "right");
  return finish();
}
