// SPDX-License-Identifier: Apache-2.0
//
// See the header. One thread, so all state is its own.
#include "device/node/agent.hpp"

#include "base/report.hpp"
#include "device/node/membership.hpp"
#include "wire/base/job.hpp"
#include "wire/local/handshake.hpp"
#include "wire/local/siphash.hpp"
#include "wire/local/sockets.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace marline::target {

namespace {

constexpr int kStranger = 1000;  // milliseconds that one who connects and says nothing keeps the others
constexpr int kMostListeners = 2;

struct Agent {
  int socket;
  int listeners[kMostListeners];
  AgentOrders orders;
  void (*serve)();
};

void read_nothing() {
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) return;
  dup2(nothing, STDIN_FILENO);
  if (nothing > STDERR_FILENO) close(nothing);
}

// Programs that a region starts are no ranks. Variables that tell how many ranks share the node stay: threads are counted
// by them (the list of `marline run`, python/marline/launch/job.py, less those of sizes).
void forget_launcher() {
  static constexpr const char* kNames[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                                           "PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT", "PMIX_RANK", "PMIX_NAMESPACE",
                                           "PMIX_SERVER_URI2", "PMIX_SERVER_URI21", "PMIX_SERVER_URI3", "MPI_LOCALRANKID",
                                           "SLURM_PROCID", "SLURM_LOCALID"};
  for (const char* name : kNames) unsetenv(name);
}

// False: the rank has ended before.
bool take_orders(Agent& agent) {
  Deadline deadline(INT_MAX);
  if (!receive_all(agent.socket, &agent.orders, sizeof agent.orders, deadline)) return false;
  return receive_files(agent.socket, agent.listeners, agent.orders.listeners, deadline);
}

[[noreturn]] void become_worker(const Agent& agent, int socket, int rank, const WorkerRequest& request) {
  static WorkerRequest kept;
  kept = request;
  for (int i = 0; i < agent.orders.listeners; ++i) close(agent.listeners[i]);
  close(agent.socket);
  close(socket);
  signal(SIGCHLD, SIG_DFL);
  Job job;
  make_rank_job(agent.orders.secret, rank, agent.orders.count, kept.address, job);
  job.number = agent.orders.number + 1;
  become_worker_of(rank, job);
  agent.serve();
  _exit(EXIT_FAILURE);
}

// The answer comes from here, so that the rank hears of a fork that fails.
void start_worker(const Agent& agent, int listener) {
  int socket = accept_from(listener);
  if (socket < 0) return;
  Job ranks = {};
  ranks.number = agent.orders.number;
  ranks.count = agent.orders.count;
  std::memcpy(ranks.secret, agent.orders.secret, sizeof ranks.secret);
  Deadline deadline(kStranger);
  WorkerRequest request;
  int rank = take_greeting(socket, ranks, Purpose::kAgent, deadline);
  bool is_asked = rank >= 0 && receive_all(socket, &request, sizeof request, deadline) &&
                  std::memchr(request.address, 0, sizeof request.address) != nullptr;
  if (is_asked) {
    pid_t worker = fork();
    if (worker == 0) become_worker(agent, socket, rank, request);
    int error = worker < 0 ? errno : 0;
    (void)!send_all(socket, &error, sizeof error, deadline);
  }
  close(socket);
}

}  // namespace

void make_rank_job(const uint64_t secret[2], int rank, int count, const char* address, Job& job) {
  (void)read_job(job);  // the nodes' names, of all ranks
  const char* const* names = job.nodes;
  job = {};
  job.count = count + 1;
  job.address = address;
  for (int half = 0; half < 2; ++half) {
    int text[] = {rank, half};
    job.secret[half] = siphash(secret, text, sizeof text);
  }
  if (names == nullptr) return;
  auto size = static_cast<size_t>(count);
  auto** own = static_cast<const char**>(std::calloc(size + 2, sizeof(char*)));
  if (own == nullptr) fatal("no memory for MARLINE_NODES_AS");
  own[0] = names[rank];
  for (size_t i = 0; i < size; ++i) own[i + 1] = names[i];
  job.nodes = own;
}

void run_agent(int socket, void (*serve)()) {
  Agent agent = {socket, {-1, -1}, {}, serve};
  read_nothing();
  forget_launcher();
  signal(SIGCHLD, SIG_IGN);  // the system reaps workers
  if (!take_orders(agent)) _exit(EXIT_SUCCESS);
  pollfd files[1 + kMostListeners] = {{socket, POLLIN, 0}};
  for (int i = 0; i < agent.orders.listeners; ++i) files[1 + i] = {agent.listeners[i], POLLIN, 0};
  for (;;) {
    if (poll(files, static_cast<nfds_t>(1 + agent.orders.listeners), -1) < 0) continue;
    if (files[0].revents != 0) _exit(EXIT_SUCCESS);  // nothing more is said there: the rank has ended
    for (int i = 1; i <= agent.orders.listeners; ++i) {
      if (files[i].revents != 0) start_worker(agent, files[i].fd);
    }
  }
}

}  // namespace marline::target
