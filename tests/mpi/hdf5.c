/* SPDX-License-Identifier: Apache-2.0
 *
 * Parallel HDF5 from tasks: hdf5 PREFIX (of the files). HDF5 keeps global state, so while a task is in it, the task
 * must not leave its thread in the MPI calls that HDF5 makes: another task would then come in. Where the library was
 * built without locks of its own (Debian's), tasks enter it one after another: collective calls in one order on all
 * ranks, by a dependence; independent ones in any order, under `critical`. Other tasks exchange messages meanwhile.
 */
#include "support.h"

#include <hdf5.h>
#include <omp.h>
#include <string.h>

enum { kTasks = 2, kRows = 64, kColumns = 32, kMessages = 16, kSteps = 4 };

/* Marline's function, if the program runs on Marline. */
__attribute__((weak)) void marline_suspend_observe(void (*observer)(void));

static _Thread_local int in_library; /* written and read by tasks that stay on their thread meanwhile: the claim */
static char names[kTasks][512];
static int order;
static int exchanged;

static void on_suspend(void) { expect(!in_library, "a task that is in HDF5 stays on its thread"); }

static void enter(void) {
  expect(!in_library, "one task of a thread is in HDF5");
  in_library = 1;
}

static void leave(void) { in_library = 0; }

static int value(int file, int set, int row, int column) {
  return ((file * 10 + set) * kRows + row) * kColumns + column;
}

/* This rank's rows of the data set, written and compared. The data set's size is all ranks' rows. */
static void transfer(int file, hid_t set, int number, H5FD_mpio_xfer_t mode, int write) {
  int data[kRows][kColumns];
  const hsize_t count[2] = {kRows, kColumns};
  const hsize_t first[2] = {(hsize_t)world_rank * kRows, 0};
  const hid_t here = H5Dget_space(set);
  const hid_t memory = H5Screate_simple(2, count, NULL);
  const hid_t how = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(how, mode);
  H5Sselect_hyperslab(here, H5S_SELECT_SET, first, NULL, count, NULL);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column)
      data[row][column] = write ? value(file, number, row + world_rank * kRows, column) : -1;
  }
  const herr_t status = write ? H5Dwrite(set, H5T_NATIVE_INT, memory, here, how, data)
                              : H5Dread(set, H5T_NATIVE_INT, memory, here, how, data);
  expect(status >= 0, write ? "H5Dwrite succeeds" : "H5Dread succeeds");
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column)
      expect(data[row][column] == value(file, number, row + world_rank * kRows, column), "the data come back");
  }
  H5Pclose(how);
  H5Sclose(memory);
  H5Sclose(here);
}

static hid_t open_file(int file, MPI_Comm comm, int create) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL);
  const hid_t id = create ? H5Fcreate(names[file], H5F_ACC_TRUNC, H5P_DEFAULT, access)
                          : H5Fopen(names[file], H5F_ACC_RDONLY, access);
  H5Pclose(access);
  expect(id >= 0, "the file opens");
  return id;
}

static hid_t create_set(hid_t file, const char* name) {
  const hsize_t size[2] = {(hsize_t)world_size * kRows, kColumns};
  const hid_t space = H5Screate_simple(2, size, NULL);
  const hid_t set = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  expect(set >= 0, "the data set is created");
  H5Sclose(space);
  return set;
}

/* A task that does everything collectively: creates, writes, closes, opens, reads. */
static void collective_file(int file, MPI_Comm comm) {
  enter();
  if (world_rank == 1) let_peer_block(); /* the task is in the library, inside MPI: there it would leave its thread */
  hid_t id = open_file(file, comm, 1);
  hid_t set = create_set(id, "collective");
  transfer(file, set, 0, H5FD_MPIO_COLLECTIVE, 1);
  H5Dclose(set);
  H5Fclose(id);
  if (world_rank == 1) let_peer_block();
  id = open_file(file, comm, 0);
  set = H5Dopen2(id, "collective", H5P_DEFAULT);
  transfer(file, set, 0, H5FD_MPIO_COLLECTIVE, 0);
  H5Dclose(set);
  H5Fclose(id);
  leave();
}

static void independent_step(int file, hid_t set) {
  enter();
  transfer(file, set, 1, H5FD_MPIO_INDEPENDENT, 1);
  transfer(file, set, 1, H5FD_MPIO_INDEPENDENT, 0);
  leave();
}

static void create_messages(int tag) {
  const int peer = 1 - world_rank;
  for (int i = 0; i < kMessages; ++i) {
#pragma omp task untied firstprivate(i)
    {
      int got = -1;
      MPI_Recv(&got, 1, MPI_INT, peer, tag + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(got == i, "messages arrive meanwhile");
#pragma omp atomic
      ++exchanged;
    }
#pragma omp task firstprivate(i)
    MPI_Send(&i, 1, MPI_INT, peer, tag + i, MPI_COMM_WORLD);
  }
}

/* Two files, each by one task, one after the other in the same order on all ranks. */
static void collectively(MPI_Comm* comms) {
#pragma omp parallel
#pragma omp single
  {
    create_messages(100);
    for (int file = 0; file < kTasks; ++file) {
#pragma omp task firstprivate(file) depend(inout : order)
      collective_file(file, comms[file]);
    }
  }
}

/* Two data sets in two files, opened and closed by all ranks together, written by tasks in any order. A library with
 * locks of its own needs no further lock. */
static void independently(MPI_Comm* comms, int is_safe) {
  hid_t files[kTasks], sets[kTasks];
  for (int file = 0; file < kTasks; ++file) {
    files[file] = open_file(file, comms[file], 1);
    sets[file] = create_set(files[file], "independent");
  }
#pragma omp parallel
#pragma omp single
  {
    create_messages(200);
    for (int step = 0; step < kSteps; ++step) {
      for (int file = 0; file < kTasks; ++file) {
#pragma omp task firstprivate(file)
        if (is_safe) {
          independent_step(file, sets[file]);
        } else {
#pragma omp critical(hdf5)
          independent_step(file, sets[file]);
        }
      }
    }
  }
  for (int file = 0; file < kTasks; ++file) {
    H5Dclose(sets[file]);
    H5Fclose(files[file]);
  }
}

int main(int argc, char** argv) {
  MPI_Comm comms[kTasks];
  hbool_t is_safe = 0;
  start(&argc, &argv, 2);
  expect(argc == 2, "usage: hdf5 PREFIX");
  H5is_library_threadsafe(&is_safe);
  for (int file = 0; file < kTasks; ++file) {
    snprintf(names[file], sizeof names[file], "%s.%d.h5", argv[1], file);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[file]);
  }
  if (marline_suspend_observe != NULL) marline_suspend_observe(on_suspend);
  collectively(comms);
  independently(comms, is_safe);
  expect(exchanged == 2 * kMessages, "all messages have arrived");
  for (int file = 0; file < kTasks; ++file) {
    MPI_Comm_free(&comms[file]);
    if (world_rank == 0) remove(names[file]);
  }
  return finish();
}
