/* SPDX-License-Identifier: Apache-2.0
 *
 * Duplicates of duplicates, each freed when the next one is there. Prints by how many KiB the process has grown while
 * the last kDups were made; the earlier duplicates have made MPI's and the recorder's pools grow to their size.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBefore = 5000, kDups = 50000, kPageKib = 4 };

static long resident_kib(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) exit(1);
  fclose(file);
  return kPageKib * pages;
}

static MPI_Comm duplicate(MPI_Comm last, int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Comm next;
    MPI_Comm_dup(last, &next);
    MPI_Comm_free(&last);
    last = next;
  }
  return last;
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  comm = duplicate(comm, kBefore);
  const long before = resident_kib();
  comm = duplicate(comm, kDups);
  printf("grown %ld KiB\n", resident_kib() - before);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
