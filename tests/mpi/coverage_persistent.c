/* SPDX-License-Identifier: Apache-2.0
 *
 * Persistent requests (MPI 3.1, 3.9) and, where the library has them, persistent collectives (MPI 4.0, 6.13, 8.8):
 * started and completed twice in tasks that have to let another one run. See coverage.h.
 */
#include <string.h>

#include "coverage.h"

/* Open MPI 4.1 has the collectives as an extension. */
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if MPI_VERSION >= 4
#define INIT(name) MPI_##name##_init
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define INIT(name) MPIX_##name##_init
#endif

enum { kRounds = 2, kEach = 2, kRanks = 2 };

static int out[kLarge];
static int in[kLarge];
static int length = kLarge;

/* Point-to-point --------------------------------------------------------------------------------------------------- */

/* Starts `request` and completes it, round after round; freed at the end. */
static void send_rounds(MPI_Request request, int awaits) {
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < length; ++i) out[i] = world_rank + round + i;
    if (awaits) await_release();
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(request != MPI_REQUEST_NULL, "a persistent request stays");
    await_release(); /* the peer has checked the message */
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* inactive: returns at once */
  MPI_Request_free(&request);
}

static void receive_rounds(int announces) {
  MPI_Request request;
  MPI_Recv_init(in, length, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Status status;
    memset(in, 0, sizeof in);
    MPI_Startall(1, &request);
    if (announces) release_peer();
    MPI_Waitall(1, &request, &status);
    expect(status.MPI_SOURCE == peer && status.MPI_TAG == 1, "status of a persistent receive");
    for (int i = 0; i < length; ++i) expect(in[i] == peer + round + i, "content of a persistent receive");
    release_peer();
  }
  MPI_Request_free(&request);
}

static void answer_unready(void) { receive_rounds(0); }
static void answer_ready(void) { receive_rounds(1); }

