/* SPDX-License-Identifier: Apache-2.0
 *
 * Describes this rank, the hosts and processes of the other ranks, and the communicators, for `marline ps`. This needs
 * no MPI call, which may hang: the data is collected in MPI_Init, and the lock of comm.h's list is never held during an
 * MPI call. The variables are written in describe_start(), before the parts are registered; afterwards the runtime's
 * server only reads them.
 */
#include "inspect/describe.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mpi_library.h"
#include "base/options.h"
#include "base/report.h"
#include "comm/comm.h"
#include "engine/bind.h"
#include "inspect/describe_write.h"
#include "inspect/messages.h"
#include "inspect/requests.h"
#include "inspect/watch.h"

enum { kSecretBytes = 16, kMostMembers = 4096 }; /* members of a communicator that `marline ps` gets */

typedef struct Peer {
  char host[64];
  int pid;
  int port; /* port of its relay; 0: none */
} Peer;

static Peer* peers; /* by rank */
static int rank;
static int size;
static char secret[2 * kSecretBytes + 1]; /* of the job; "" if all ranks are on one node */

/* Parts ------------------------------------------------------------------------------------------------------------ */

typedef struct CommVisit {
  Out out;
  const char* comma;
} CommVisit;

/* Writes the collectives that tasks or threads of this rank are in, each with its number on the communicator. */
static void describe_collectives(const Out* out, const CollectiveLog* log) {
  const char* comma = "";
  const uint64_t begun = log != NULL ? collective_log_begun(log) : 0;
  LoggedCollective call;
  print(out, ",\"collectives\":[");
  for (uint64_t number = begun; number > 0 && number + kLogEntries > begun; --number) {
    if (!collective_log_read(log, number, &call) || !call.in_progress) continue;
    print(out, "%s{\"number\":%lld,\"operation\":", comma, (long long)number);
    print_string(out, call.name);
    print(out, "}");
    comma = ",";
  }
  print(out, "]");
}

static void describe_comm(const CommInfo* info, void* arg) {
  CommVisit* visit = arg;
  const Out* out = &visit->out;
  print(out, "%s{\"id\":%lld,\"agreed\":%s,\"rank\":%d,\"size\":%d,\"name\":", visit->comma, (long long)info->identity,
        info->is_agreed ? "true" : "false", info->rank, info->size);
  print_string(out, info->name);
  const int members = info->remote_size > 0 ? info->remote_size : info->size;
  print(out, ",\"remote\":%s,\"ranks\":[", info->remote_size > 0 ? "true" : "false");
  for (int i = 0; i < members && i < kMostMembers; ++i) print(out, "%s%d", i > 0 ? "," : "", info->members[i]);
  print(out, "]");
  describe_collectives(out, info->log);
  print(out, "}");
  visit->comma = ",";
}

static void describe_rank(void* unused, marline_describe_write_fn write, void* sink) {
  (void)unused;
  CommVisit visit = {{write, sink}, ""};
  print(&visit.out, "{\"rank\":%d,\"size\":%d,\"bound\":%d,\"communicators\":[", rank, size, bound_requests());
  comm_for_each(describe_comm, &visit);
  print(&visit.out, "]}");
}

static void describe_peers(void* unused, marline_describe_write_fn write, void* sink) {
  (void)unused;
  const Out out = {write, sink};
  print(&out, "{\"secret\":\"%s\",\"ranks\":[", secret);
  for (int i = 0; i < size; ++i) {
    print(&out, "%s{\"host\":", i > 0 ? "," : "");
    print_string(&out, peers[i].host);
    print(&out, ",\"pid\":%d,\"port\":%d}", peers[i].pid, peers[i].port);
  }
  print(&out, "]}");
}

static void describe_messages(void* unused, marline_describe_write_fn write, void* sink) {
  (void)unused;
  const Out out = {write, sink};
  messages_describe(&out);
}

static void describe_requests(void* unused, marline_describe_write_fn write, void* sink) {
  (void)unused;
  const Out out = {write, sink};
  requests_describe(&out);
}

/* Where the ranks are ---------------------------------------------------------------------------------------------- */

static bool on_one_node(void) {
  for (int i = 1; i < size; ++i)
    if (strcmp(peers[i].host, peers[0].host) != 0) return false;
  return true;
}

static void draw_secret(void) {
  unsigned char bytes[kSecretBytes];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return; /* "": no relay accepts it */
  for (int i = 0; i < kSecretBytes; ++i) snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
}

static void exchange(const Peer* mine) {
  const MPI_Datatype bytes = MPI_PACKED;
  next_mpi.allgather(mine, sizeof *mine, bytes, peers, sizeof *mine, bytes, MPI_COMM_WORLD);
}

void describe_start(int thread_level) {
  const MPI_Comm world = MPI_COMM_WORLD;
  next_mpi.comm_rank(world, &rank);
  next_mpi.comm_size(world, &size);
  Peer mine = {.pid = (int)getpid()};
  gethostname(mine.host, sizeof mine.host - 1);
  peers = calloc((size_t)size, sizeof *peers);
  if (peers == NULL) report_fatal("no memory for the places of %d ranks", size);
  exchange(&mine);
  if (!on_one_node()) {
    if (rank == 0) draw_secret();
    next_mpi.bcast(secret, sizeof secret, MPI_PACKED, 0, world);
    mine.port = secret[0] != '\0' ? marline_describe_relay(secret) : 0;
    exchange(&mine);
  }
  messages_start(thread_level);
  requests_start();
  marline_describe_register("mpi", describe_rank, NULL);
  marline_describe_register("mpi_peers", describe_peers, NULL);
  marline_describe_register("mpi_messages", describe_messages, NULL);
  marline_describe_register("mpi_requests", describe_requests, NULL);
  if (rank == 0 && mpi_options()->watch > 0) watch_start(mpi_options()->watch);
}

void describe_stop(void) { messages_stop(); }
