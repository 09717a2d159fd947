/* SPDX-License-Identifier: Apache-2.0
 *
 * Every call on windows that may block (MPI 3.1, chapter 11), in a task that has to let another one run. See
 * coverage.h. The origin and the target of an epoch are tasks of one thread, on both ranks.
 */
#include "coverage.h"

/* MPICH 4.0 writes to another place if a window does not begin at a page, also without Marline: docs/guide/mpi.md.
 * Hence windows of whole pages. */
enum { kHeld = 97, kGo = 98, kPage = 4096 };

static MPI_Win win; /* two ints on each rank */
static int* memory;

static void put_at(int target, int place, int value, MPI_Win where) {
  static int kept[2]; /* until the epoch ends */
  kept[place] = value;
  MPI_Put(&kept[place], 1, MPI_INT, target, place, 1, MPI_INT, where);
}

/* Windows and fences ----------------------------------------------------------------------------------------------- */

/* Both ranks write to each other between two fences; then the window goes. */
static void use_and_free(MPI_Win* window, const int* base) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, *window);
  put_at(peer, 0, 100 + world_rank, *window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, *window);
  expect(base[0] == 100 + peer, "what the peer wrote between fences");
  MPI_Win_free(window);
  expect(*window == MPI_WIN_NULL, "Win_free gives the handle back");
}

static void call_create(void) {
  static int base[kPage / sizeof(int)] __attribute__((aligned(kPage)));
  MPI_Win window;
  MPI_Win_create(base, sizeof base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  use_and_free(&window, base);
}

static void call_allocate(void) {
  int* base = NULL;
  MPI_Win window;
  MPI_Win_allocate(kPage, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  use_and_free(&window, base);
}

static void call_allocate_shared(void) {
  int* base = NULL;
  MPI_Win window;
  MPI_Win_allocate_shared(kPage, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  use_and_free(&window, base);
}

static void call_create_dynamic(void) {
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

/* General active target: this rank is origin here and target in its other task ------------------------------------- */

static MPI_Group group_of_peer(void) {
  MPI_Group world;
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &peer, &group);
  MPI_Group_free(&world);
  return group;
}

static void call_access_epoch(void) {
  MPI_Group group = group_of_peer();
  MPI_Win_start(group, 0, win);
  put_at(peer, 0, 200 + world_rank, win);
  MPI_Win_complete(win);
  MPI_Group_free(&group);
}

static void answer_exposure_epoch(void) {
  MPI_Group group = group_of_peer();
  MPI_Win_post(group, 0, win);
  MPI_Win_wait(win);
  expect(memory[0] == 200 + peer, "what the peer wrote in the exposure epoch");
  MPI_Group_free(&group);
}

/* In the other order: the exposure epoch is the one that has to wait. */
static void call_exposure_epoch(void) { answer_exposure_epoch(); }
static void answer_access_epoch(void) { call_access_epoch(); }

/* Passive target: the peer holds the lock until this rank's second task has said that it may go on ----------------- */

static void send_to_peer(int tag) { MPI_Send(NULL, 0, MPI_INT, peer, tag, MPI_COMM_WORLD); }
static void receive_from_peer(int tag) { MPI_Recv(NULL, 0, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void hold(int target) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
  put_at(target, 1, 300 + world_rank, win);
  MPI_Win_flush(target, win); /* now it is held */
  send_to_peer(kHeld);
  receive_from_peer(kGo);
  MPI_Win_unlock(target, win);
}

static void expect_held_by_peer(int target) {
  int before = -1;
  MPI_Get(&before, 1, MPI_INT, target, 1, 1, MPI_INT, win);
  MPI_Win_flush_local(target, win);
  expect(before == 300 + peer, "the lock comes after the peer's");
}

/* The two directions are about two targets. */
static void call_lock(void) {
  receive_from_peer(kHeld);
#pragma omp task
  send_to_peer(kGo);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win);
  expect_held_by_peer(peer);
  put_at(peer, 1, -1, win);
  MPI_Win_unlock(peer, win);
}

static void answer_lock(void) { hold(world_rank); }

/* The ranks hold the locks in turn, because a process has either locks or an epoch with all. */
static void lock_all_while_held(int holder) {
  if (world_rank == holder) {
    hold(holder);
    return;
  }
  receive_from_peer(kHeld);
#pragma omp task
  send_to_peer(kGo);
  MPI_Win_lock_all(0, win);
  expect_held_by_peer(peer);
  MPI_Win_unlock_all(win);
}

static void call_lock_all(void) {
  lock_all_while_held(0);
  lock_all_while_held(1);
}

static void call_flushes(void) {
  int got = -1;
  MPI_Win_lock_all(0, win);
  put_at(peer, 0, 400 + world_rank, win);
  MPI_Win_flush_local_all(win);
  MPI_Win_flush_all(win);
  MPI_Get(&got, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Win_flush(peer, win);
  expect(got == 400 + world_rank, "a read after a flushed write");
  MPI_Win_unlock_all(win);
}

static const Check checks[] = {
    {.name = "Win_create, Win_fence, Win_free", .call = call_create},
    {.name = "Win_allocate", .call = call_allocate},
    {.name = "Win_allocate_shared", .call = call_allocate_shared},
    {.name = "Win_create_dynamic", .call = call_create_dynamic},
    {"Win_start, Win_complete", call_access_epoch, answer_exposure_epoch},
    {"Win_wait", call_exposure_epoch, answer_access_epoch},
    {"Win_lock, Win_unlock", call_lock, answer_lock},
    {.name = "Win_lock_all, Win_unlock_all", .call = call_lock_all},
    {.name = "Win_flush, _all, _local, _local_all", .call = call_flushes},
};

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  MPI_Win_allocate(kPage, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memory[0] = memory[1] = -1;
  RUN_CHECKS(checks);
  MPI_Win_free(&win);
  return finish();
}
