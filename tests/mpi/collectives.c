/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives of four ranks: from tasks on all ranks, from tasks on some and from outside of any region on the others
 * (a blocking call on one rank must meet a suspended one on another), several communicators at a time,
 * intercommunicators, MPI_IN_PLACE and an operation of the user's that does not commute.
 */
#include "support.h"

enum { kRanks = 4, kRounds = 4, kComms = 4 };

static MPI_Comm comms[kComms];

static void all_four(MPI_Comm comm, int round) {
  const int root = round % kRanks;
  int value = world_rank == root ? 1000 + round : -1;
  MPI_Bcast(&value, 1, MPI_INT, root, comm);
  expect(value == 1000 + round, "Bcast's value");
  const int mine = world_rank * 10 + round;
  int sum = -1;
  MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, comm);
  expect(world_rank != root || sum == 60 + kRanks * round, "Reduce's sum");
  int all = mine;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, comm);
  expect(all == 30 + round, "Allreduce's maximum, in place");
  MPI_Barrier(comm);
}

static void in_tasks(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int round = 0; round < kRounds; ++round) {
    for (int c = 0; c < kComms; ++c) {
#pragma omp task firstprivate(c, round) depend(inout : comms[c])
      all_four(comms[c], round);
    }
  }
}

static void outside(void) {
  for (int round = 0; round < kRounds; ++round)
    for (int c = 0; c < kComms; ++c) all_four(comms[c], round);
}

/* The bits of `who` say which ranks call from tasks: none, some, all. */
static void mixed(void) {
  for (int who = 0; who < 1 << kRanks; who += 3) {
    if (who >> world_rank & 1)
      in_tasks();
    else
      outside();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* Affine maps x -> a x + b, composed in the order of the ranks: associative, as MPI demands, but not commutative. */
static void compose(void* first, void* then, int* count, MPI_Datatype* type) {
  (void)type;
  int* f = first;
  int* g = then;
  for (int i = 0; i < *count; ++i, f += 2, g += 2) {
    g[1] += g[0] * f[1];
    g[0] *= f[0];
  }
}

static void user_operation(void) {
  MPI_Op op;
  MPI_Datatype map;
  MPI_Type_contiguous(2, MPI_INT, &map);
  MPI_Type_commit(&map);
  MPI_Op_create(compose, 0, &op);
  int mine[2] = {world_rank + 2, world_rank};
  int all[2] = {0, 0};
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task shared(mine, all)
    {
      MPI_Allreduce(mine, all, 1, map, op, MPI_COMM_WORLD);
      if (world_rank == 0)
        MPI_Reduce(MPI_IN_PLACE, mine, 1, map, op, 0, MPI_COMM_WORLD);
      else
        MPI_Reduce(mine, NULL, 1, map, op, 0, MPI_COMM_WORLD);
    }
  }
  /* 2 x, then 3 x + 1, then 4 x + 2, then 5 x + 3. */
  expect(all[0] == 120 && all[1] == 33, "an operation that does not commute is applied in the order of the ranks");
  expect(world_rank != 0 || (mine[0] == 120 && mine[1] == 33), "a reduction in place gives the same");
  MPI_Op_free(&op);
  MPI_Type_free(&map);
}

static void between_groups(void) {
  MPI_Comm half;
  MPI_Comm inter;
  const int side = world_rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, world_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 7, &inter);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task
    {
      int sum = world_rank;
      int other = -1;
      MPI_Allreduce(&sum, &other, 1, MPI_INT, MPI_SUM, inter);
      expect(other == (side == 0 ? 1 + 3 : 0 + 2), "Allreduce over an intercommunicator gives the other group's sum");
      int value = 4 + world_rank;
      MPI_Bcast(&value, 1, MPI_INT, side == 1 ? 0 : (world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL), inter);
      expect(side == 0 || value == 4, "Bcast over an intercommunicator");
      MPI_Barrier(inter);
    }
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  start(&argc, &argv, kRanks);
  for (int c = 0; c < kComms; ++c) MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
  in_tasks();
  mixed();
  user_operation();
  between_groups();
  for (int c = 0; c < kComms; ++c) MPI_Comm_free(&comms[c]);
  return finish();
}
