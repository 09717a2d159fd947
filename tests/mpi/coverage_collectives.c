/* SPDX-License-Identifier: Apache-2.0
 *
 * Every collective of MPI 3.1, chapter 5, in a task that has to let another one run; and the same with MPI_IN_PLACE.
 * See coverage.h. With the argument `outside` rank 1 makes its calls outside of any parallel region.
 */
#include <string.h>

#include "coverage.h"

enum { kRanks = 2, kEach = 3 }; /* kEach ints to or from every rank; where sizes may differ, 1 + the rank */

static const Count counts[kRanks] = {1, 2};
static const Displacement places[kRanks] = {0, 4};       /* in ints, with a gap between them */
static const Displacement byte_places[kRanks] = {0, 16}; /* for Alltoallw */
static int mine[8];
static int all[8];
static MPI_Datatype types[kRanks];

static int value(int from, int to, int i) { return 1000 * from + 100 * to + i; }

/* mine[] as the data from this rank to `to` ranks, `each` apart; all[] is wiped. */
static void fill(int each) {
  for (int i = 0; i < 8; ++i) {
    mine[i] = value(world_rank, i / each, i % each);
    all[i] = -1;
  }
}

static void expect_part(const int* data, int place, int count, int from, int to) {
  for (int i = 0; i < count; ++i) expect(data[place + i] == value(from, to, i), "what a rank sent is where it belongs");
}

static void call_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void call_bcast(void) {
  for (int root = 0; root < kRanks; ++root) {
    fill(kEach);
    memcpy(all, mine, sizeof all);
    MPI_Bcast(all, kEach, MPI_INT, root, MPI_COMM_WORLD);
    expect_part(all, 0, kEach, root, 0);
  }
}

static void call_gather(void) {
  for (int root = 0; root < kRanks; ++root) {
    fill(kEach);
    MPI_Gather(mine, kEach, MPI_INT, all, kEach, MPI_INT, root, MPI_COMM_WORLD);
    for (int from = 0; from < kRanks && world_rank == root; ++from) expect_part(all, from * kEach, kEach, from, 0);
  }
}

static void call_gatherv(void) {
  for (int root = 0; root < kRanks; ++root) {
    fill(kEach);
    MPI_Gatherv(mine, counts[world_rank], MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD);
    for (int from = 0; from < kRanks && world_rank == root; ++from)
      expect_part(all, (int)places[from], (int)counts[from], from, 0);
  }
}

static void call_scatter(void) {
  for (int root = 0; root < kRanks; ++root) {
    fill(kEach);
    MPI_Scatter(mine, kEach, MPI_INT, all, kEach, MPI_INT, root, MPI_COMM_WORLD);
    expect_part(all, 0, kEach, root, world_rank);
  }
}

static void call_scatterv(void) {
  for (int root = 0; root < kRanks; ++root) {
    fill(4);
    MPI_Scatterv(mine, counts, places, MPI_INT, all, counts[world_rank], MPI_INT, root, MPI_COMM_WORLD);
    expect_part(all, 0, (int)counts[world_rank], root, world_rank);
  }
}

static void call_allgather(void) {
  fill(kEach);
  MPI_Allgather(mine, kEach, MPI_INT, all, kEach, MPI_INT, MPI_COMM_WORLD);
  for (int from = 0; from < kRanks; ++from) expect_part(all, from * kEach, kEach, from, 0);
}

static void call_allgatherv(void) {
  fill(kEach);
  MPI_Allgatherv(mine, counts[world_rank], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int from = 0; from < kRanks; ++from) expect_part(all, (int)places[from], (int)counts[from], from, 0);
}

static void call_alltoall(void) {
  fill(kEach);
  MPI_Alltoall(mine, kEach, MPI_INT, all, kEach, MPI_INT, MPI_COMM_WORLD);
  for (int from = 0; from < kRanks; ++from) expect_part(all, from * kEach, kEach, from, world_rank);
}

static void call_alltoallv(void) {
  const Count receive_counts[kRanks] = {counts[world_rank], counts[world_rank]};
  fill(4);
  MPI_Alltoallv(mine, counts, places, MPI_INT, all, receive_counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int from = 0; from < kRanks; ++from)
    expect_part(all, (int)places[from], (int)counts[world_rank], from, world_rank);
}

static void call_alltoallw(void) {
  const Count receive_counts[kRanks] = {counts[world_rank], counts[world_rank]};
  fill(4);
  MPI_Alltoallw(mine, counts, byte_places, types, all, receive_counts, byte_places, types, MPI_COMM_WORLD);
  for (int from = 0; from < kRanks; ++from)
    expect_part(all, (int)places[from], (int)counts[world_rank], from, world_rank);
}

static int sum_to(int to, int i) { return value(0, to, i) + value(1, to, i); }

