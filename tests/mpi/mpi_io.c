/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI-IO inside tasks: the library's own MPI calls, made under locks of its own, pass through Marline unchanged, while
 * tasks of the program communicate at the same time.
 *
 * Usage: mpi_io FILE
 */
#include "support.h"

enum { kInts = 1 << 15, kRounds = 4 };

static void write_and_read(const char* path) {
  static int out[kInts];
  static int in[kInts];
  MPI_File file;
  MPI_Status status;
  const MPI_Offset mine = (MPI_Offset)world_rank * (MPI_Offset)sizeof out;
  for (int i = 0; i < kInts; ++i) out[i] = world_rank * kInts + i;
  expect(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       &file) == MPI_SUCCESS,
         "the file opens");
  for (int round = 0; round < kRounds; ++round) {
    expect(MPI_File_write_at_all(file, mine, out, kInts, MPI_INT, &status) == MPI_SUCCESS, "a collective write");
    MPI_File_sync(file);
    expect(MPI_File_read_at_all(file, mine, in, kInts, MPI_INT, &status) == MPI_SUCCESS, "a collective read");
  }
  MPI_File_close(&file);
  for (int i = 0; i < kInts; ++i) expect(in[i] == world_rank * kInts + i, "what was written is read");
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  expect(argc == 2, "usage: mpi_io FILE");
  const char* path = argv[1];
  const int peer = 1 - world_rank;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    write_and_read(path);
    for (int i = 0; i < 20; ++i) {
#pragma omp task firstprivate(i)
      {
        int got = -1;
        MPI_Sendrecv(&i, 1, MPI_INT, peer, i, &got, 1, MPI_INT, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(got == i, "messages go on meanwhile");
      }
    }
  }
  return finish();
}
