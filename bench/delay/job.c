/* SPDX-License-Identifier: Apache-2.0
 *
 * Start, stop, and the calls that make communicators. The main thread's, but for the last.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "delay.h"
#include "links.h"
#include "next.h"
#include "stamps.h"

Next next;

/* Processes without MPI (a launcher's shell) have this library preloaded, too: what is missing stays NULL there. */
__attribute__((constructor)) static void find_next(void) {
  void* address = NULL;
#define DELAY_FIND(name)                     \
  address = dlsym(RTLD_NEXT, "PMPI_" #name); \
  memcpy(&next.name, &address, sizeof address);
  DELAY_ALL(DELAY_FIND)
#undef DELAY_FIND
}

/* In front of libmarline-mpi a receive would ask again and again where it should suspend: the program would hang. */
static void check_place(void) {
  void* address = NULL;
  Dl_info behind;
  memcpy(&address, &next.Recv, sizeof address);
  if (dladdr(address, &behind) == 0 || strstr(behind.dli_fname, "libmarline-mpi") == NULL) return;
  fprintf(stderr, "mpi-delay: preload libmpi-delay.so behind libmarline-mpi.so, not in front of it\n");
  next.Abort(MPI_COMM_WORLD, 2);
}

static int started(int error) {
  if (error != MPI_SUCCESS) return error;
  check_place();
  links_start();
  delay_start();
  stamps_start();
  return MPI_SUCCESS;
}

int MPI_Init(int* argc, char*** argv) { return started(next.Init(argc, argv)); }

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return started(next.Init_thread(argc, argv, required, provided));
}

/* Level 0 switches tools off, positive levels switch them on (MPI 4.0, 15.2.4). Negative levels do nothing here. */
int MPI_Pcontrol(const int level, ...) {
  if (level >= 0) delay_switch(level > 0);
  return next.Pcontrol(level);
}

int MPI_Finalize(void) {
  stamps_stop();
  links_stop();
  return next.Finalize();
}

static int adopted(int error, MPI_Comm parent, const MPI_Comm* child) {
  if (error == MPI_SUCCESS) stamps_adopt(parent, *child);
  return error;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) { return adopted(next.Comm_dup(comm, made), comm, made); }

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return adopted(next.Comm_split(comm, color, key, made), comm, made);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return adopted(next.Comm_split_type(comm, type, key, info, made), comm, made);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return adopted(next.Comm_create(comm, group, made), comm, made);
}

int MPI_Cart_create(MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder,
                    MPI_Comm* made) {
  return adopted(next.Cart_create(comm, dimensions, sizes, periods, reorder, made), comm, made);
}

#define ALIAS(name) extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))
ALIAS(Init);
ALIAS(Init_thread);
ALIAS(Pcontrol);
ALIAS(Finalize);
ALIAS(Comm_dup);
ALIAS(Comm_split);
ALIAS(Comm_split_type);
ALIAS(Comm_create);
ALIAS(Cart_create);