static void call_reduce(void) {
  for (int root = 0; root < kRanks; ++root) {
    fill(kEach);
    MPI_Reduce(mine, all, kEach, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < kEach && world_rank == root; ++i) expect(all[i] == sum_to(0, i), "Reduce's sum");
  }
}

static void call_allreduce(void) {
  fill(kEach);
  MPI_Allreduce(mine, all, kEach, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kEach; ++i) expect(all[i] == sum_to(0, i), "Allreduce's sum");
}

static void call_reduce_scatter_block(void) {
  fill(kEach);
  MPI_Reduce_scatter_block(mine, all, kEach, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kEach; ++i) expect(all[i] == sum_to(world_rank, i), "Reduce_scatter_block's sum");
}

static void call_reduce_scatter(void) {
  fill(1);
  MPI_Reduce_scatter(mine, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < counts[world_rank]; ++i) expect(all[i] == sum_to(world_rank + i, 0), "Reduce_scatter's sum");
}

static void call_scan(void) {
  fill(kEach);
  MPI_Scan(mine, all, kEach, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kEach; ++i) expect(all[i] == (world_rank == 0 ? value(0, 0, i) : sum_to(0, i)), "Scan's sum");
}

static void call_exscan(void) {
  fill(kEach);
  MPI_Exscan(mine, all, kEach, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kEach && world_rank == 1; ++i) expect(all[i] == value(0, 0, i), "Exscan's sum");
}

/* In place --------------------------------------------------------------------------------------------------------- */

static void call_in_place_rooted(void) {
  const int root = 1;
  fill(kEach);
  memcpy(all, mine, sizeof all);
  if (world_rank == root) {
    memcpy(all + root * kEach, mine, kEach * sizeof *mine);
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, kEach, MPI_INT, root, MPI_COMM_WORLD);
    for (int from = 0; from < kRanks; ++from) expect_part(all, from * kEach, kEach, from, 0);
    MPI_Scatter(mine, kEach, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    MPI_Reduce(MPI_IN_PLACE, mine, kEach, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < kEach; ++i) expect(mine[i] == sum_to(0, i), "Reduce's sum, in place");
  } else {
    MPI_Gather(mine, kEach, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, all, kEach, MPI_INT, root, MPI_COMM_WORLD);
    expect_part(all, 0, kEach, root, world_rank);
    MPI_Reduce(mine, NULL, kEach, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  }
}

static void call_in_place(void) {
  fill(kEach);
  memcpy(all + world_rank * kEach, mine, kEach * sizeof *mine);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, kEach, MPI_INT, MPI_COMM_WORLD);
  for (int from = 0; from < kRanks; ++from) expect_part(all, from * kEach, kEach, from, 0);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, mine, kEach, MPI_INT, MPI_COMM_WORLD);
  for (int from = 0; from < kRanks; ++from) expect_part(mine, from * kEach, kEach, from, world_rank);
  fill(kEach);
  MPI_Scan(MPI_IN_PLACE, mine, kEach, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kEach; ++i)
    expect(mine[i] == (world_rank == 0 ? value(0, 0, i) : sum_to(0, i)), "Scan's sum, in place");
  fill(kEach);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, mine, kEach, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kEach; ++i) expect(mine[i] == sum_to(world_rank, i), "Reduce_scatter_block's sum, in place");
}

static const Check checks[] = {
    {.name = "Barrier", .call = call_barrier},
    {.name = "Bcast", .call = call_bcast},
    {.name = "Gather", .call = call_gather},
    {.name = "Gatherv", .call = call_gatherv},
    {.name = "Scatter", .call = call_scatter},
    {.name = "Scatterv", .call = call_scatterv},
    {.name = "Allgather", .call = call_allgather},
    {.name = "Allgatherv", .call = call_allgatherv},
    {.name = "Alltoall", .call = call_alltoall},
    {.name = "Alltoallv", .call = call_alltoallv},
    {.name = "Alltoallw", .call = call_alltoallw},
    {.name = "Reduce", .call = call_reduce},
    {.name = "Allreduce", .call = call_allreduce},
    {.name = "Reduce_scatter_block", .call = call_reduce_scatter_block},
    {.name = "Reduce_scatter", .call = call_reduce_scatter},
    {.name = "Scan", .call = call_scan},
    {.name = "Exscan", .call = call_exscan},
    {.name = "in place, with a root", .call = call_in_place_rooted},
    {.name = "in place", .call = call_in_place},
};

/* Rank 0 is in the call, in a task, when rank 1 gets to it outside of any region. */
static void run_outside(void) {
  peer = 1 - world_rank;
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
    if (world_rank == 0) {
      in_turn(&checks[i], 0);
    } else {
      announce(checks[i].name);
      await_release();
      checks[i].call();
    }
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv, kRanks);
  types[0] = types[1] = MPI_INT;
  if (argc > 1)
    run_outside();
  else
    RUN_CHECKS(checks);
  return finish();
}