static void call_send_init(void) {
  MPI_Request request;
  MPI_Send_init(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  send_rounds(request, 0);
}

static void call_ssend_init(void) {
  MPI_Request request;
  MPI_Ssend_init(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  send_rounds(request, 0);
}

static void call_rsend_init(void) {
  MPI_Request request;
  MPI_Rsend_init(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  send_rounds(request, 1);
}

static void call_bsend_init(void) {
  MPI_Request request;
  const size_t bytes = sizeof out + MPI_BSEND_OVERHEAD;
  void* buffer = malloc(bytes);
  Count detached = 0;
#ifdef OPEN_MPI /* from the second start on it sends wrong data for a large message: docs/guide/mpi.md */
  length = 1;
#endif
  MPI_Buffer_attach(buffer, (int)bytes);
  MPI_Bsend_init(out, length, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  send_rounds(request, 0);
  MPI_Buffer_detach(&buffer, &detached);
  free(buffer);
}

static void answer_bsend(void) {
#ifdef OPEN_MPI
  length = 1;
#endif
  receive_rounds(0);
}

/* Collectives ------------------------------------------------------------------------------------------------------ */

#ifdef INIT
static const Count counts[kRanks] = {kEach, kEach};
static const Displacement places[kRanks] = {0, kEach};
static const Displacement byte_places[kRanks] = {0, kEach * sizeof(int)};
static const MPI_Aint neighbour_places[1] = {0};
static MPI_Datatype types[kRanks];
static MPI_Comm neighbours;
static int mine[kRanks * kEach];
static int all[kRanks * kEach];

/* MPICH 4.0 gives wrong results in some rounds of some of these, also without Marline: docs/guide/mpi.md. */
#ifdef MPICH_VERSION
enum { kSoundGathers = 0, kSoundScatters = 1, kSoundAllgathers = 1 };
#else
enum { kSoundGathers = kRounds, kSoundScatters = kRounds, kSoundAllgathers = kRounds };
#endif

/* What all[] holds after a round: element i of the data from each rank, `factor` * the sum of the terms. */
typedef enum Expected { kFromZero, kPeers, kGathered, kExchanged, kSum, kSumBelow, kPartialSum } Expected;

static int value(int from, int i, int round) { return 100 * (from + 1) + 10 * i + round; }

static int expected_value(Expected what, int i, int round) {
  switch (what) {
    case kFromZero: return value(0, i, round);
    case kPeers: return value(peer, i, round);
    case kGathered: return value(i / kEach, i % kEach, round);
    case kExchanged: return value(i / kEach, i % kEach + kEach * world_rank, round);
    case kSumBelow: return value(0, i, round);
    case kPartialSum: return world_rank == 0 ? value(0, i, round) : value(0, i, round) + value(1, i, round);
    default: return value(0, i, round) + value(1, i, round);
  }
}

/* Checks the results of the first `sound` rounds. */
static void collective_rounds(MPI_Request request, Expected what, int length, int sound) {
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kRanks * kEach; ++i) {
      mine[i] = value(world_rank, i, round);
      all[i] = what == kFromZero && world_rank == 0 ? mine[i] : -1;
    }
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(request != MPI_REQUEST_NULL, "a persistent collective stays");
    for (int i = 0; i < length && round < sound; ++i)
      expect(all[i] == expected_value(what, i, round), "result of a persistent collective");
  }
  MPI_Request_free(&request);
}

static int at(int root, int length) { return world_rank == root ? length : 0; }

/* A function `call_NAME` that makes the request by `init`, with the arguments up to the communicator. */
#define PERSISTENT(name, what, length, comm, ...) PERSISTENT_SOUND(kRounds, name, what, length, comm, __VA_ARGS__)
#define PERSISTENT_SOUND(sound, name, what, length, comm, ...) \
  static void call_##name(void) {                              \
    MPI_Request request = MPI_REQUEST_NULL;                    \
    INIT(name)(__VA_ARGS__, comm, MPI_INFO_NULL, &request);    \
    collective_rounds(request, what, length, sound);           \
  }

static void call_Barrier(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  INIT(Barrier)(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  collective_rounds(request, kSum, 0, 0);
}
#define W MPI_COMM_WORLD
PERSISTENT(Bcast, kFromZero, 2 * kEach, W, all, 2 * kEach, MPI_INT, 0)
PERSISTENT_SOUND(kSoundGathers, Gather, kGathered, at(1, 2 * kEach), W, mine, kEach, MPI_INT, all, kEach, MPI_INT, 1)
PERSISTENT(Gatherv, kGathered, at(0, 2 * kEach), W, mine, kEach, MPI_INT, all, counts, places, MPI_INT, 0)
PERSISTENT_SOUND(kSoundScatters, Scatter, kFromZero, at(0, kEach), W, mine, kEach, MPI_INT, all, kEach, MPI_INT, 0)
PERSISTENT(Scatterv, kFromZero, at(0, kEach), W, mine, counts, places, MPI_INT, all, kEach, MPI_INT, 0)
PERSISTENT_SOUND(kSoundAllgathers, Allgather, kGathered, 2 * kEach, W, mine, kEach, MPI_INT, all, kEach, MPI_INT)
PERSISTENT(Allgatherv, kGathered, 2 * kEach, W, mine, kEach, MPI_INT, all, counts, places, MPI_INT)
PERSISTENT(Alltoall, kExchanged, 2 * kEach, W, mine, kEach, MPI_INT, all, kEach, MPI_INT)
PERSISTENT(Alltoallv, kExchanged, 2 * kEach, W, mine, counts, places, MPI_INT, all, counts, places, MPI_INT)
PERSISTENT(Alltoallw, kExchanged, 2 * kEach, W, mine, counts, byte_places, types, all, counts, byte_places, types)
PERSISTENT(Reduce, kSum, at(1, kEach), W, mine, all, kEach, MPI_INT, MPI_SUM, 1)
PERSISTENT(Allreduce, kSum, kEach, W, mine, all, kEach, MPI_INT, MPI_SUM)
PERSISTENT(Reduce_scatter_block, kSum, at(0, kEach), W, mine, all, kEach, MPI_INT, MPI_SUM)
PERSISTENT(Reduce_scatter, kSum, at(0, kEach), W, mine, all, counts, MPI_INT, MPI_SUM)
PERSISTENT(Scan, kPartialSum, kEach, W, mine, all, kEach, MPI_INT, MPI_SUM)
PERSISTENT(Exscan, kSumBelow, at(1, kEach), W, mine, all, kEach, MPI_INT, MPI_SUM)
#undef W
PERSISTENT(Neighbor_allgather, kPeers, kEach, neighbours, mine, kEach, MPI_INT, all, kEach, MPI_INT)
PERSISTENT(Neighbor_allgatherv, kPeers, kEach, neighbours, mine, kEach, MPI_INT, all, counts, places, MPI_INT)
PERSISTENT(Neighbor_alltoall, kPeers, kEach, neighbours, mine, kEach, MPI_INT, all, kEach, MPI_INT)
PERSISTENT(Neighbor_alltoallv, kPeers, kEach, neighbours, mine, counts, places, MPI_INT, all, counts, places, MPI_INT)
PERSISTENT(Neighbor_alltoallw, kPeers, kEach, neighbours, mine, counts, neighbour_places, types, all, counts,
           neighbour_places, types)
#endif

static const Check checks[] = {
    {"Send_init", call_send_init, answer_unready},
    {"Ssend_init", call_ssend_init, answer_unready},
    {"Rsend_init", call_rsend_init, answer_ready},
    {"Bsend_init", call_bsend_init, answer_bsend},
#ifdef INIT
    {.name = "Barrier_init", .call = call_Barrier},
    {.name = "Bcast_init", .call = call_Bcast},
    {.name = "Gather_init", .call = call_Gather},
    {.name = "Gatherv_init", .call = call_Gatherv},
    {.name = "Scatter_init", .call = call_Scatter},
    {.name = "Scatterv_init", .call = call_Scatterv},
    {.name = "Allgather_init", .call = call_Allgather},
    {.name = "Allgatherv_init", .call = call_Allgatherv},
    {.name = "Alltoall_init", .call = call_Alltoall},
    {.name = "Alltoallv_init", .call = call_Alltoallv},
    {.name = "Alltoallw_init", .call = call_Alltoallw},
    {.name = "Reduce_init", .call = call_Reduce},
    {.name = "Allreduce_init", .call = call_Allreduce},
    {.name = "Reduce_scatter_block_init", .call = call_Reduce_scatter_block},
    {.name = "Reduce_scatter_init", .call = call_Reduce_scatter},
    {.name = "Scan_init", .call = call_Scan},
    {.name = "Exscan_init", .call = call_Exscan},
    {.name = "Neighbor_allgather_init", .call = call_Neighbor_allgather},
    {.name = "Neighbor_allgatherv_init", .call = call_Neighbor_allgatherv},
    {.name = "Neighbor_alltoall_init", .call = call_Neighbor_alltoall},
    {.name = "Neighbor_alltoallv_init", .call = call_Neighbor_alltoallv},
    {.name = "Neighbor_alltoallw_init", .call = call_Neighbor_alltoallw},
#endif
};

int main(int argc, char** argv) {
  start(&argc, &argv, kRanks);
#ifdef INIT
  const int other = 1 - world_rank;
  types[0] = types[1] = MPI_INT;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &neighbours);
#endif
  RUN_CHECKS(checks);
#ifdef INIT
  MPI_Comm_free(&neighbours);
#endif
  return finish();
}
