/* SPDX-License-Identifier: Apache-2.0
 *
 * Every call that makes or frees a communicator (MPI 3.1, chapters 6 and 7), in a task that has to let another one run.
 * See coverage.h. At the end, tasks make such calls on many communicators at once, in another order on each rank.
 */
#include <string.h>

#include "coverage.h"

/* Threads of MPICH 4.0 that make communicators at the same time delay each other: 16 of them take seconds, without
 * Marline.
 */
#ifdef MPICH_VERSION
enum { kMany = 6 };
#else
enum { kMany = 40 };
#endif

static void call_set_name(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI_Comm_set_name(MPI_COMM_WORLD, "everybody");
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  expect(strcmp(name, "everybody") == 0, "the communicator's name");
}

/* The new communicator connects `size` processes; this one is `rank`. */
static void expect_comm(MPI_Comm* comm, int size, int rank) {
  int got_size = -1;
  int got_rank = -1;
  int sum = -1;
  MPI_Comm_size(*comm, &got_size);
  MPI_Comm_rank(*comm, &got_rank);
  expect(got_size == size && got_rank == rank, "size and rank in the new communicator");
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, *comm);
  expect(sum == (size == 2 ? 1 : world_rank), "who is in the new communicator");
}

static void expect_and_free(MPI_Comm* comm, int size, int rank) {
  expect_comm(comm, size, rank);
  MPI_Comm_free(comm);
  expect(*comm == MPI_COMM_NULL, "Comm_free gives the handle back");
}

static void call_dup(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  expect_and_free(&comm, 2, world_rank);
}

static void call_dup_with_info(void) {
  MPI_Comm comm;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
  expect_and_free(&comm, 2, world_rank);
}

static void call_create(void) {
  MPI_Comm comm;
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
  expect_and_free(&comm, 2, world_rank);
  MPI_Group_free(&group);
}

static void call_create_group(void) {
  MPI_Comm comm;
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 17, &comm);
  expect_and_free(&comm, 2, world_rank);
  MPI_Group_free(&group);
}

/* Reversed, and apart. */
static void call_split(void) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);
  expect_and_free(&comm, 2, 1 - world_rank);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank, 0, &comm);
  expect_and_free(&comm, 1, 0);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? 0 : MPI_UNDEFINED, 0, &comm);
  expect((comm == MPI_COMM_NULL) == (world_rank == 1), "Comm_split leaves out who says so");
  if (world_rank == 0) expect_and_free(&comm, 1, 0);
}

static void call_split_type(void) {
  MPI_Comm comm;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  expect_and_free(&comm, 2, world_rank);
}

/* Between groups --------------------------------------------------------------------------------------------------- */

static void expect_inter_and_free(MPI_Comm* inter) {
  int remote = -1;
  int got = -1;
  MPI_Comm_remote_size(*inter, &remote);
  expect(remote == 1, "size of the other group");
  MPI_Allreduce(&world_rank, &got, 1, MPI_INT, MPI_SUM, *inter);
  expect(got == peer, "the other group's data");
  MPI_Comm_free(inter);
}

static void call_intercomm(void) {
  MPI_Comm inter;
  MPI_Comm merged;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, peer, 18, &inter);
  MPI_Intercomm_merge(inter, world_rank == 0, &merged);
  expect_and_free(&merged, 2, 1 - world_rank);
  expect_inter_and_free(&inter);
}

/* Topologies ------------------------------------------------------------------------------------------------------- */

static void call_cart(void) {
  const int dims[2] = {2, 1};
  const int periods[2] = {0, 0};
  const int columns[2] = {1, 0};
  MPI_Comm comm;
  MPI_Comm column;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
  MPI_Cart_sub(comm, columns, &column);
  expect_and_free(&column, 2, world_rank);
  expect_and_free(&comm, 2, world_rank);
}

static void call_graph(void) {
  const int index[2] = {1, 2};
  const int edges[2] = {1, 0};
  int neighbour = -1;
  MPI_Comm comm;
  MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &comm);
  MPI_Graph_neighbors(comm, world_rank, 1, &neighbour);
  expect(neighbour == peer, "the neighbour in the graph");
  expect_and_free(&comm, 2, world_rank);
}

static void expect_dist_graph(MPI_Comm* comm) {
  int source = -1;
  int source_weight = -1;
  int target = -1;
  int target_weight = -1;
  MPI_Dist_graph_neighbors(*comm, 1, &source, &source_weight, 1, &target, &target_weight);
  expect(source == peer && target == peer && source_weight == 5 && target_weight == 5, "the neighbours in the graph");
  expect_and_free(comm, 2, world_rank);
}

