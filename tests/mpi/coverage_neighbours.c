/* SPDX-License-Identifier: Apache-2.0
 *
 * Every neighbourhood collective (MPI 3.1, chapter 7), in a task that has to let another one run. See coverage.h. Each
 * rank has one neighbour, the peer.
 */
#include "coverage.h"

enum { kEach = 3, kPlace = 2 }; /* ints; with displacements, they lie kPlace ints into a buffer */

static const Count counts[1] = {kEach};
static const Displacement places[1] = {kPlace};
static const MPI_Aint byte_places[1] = {kPlace * sizeof(int)};
static MPI_Datatype types[1];
static MPI_Comm neighbours;
static int mine[kPlace + kEach];
static int theirs[kPlace + kEach];

static void fill(int place) {
  for (int i = 0; i < kPlace + kEach; ++i) {
    mine[i] = 100 * world_rank + i - place;
    theirs[i] = -1;
  }
}

static void expect_theirs(int place) {
  for (int i = 0; i < kEach; ++i) expect(theirs[place + i] == 100 * peer + i, "the neighbour's data");
}

static void call_allgather(void) {
  fill(0);
  MPI_Neighbor_allgather(mine, kEach, MPI_INT, theirs, kEach, MPI_INT, neighbours);
  expect_theirs(0);
}

static void call_allgatherv(void) {
  fill(0);
  MPI_Neighbor_allgatherv(mine, kEach, MPI_INT, theirs, counts, places, MPI_INT, neighbours);
  expect_theirs(kPlace);
}

static void call_alltoall(void) {
  fill(0);
  MPI_Neighbor_alltoall(mine, kEach, MPI_INT, theirs, kEach, MPI_INT, neighbours);
  expect_theirs(0);
}

static void call_alltoallv(void) {
  fill(kPlace);
  MPI_Neighbor_alltoallv(mine, counts, places, MPI_INT, theirs, counts, places, MPI_INT, neighbours);
  expect_theirs(kPlace);
}

static void call_alltoallw(void) {
  fill(kPlace);
  MPI_Neighbor_alltoallw(mine, counts, byte_places, types, theirs, counts, byte_places, types, neighbours);
  expect_theirs(kPlace);
}

static const Check checks[] = {
    {.name = "Neighbor_allgather", .call = call_allgather}, {.name = "Neighbor_allgatherv", .call = call_allgatherv},
    {.name = "Neighbor_alltoall", .call = call_alltoall},   {.name = "Neighbor_alltoallv", .call = call_alltoallv},
    {.name = "Neighbor_alltoallw", .call = call_alltoallw},
};

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  const int other = 1 - world_rank;
  types[0] = MPI_INT;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &neighbours);
  RUN_CHECKS(checks);
  MPI_Comm_free(&neighbours);
  return finish();
}
