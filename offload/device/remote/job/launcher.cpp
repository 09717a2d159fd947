// SPDX-License-Identifier: Apache-2.0
//
// Waits for requests of ranks, and forks a worker for each. The process has one thread, so its state needs no lock.
#include "device/remote/job/launcher.hpp"

#include "base/report.hpp"
#include "device/remote/job/membership.hpp"
#include "wire/base/job.hpp"
#include "wire/local/reception.hpp"
#include "wire/local/siphash.hpp"
#include "wire/local/sockets.hpp"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

namespace {

constexpr int kMostListeners = Reception::kMostListeners;

struct WorkerLauncher {
  int socket;
  int listeners[kMostListeners];
  LauncherOrders orders;
  void (*serve)();
  Reception reception;
};

void read_nothing() {
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) return;
  dup2(nothing, STDIN_FILENO);
  if (nothing > STDERR_FILENO) close(nothing);
}

// Removes variables of the launcher, as programs that a region starts are no ranks. Variables that say how many ranks
// share the node stay, as threads are counted by them. (The same rule as in `marline run`,
// launch/start/job.cpp, drop_mpi.)
void forget_launcher() {
  static constexpr const char* kNames[] = {"OMPI_COMM_WORLD_RANK",
                                           "OMPI_COMM_WORLD_SIZE",
                                           "OMPI_COMM_WORLD_LOCAL_RANK",
                                           "PMI_RANK",
                                           "PMI_SIZE",
                                           "PMI_FD",
                                           "PMI_PORT",
                                           "PMIX_RANK",
                                           "PMIX_NAMESPACE",
                                           "PMIX_SERVER_URI2",
                                           "PMIX_SERVER_URI21",
                                           "PMIX_SERVER_URI3",
                                           "MPI_LOCALRANKID",
                                           "SLURM_PROCID",
                                           "SLURM_LOCALID"};
  for (const char* name : kNames) unsetenv(name);
}

// False: the rank has ended before it has sent them.
bool take_orders(WorkerLauncher& launcher) {
  Deadline deadline(INT_MAX);
  if (!receive_all(launcher.socket, &launcher.orders, sizeof launcher.orders, deadline)) return false;
  return receive_files(launcher.socket, launcher.listeners, launcher.orders.listeners, deadline);
}

[[noreturn]] void become_worker(WorkerLauncher& launcher, const Caller& caller, const WorkerRequest& request) {
  static WorkerRequest kept;
  kept = request;
  launcher.reception.close();
  for (int i = 0; i < launcher.orders.listeners; ++i) close(launcher.listeners[i]);
  close(launcher.socket);
  close(caller.socket);
  signal(SIGCHLD, SIG_DFL);
  Job job;
  make_rank_job(launcher.orders.secret, caller.number, launcher.orders.count, kept.address, job);
  job.number = launcher.orders.number + 1;
  job.is_begun = true;
  become_worker_of(caller.number, job);
  launcher.serve();
  _exit(EXIT_FAILURE);
}

// The launcher sends the answer, not the worker, so that the rank learns of a fork that fails.
void start_worker(WorkerLauncher& launcher, const Caller& caller) {
  WorkerRequest request;
  std::memcpy(&request, caller.bytes, sizeof request);
  if (std::memchr(request.address, 0, sizeof request.address) != nullptr) {
    pid_t worker = fork();
    if (worker == 0) become_worker(launcher, caller, request);
    int error = worker < 0 ? errno : 0;
    // The answer is sent at once, as nothing else has been sent through this socket.
    (void)!send_all(caller.socket, &error, sizeof error, Deadline(0));
  }
  close(caller.socket);
}

}  // namespace

void make_rank_job(const uint64_t secret[2], int rank, int count, const char* address, Job& job) {
  (void)read_job(job);  // for the names of all ranks' nodes
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

void run_launcher(int socket, void (*serve)()) {
  constexpr timespec kNoFiles = {0, 100'000'000};
  static WorkerLauncher launcher;
  launcher.socket = socket;
  launcher.serve = serve;
  read_nothing();
  forget_launcher();
  signal(SIGCHLD, SIG_IGN);  // the system reaps workers
  if (!take_orders(launcher)) _exit(EXIT_SUCCESS);
  Job ranks = {};
  ranks.number = launcher.orders.number;
  ranks.count = launcher.orders.count;
  std::memcpy(ranks.secret, launcher.orders.secret, sizeof ranks.secret);
  Expected request = {.bytes = sizeof(WorkerRequest)};
  bool is_open =
      launcher.reception.open(ranks, Purpose::kLauncher, request, launcher.listeners, launcher.orders.listeners);
  if (!is_open) fatal("no memory for connections of %d ranks", ranks.count);
  for (;;) {
    Caller caller;
    switch (launcher.reception.next(caller, Deadline(INT_MAX), socket)) {
      case Reception::Outcome::kCaller: start_worker(launcher, caller); break;
      case Reception::Outcome::kOther: _exit(EXIT_SUCCESS);  // the rank has closed its end of `socket`: it has ended
      case Reception::Outcome::kNoFiles: nanosleep(&kNoFiles, nullptr); break;
      case Reception::Outcome::kTimeIsOver: break;
    }
  }
}

}  // namespace marline::offload::device