static void call_dist_graph(void) {
  const int degree = 1;
  const int weight = 5;
  MPI_Comm comm;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, &degree, &peer, &weight, MPI_INFO_NULL, 0, &comm);
  expect_dist_graph(&comm);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, &weight, 1, &peer, &weight, MPI_INFO_NULL, 0, &comm);
  expect_dist_graph(&comm);
}

/* Without a parent: MPI 4.0, chapters 7 and 11 --------------------------------------------------------------------- */

#if MPI_VERSION >= 4
static void call_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "marline", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  expect_and_free(&comm, 2, world_rank);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}

static void call_intercomm_from_groups(void) {
  MPI_Group world;
  MPI_Group here;
  MPI_Group there;
  MPI_Comm inter;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &world_rank, &here);
  MPI_Group_incl(world, 1, &peer, &there);
  MPI_Intercomm_create_from_groups(here, 0, there, 0, "marline", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);
  expect_inter_and_free(&inter);
  MPI_Group_free(&world);
  MPI_Group_free(&here);
  MPI_Group_free(&there);
}
#endif

/* Many at once ----------------------------------------------------------------------------------------------------- */

/* On kMany communicators a task makes a call each, rank 1 in the opposite order: all calls must be in progress at
 * once. */
static void many_at_once(void) {
  MPI_Comm parents[kMany];
  MPI_Comm children[kMany];
  announce("many at once");
  for (int i = 0; i < kMany; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
#pragma omp parallel num_threads(1)
#pragma omp single
  for (int n = 0; n < kMany; ++n) {
    const int i = world_rank == 0 ? n : kMany - 1 - n;
#pragma omp task shared(parents, children) firstprivate(i)
    {
      MPI_Comm_split(parents[i], 0, i % 2 == 0 ? world_rank : -world_rank, &children[i]);
      expect_comm(&children[i], 2, i % 2 == 0 ? world_rank : 1 - world_rank);
    }
  }
  for (int i = 0; i < kMany; ++i) {
    MPI_Comm_free(&children[i]);
    MPI_Comm_free(&parents[i]);
  }
}

#ifdef MPICH_VERSION
/* Groups' communicators that differ in their tag may be made at once on one communicator (MPI 3.1, 6.4.2). */
static void many_tags_at_once(void) {
  MPI_Comm comms[kMany];
  MPI_Group group;
  announce("many tags at once");
  MPI_Comm_group(MPI_COMM_WORLD, &group);
#pragma omp parallel num_threads(1)
#pragma omp single
  for (int n = 0; n < kMany; ++n) {
    const int i = world_rank == 0 ? n : kMany - 1 - n;
#pragma omp task shared(comms, group) firstprivate(i)
    MPI_Comm_create_group(MPI_COMM_WORLD, group, i, &comms[i]);
  }
  for (int i = 0; i < kMany; ++i) expect_and_free(&comms[i], 2, world_rank);
  MPI_Group_free(&group);
}

/* The same without a parent communicator; a string distinguishes the calls. The handles are null before: that must
 * not make a call wait. */
static void many_strings_at_once(void) {
  MPI_Comm comms[kMany];
  MPI_Group group;
  announce("many strings at once");
  MPI_Comm_group(MPI_COMM_WORLD, &group);
#pragma omp parallel num_threads(1)
#pragma omp single
  for (int n = 0; n < kMany; ++n) {
    const int i = world_rank == 0 ? n : kMany - 1 - n;
#pragma omp task shared(comms, group) firstprivate(i)
    {
      char name[2] = {(char)('a' + i), 0};
      comms[i] = MPI_COMM_NULL;
      MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comms[i]);
    }
  }
  for (int i = 0; i < kMany; ++i) expect_and_free(&comms[i], 2, world_rank);
  MPI_Group_free(&group);
}
#endif

static const Check checks[] = {
    {.name = "Comm_set_name", .call = call_set_name},
    {.name = "Comm_dup, Comm_free", .call = call_dup},
    {.name = "Comm_dup_with_info", .call = call_dup_with_info},
    {.name = "Comm_create", .call = call_create},
    {.name = "Comm_create_group", .call = call_create_group},
    {.name = "Comm_split", .call = call_split},
    {.name = "Comm_split_type", .call = call_split_type},
    {.name = "Intercomm_create, Intercomm_merge", .call = call_intercomm},
    {.name = "Cart_create, Cart_sub", .call = call_cart},
    {.name = "Graph_create", .call = call_graph},
    {.name = "Dist_graph_create, _adjacent", .call = call_dist_graph},
#if MPI_VERSION >= 4
    {.name = "Session_init, Comm_create_from_group", .call = call_session},
    {.name = "Intercomm_create_from_groups", .call = call_intercomm_from_groups},
#endif
};

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  RUN_CHECKS(checks);
  many_at_once();
#ifdef MPICH_VERSION
  many_tags_at_once();
  many_strings_at_once();
#endif
  return finish();
}
