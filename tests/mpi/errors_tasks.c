/* SPDX-License-Identifier: Apache-2.0
 *
 * Error codes and handlers in tasks, on two ranks: of many suspended tasks only the task with the failed call gets an
 * error code; a handler of the program's is called once for each failure; calls that helper threads make return their
 * errors to the task, and use the handlers of their objects; an error of one task leaves the others, and the engine, in
 * order. (Which code a call gives, with and without Marline: transcript_errors.c.)
 */
#include <string.h>

#include "support.h"

enum { kTasks = 40, kInts = 8 };

static int handled;

static void count_error(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  __atomic_fetch_add(&handled, *error != MPI_SUCCESS, __ATOMIC_RELAXED);
}

static void count_window_error(MPI_Win* window, int* error, ...) {
  (void)window;
  __atomic_fetch_add(&handled, *error != MPI_SUCCESS, __ATOMIC_RELAXED);
}

static int class_of(int error) {
  int class = -1;
  MPI_Error_class(error, &class);
  return class;
}

static int is_short(int i) { return i % 5 == 3; }

/* Every fifth of the suspended tasks gets a message that is too long for it. */
static void receive_many(MPI_Comm comm) {
  static int buffers[kTasks][kInts];
  for (int i = 0; i < kTasks; ++i) {
#pragma omp task firstprivate(i)
    {
      MPI_Status status;
      const int error = MPI_Recv(buffers[i], is_short(i) ? 1 : kInts, MPI_INT, 0, i, comm, &status);
      expect(class_of(error) == (is_short(i) ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the code is that of the task's call");
      expect(is_short(i) || buffers[i][kInts - 1] == i, "the message has come");
    }
  }
#pragma omp taskwait
}

static void send_many(MPI_Comm comm) {
  let_peer_block();
  for (int i = kTasks - 1; i >= 0; --i) {
    int buffer[kInts];
    for (int k = 0; k < kInts; ++k) buffer[k] = i;
    MPI_Send(buffer, kInts, MPI_INT, 1, i, comm);
  }
}

static void many(MPI_Comm comm) {
  if (world_rank == 0)
    send_many(comm);
  else
    receive_many(comm);
}

static void with_handler(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  handled = 0;
  many(MPI_COMM_WORLD);
  expect(handled == (world_rank == 1 ? kTasks / 5 : 0), "the handler is called once for each failure");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
}

/* Wrong arguments: no other process is asked. */
static void arguments(void) {
#pragma omp task
  {
    int value = 0;
    MPI_Comm made;
    expect(MPI_Recv(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS, "Recv from rank 99");
    expect(MPI_Send(&value, 1, MPI_INT, 1 - world_rank, -7, MPI_COMM_WORLD) != MPI_SUCCESS, "Send with tag -7");
    expect(MPI_Bcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD) != MPI_SUCCESS, "Bcast from root 99");
    expect(MPI_Barrier(MPI_COMM_NULL) != MPI_SUCCESS, "Barrier on no communicator");
    expect(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS, "Recv on none");
    expect(MPI_Comm_dup(MPI_COMM_NULL, &made) != MPI_SUCCESS, "Comm_dup of no communicator");
  }
#pragma omp taskwait
}

/* Errors of calls that a helper thread makes. */
static void objects(void) {
#pragma omp task
  {
    static int memory[kInts];
    MPI_File file;
    MPI_Win window;
    MPI_Errhandler handler;
    expect(class_of(MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) ==
               MPI_ERR_NO_SUCH_FILE,
           "File_open of a file that is not there");
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_create_errhandler(count_window_error, &handler);
    MPI_Win_set_errhandler(window, handler);
    handled = 0;
    expect(MPI_Win_lock(MPI_LOCK_SHARED, 99, 0, window) != MPI_SUCCESS, "Win_lock of rank 99");
    expect(handled == 1, "the window's handler is called once");
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&window);
  }
#pragma omp taskwait
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int threads = 1; threads <= 3; threads += 2) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
      many(MPI_COMM_WORLD);
      with_handler();
      arguments();
      objects();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return finish();
}
