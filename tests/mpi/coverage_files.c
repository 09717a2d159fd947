/* SPDX-License-Identifier: Apache-2.0
 *
 * Every call on files that may block (MPI 3.1, chapter 13), in a task that has to let another one run. See coverage.h.
 *
 * Usage: coverage_files FILE
 */
#include <string.h>

#include "coverage.h"

enum { kInts = 64, kBytes = kInts * sizeof(int) };

static const char* path;
static MPI_File file;
static int out[kInts];
static int in[kInts];

static void fill(int seed) {
  for (int i = 0; i < kInts; ++i) {
    out[i] = 1000 * seed + 100000 * world_rank + i;
    in[i] = -1;
  }
}

static void expect_from(int rank, int seed, MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  expect(count == kInts, "count of a read");
  for (int i = 0; i < kInts; ++i) expect(in[i] == 1000 * seed + 100000 * rank + i, "what was written is read");
}

static MPI_Offset own_place(void) { return (MPI_Offset)world_rank * kBytes; }

/* From here on, each call's place in the file is this rank's own, in ints. */
static void own_view(void) { MPI_File_set_view(file, own_place(), MPI_INT, MPI_INT, "native", MPI_INFO_NULL); }

static void call_open_close(void) {
  MPI_File other;
  MPI_Offset size = -1;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &other);
  MPI_File_set_size(other, 1000);
  MPI_File_preallocate(other, 2000);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_size(other, &size);
  expect(size == 2000, "Preallocate's size");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_set_size(other, 0);
  MPI_File_set_info(other, MPI_INFO_NULL);
  MPI_File_close(&other);
  expect(other == MPI_FILE_NULL, "File_close gives the handle back");
}

static void call_delete(void) {
  char name[1000];
  MPI_File other;
  snprintf(name, sizeof name, "%s.%d", path, world_rank);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &other);
  MPI_File_close(&other);
  expect(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS, "File_delete");
  expect(MPI_File_delete(name, MPI_INFO_NULL) != MPI_SUCCESS, "File_delete of a file that is not there");
}

static void call_at(void) {
  MPI_Status status;
  own_view();
  fill(1);
  MPI_File_write_at(file, 0, out, kInts, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at(file, 0, in, kInts, MPI_INT, &status);
  expect_from(world_rank, 1, &status);
  fill(2);
  MPI_File_write_at_all(file, 0, out, kInts, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, 0, in, kInts, MPI_INT, &status);
  expect_from(world_rank, 2, &status);
}

static void call_at_split(void) {
  MPI_Status status;
  own_view();
  fill(3);
  MPI_File_write_at_all_begin(file, 0, out, kInts, MPI_INT);
  MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
  MPI_File_read_at_all_begin(file, 0, in, kInts, MPI_INT);
  MPI_File_read_at_all_end(file, in, &status);
  expect_from(world_rank, 3, &status);
}

static void call_individual(void) {
  MPI_Status status;
  own_view();
  fill(4);
  MPI_File_write(file, out, kInts, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read(file, in, kInts, MPI_INT, &status);
  expect_from(world_rank, 4, &status);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  fill(5);
  MPI_File_write_all(file, out, kInts, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read_all(file, in, kInts, MPI_INT, &status);
  expect_from(world_rank, 5, &status);
}

static void call_individual_split(void) {
  MPI_Status status;
  own_view();
  fill(6);
  MPI_File_write_all_begin(file, out, kInts, MPI_INT);
  MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read_all_begin(file, in, kInts, MPI_INT);
  MPI_File_read_all_end(file, in, &status);
  expect_from(world_rank, 6, &status);
}

static void call_sync(void) {
  int atomic = 0;
  MPI_Status status;
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_set_atomicity(file, 1);
  MPI_File_get_atomicity(file, &atomic);
  expect(atomic == 1, "File_set_atomicity");
  MPI_File_set_atomicity(file, 0);
  fill(7);
  MPI_File_write_at(file, world_rank * kInts, out, kInts, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_read_at(file, peer * kInts, in, kInts, MPI_INT, &status);
  expect_from(peer, 7, &status);
}

/* The shared pointer ----------------------------------------------------------------------------------------------- */

static void rewind_shared(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
}

/* In the order of the ranks. */
static void call_ordered(void) {
  MPI_Status status;
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  rewind_shared();
  fill(8);
  MPI_File_write_ordered(file, out, kInts, MPI_INT, MPI_STATUS_IGNORE);
  rewind_shared();
  MPI_File_read_ordered(file, in, kInts, MPI_INT, &status);
  expect_from(world_rank, 8, &status);
  rewind_shared();
  fill(9);
  MPI_File_write_ordered_begin(file, out, kInts, MPI_INT);
  MPI_File_write_ordered_end(file, out, MPI_STATUS_IGNORE);
  rewind_shared();
  MPI_File_read_ordered_begin(file, in, kInts, MPI_INT);
  MPI_File_read_ordered_end(file, in, &status);
  expect_from(world_rank, 9, &status);
}

/* In any order: what one rank reads is what one of them has written. */
static void call_shared(void) {
  MPI_Status status;
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  rewind_shared();
  fill(10);
  MPI_File_write_shared(file, out, kInts, MPI_INT, MPI_STATUS_IGNORE);
  rewind_shared();
  MPI_File_read_shared(file, in, kInts, MPI_INT, &status);
  expect_from(in[0] >= 100000, 10, &status);
  int from[2] = {-1, -1};
  MPI_Allgather(in, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  expect(from[0] != from[1], "each rank reads another part");
}

static const Check checks[] = {
    {.name = "File_open, File_set_size, File_preallocate, File_set_info, File_close", .call = call_open_close},
    {.name = "File_delete", .call = call_delete},
    {.name = "File_read_at, File_write_at, _all", .call = call_at},
    {.name = "File_read_at_all_begin, _end", .call = call_at_split},
    {.name = "File_read, File_write, _all", .call = call_individual},
    {.name = "File_read_all_begin, _end", .call = call_individual_split},
    {.name = "File_sync, File_set_atomicity", .call = call_sync},
    {.name = "File_read_ordered, File_write_ordered, _begin, _end", .call = call_ordered},
    {.name = "File_read_shared, File_write_shared", .call = call_shared},
};

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  expect(argc == 2, "usage: coverage_files FILE");
  path = argv[1];
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
  RUN_CHECKS(checks);
  MPI_File_close(&file);
  return finish();
}
