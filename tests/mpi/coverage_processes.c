/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that connect to other processes (MPI 3.1, chapter 10), in a task that has to let another one run. See
 * coverage.h. The program starts itself as the new processes, with the argument `child`. MPICH built on UCX can neither
 * start nor connect to processes: then only the calls on names are made.
 *
 * Usage: coverage_processes SOCKET
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "coverage.h"

enum { kHello = 5 };

static char* self;
static const char* socket_path;

/* New processes ---------------------------------------------------------------------------------------------------- */

static int child(int* argc, char*** argv) {
  MPI_Comm parent;
  MPI_Init(argc, argv);
  MPI_Comm_get_parent(&parent);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Send(&rank, 1, MPI_INT, 0, kHello, parent);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

static void greet_and_disconnect(MPI_Comm* children, int count) {
  int remote = -1;
  MPI_Comm_remote_size(*children, &remote);
  expect(remote == count, "as many processes as were asked for");
  for (int i = 0; i < count && world_rank == 0; ++i) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, i, kHello, *children, MPI_STATUS_IGNORE);
    expect(got == i, "the new process says its rank");
  }
  MPI_Comm_disconnect(children);
  expect(*children == MPI_COMM_NULL, "Comm_disconnect gives the handle back");
}

static void call_spawn(void) {
  char* arguments[] = {"child", NULL};
  MPI_Comm children;
  MPI_Comm_spawn(self, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  greet_and_disconnect(&children, 1);
}

static void call_spawn_multiple(void) {
  char* commands[] = {self, self};
  char* arguments[] = {"child", NULL};
  char** both[] = {arguments, arguments};
  const int counts[] = {1, 1};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm children;
  MPI_Comm_spawn_multiple(2, commands, both, counts, infos, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  greet_and_disconnect(&children, 2);
}

/* Processes that are there already --------------------------------------------------------------------------------- */

static char port[MPI_MAX_PORT_NAME];

static void exchange_and_disconnect(MPI_Comm* inter) {
  int got = -1;
  MPI_Sendrecv(&world_rank, 1, MPI_INT, 0, kHello, &got, 1, MPI_INT, 0, kHello, *inter, MPI_STATUS_IGNORE);
  expect(got == peer, "a message over the new communicator");
  MPI_Comm_disconnect(inter);
}

static void call_connect(void) {
  MPI_Comm inter;
  if (world_rank == 0)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  exchange_and_disconnect(&inter);
}

static int connected_socket(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
  const int own = socket(AF_UNIX, SOCK_STREAM, 0);
  if (world_rank == 0) {
    unlink(socket_path);
    expect(bind(own, (struct sockaddr*)&address, sizeof address) == 0 && listen(own, 1) == 0, "a socket to listen at");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 1) {
    expect(connect(own, (struct sockaddr*)&address, sizeof address) == 0, "a connected socket");
    return own;
  }
  const int other = accept(own, NULL, NULL);
  close(own);
  unlink(socket_path);
  return other;
}

static void call_join(void) {
  MPI_Comm inter;
  const int fd = connected_socket();
  MPI_Comm_join(fd, &inter);
  if (inter != MPI_COMM_NULL) exchange_and_disconnect(&inter);
  close(fd);
}

/* Where the launcher has a name server. */
static void call_names(void) {
  char found[MPI_MAX_PORT_NAME] = "";
  char service[32];
  snprintf(service, sizeof service, "marline-%d", world_rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (MPI_Publish_name(service, MPI_INFO_NULL, "somewhere") == MPI_SUCCESS) {
    expect(MPI_Lookup_name(service, MPI_INFO_NULL, found) == MPI_SUCCESS, "Lookup_name");
    expect(strcmp(found, "somewhere") == 0, "the name that was published");
    expect(MPI_Unpublish_name(service, MPI_INFO_NULL, "somewhere") == MPI_SUCCESS, "Unpublish_name");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static const Check names[] = {
    {.name = "Publish_name, Lookup_name, Unpublish_name", .call = call_names},
};

static const Check processes[] = {
    {.name = "Comm_spawn, Comm_disconnect", .call = call_spawn},
    {.name = "Comm_spawn_multiple", .call = call_spawn_multiple},
    {.name = "Comm_accept, Comm_connect", .call = call_connect},
    {.name = "Comm_join", .call = call_join},
};

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "child") == 0) return child(&argc, &argv);
  start(&argc, &argv, 2);
  expect(argc == 2, "usage: coverage_processes SOCKET");
  int level = -1;
  MPI_Query_thread(&level);
  expect(level == MPI_THREAD_MULTIPLE, "the level that was provided");
  int is_main = 0;
  MPI_Is_thread_main(&is_main);
  expect(is_main, "the thread that has initialised MPI");
  self = argv[0];
  socket_path = argv[1];
  RUN_CHECKS(names);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (world_rank == 0 && MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS) port[0] = '\0';
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (port[0] == '\0') return finish();
  RUN_CHECKS(processes);
  if (world_rank == 0) MPI_Close_port(port);
  return finish();
}
