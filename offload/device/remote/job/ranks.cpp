// SPDX-License-Identifier: Apache-2.0
//
// Starts this rank's launcher, exchanges addresses with the other ranks, and asks their launchers for workers. The
// state is written before main and in MPI_Init, and is constant from then on.
#include "device/remote/job/ranks.hpp"

#include "base/options.hpp"
#include "base/report.hpp"
#include "device/remote/job/launcher.hpp"
#include "device/remote/job/membership.hpp"
#include "device/remote/program/link.hpp"
#include "device/process/inheritance.hpp"
#include "image/program.hpp"
#include "marline/devices.h"
#include "wire/base/job.hpp"
#include "wire/base/peers.hpp"
#include "wire/local/handshake.hpp"
#include "wire/local/sockets.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

using namespace image;

namespace {

constexpr int kLauncherTimeout = 10'000;  // milliseconds that a launcher has to answer, on an idle machine
constexpr int kMostAddresses = 8;         // IPv4 addresses of a machine; further ones are left out

// What each rank sends to all others. A rank without a launcher has no `machine_socket`.
struct Card {
  Peer peer;
  uint64_t identity;
  uint64_t secret[2];      // all ranks use the secret of rank 0
  Address machine_socket;  // where its launcher listens on this machine
};

// What each rank sends in a second step if the job is on several machines: its launcher's addresses with the port.
struct FarCard {
  int count;
  Address addresses[kMostAddresses];
};

int g_launcher = -1;             // this rank's end of the pair of sockets; -1: there is no launcher
Card* g_cards = nullptr;         // by rank
FarCard* g_far = nullptr;        // by rank; null: all ranks are on one machine
std::atomic<bool> g_met{false};  // stored (release) after the rest of the state
int g_count = 0;

// A fork of the rank must not keep the launcher alive.
void close_in_fork() {
  if (g_launcher >= 0) close(g_launcher);
  g_launcher = -1;
}

[[noreturn]] void fail_to_start(const char* what) {
  fatal("the process that serves other ranks cannot be started: %s: %s", what, strerror(errno));
}

[[noreturn]] void fail_to_fork() {
  char why[256];
  fatal("the process that serves other ranks cannot be started: no process: %s",
        marline_describe_refusal(errno, 0, why, sizeof why));
}

// Takes only IPv4, like the listener.
void add_address(FarCard& card, const sockaddr* found, const Network& network) {
  if (found == nullptr || found->sa_family != AF_INET || card.count == kMostAddresses) return;
  Address address = {};
  address.length = sizeof(sockaddr_in);
  std::memcpy(&address.storage, found, address.length);
  if (network.has(address)) card.addresses[card.count++] = address;
}

void list_addresses(FarCard& card, const Network& network) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return;
  for (ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if ((at->ifa_flags & IFF_UP) != 0 && (at->ifa_flags & IFF_LOOPBACK) == 0) add_address(card, at->ifa_addr, network);
  }
  freeifaddrs(first);
}

int listen_or_fail(const Address& address) {
  int listener = listen_at(address);
  if (listener < 0) fail_to_start("no socket");
  return listener;
}

// Listens for ranks of other machines: at all addresses of this machine, or only at its first address on the network
// that the user names.
int listen_far(FarCard& card, const Network& network) {
  const char* name = option_value(Option::kNetwork);
  list_addresses(card, network);
  if (name != nullptr && card.count == 0) end_by_options("MARLINE_NETWORK=%s: this machine has no address there", name);
  if (name != nullptr) card.count = 1;
  int listener = listen_or_fail(name != nullptr ? card.addresses[0] : of_all_interfaces(loopback_address()));
  for (int i = 0; i < card.count; ++i) card.addresses[i].set_port(own_address(listener).port());
  return listener;
}

Network chosen_network() {
  Network network;
  const char* name = option_value(Option::kNetwork);
  if (name != nullptr && !parse_network(name, network)) refuse_value(Option::kNetwork, name);
  return network;
}

const CheckedAtLoad g_checked(Option::kNetwork, [] { (void)chosen_network(); });

void give_orders(const marline_ranks_t* ranks, const int* listeners, int count) {
  LauncherOrders orders = {{g_cards[0].secret[0], g_cards[0].secret[1]}, ranks->rank, ranks->count, count};
  Deadline deadline(kLauncherTimeout);
  bool done =
      send_all(g_launcher, &orders, sizeof orders, deadline) && send_files(g_launcher, listeners, count, deadline);
  if (!done) fatal("the process that serves other ranks on the node of rank %d has ended", ranks->rank);
  for (int i = 0; i < count; ++i) close(listeners[i]);
}

template <class Type>
Type* make_list(int count) {
  auto* list = static_cast<Type*>(std::calloc(static_cast<size_t>(count), sizeof(Type)));
  if (list == nullptr) fatal("no memory for the addresses of %d ranks", count);
  return list;
}

void check_ranks(const marline_ranks_t* ranks, const Job& job) {
  int launched = 0;
  for (const char* const* name = job.nodes; name != nullptr && *name != nullptr; ++name) ++launched;
  if (job.nodes != nullptr && launched != ranks->count) {
    end_by_options("MARLINE_NODES_AS has %d names, but the job has %d ranks: name the node of each", launched,
                   ranks->count);
  }
  const int count = count_of_ranks();
  if (ranks->count == count && ranks->rank == number_of_rank()) return;
  fatal(
      "MPI says that this is rank %d of %d, and the launcher's variables say rank %d of %d: start the program by MPI's "
      "own launcher",
      ranks->rank, ranks->count, number_of_rank(), count);
}

bool is_spread() {
  for (int i = 1; i < g_count; ++i) {
    if (!are_on_one_machine(g_cards[0].peer, g_cards[i].peer)) return true;
  }
  return false;
}

constexpr int kAddressPatience = 2'000;  // milliseconds for one of several addresses: it may be on a separate network

// Returns a socket that is connected to the launcher of a rank, or -1 with errno; EPERM: the process that answers does
// not know the secret. Machines may have the same address in separate networks, so the wrong machine may answer.
int reach_at(const Address& address, const Job& ranks, int rank, Deadline deadline) {
  for (;;) {
    int socket = connect_to(address, deadline);
    if (socket < 0 && (errno != EAGAIN || deadline.left() == 0)) return -1;  // EAGAIN: the launcher's queue is full
    HandshakeResult handshake =
        socket >= 0 ? greet(socket, ranks, rank, Purpose::kLauncher, deadline) : HandshakeResult::kClosed;
    if (handshake == HandshakeResult::kDone) return socket;
    if (socket >= 0) close(socket);
    errno = handshake == HandshakeResult::kStranger ? EPERM : ETIMEDOUT;
    if (handshake == HandshakeResult::kStranger || deadline.left() == 0) return -1;
    usleep(1000);  // the launcher may have refused: it had too many callers that it does not know yet
  }
}

bool is_here(int rank) { return are_on_one_machine(g_cards[rank].peer, g_cards[number_of_rank()].peer); }

int reach(const Job& ranks, int rank) {
  if (g_cards[rank].machine_socket.length == 0) {
    fatal("rank %d on %s serves no devices: its program has no target regions", rank, g_cards[rank].peer.node);
  }
  if (g_cards[rank].identity != program_identity()) {
    fatal("the program of rank %d, on %s, is another one than this (by its build id): start the same file everywhere",
          rank, g_cards[rank].peer.node);
  }
  int socket = -1;
  errno = EHOSTUNREACH;
  if (is_here(rank)) {
    socket = reach_at(g_cards[rank].machine_socket, ranks, rank, Deadline::by_load(kLauncherTimeout));
  } else {
    const FarCard& far = g_far[rank];
    int patience = far.count > 1 ? kAddressPatience : kLauncherTimeout;
    for (int i = 0; socket < 0 && i < far.count; ++i) {
      socket = reach_at(far.addresses[i], ranks, rank, Deadline(patience));
    }
    // Tries again with more time, as a crowded node may need it.
    for (int i = 0; socket < 0 && far.count > 1 && i < far.count; ++i) {
      socket = reach_at(far.addresses[i], ranks, rank, Deadline::by_load(kLauncherTimeout));
    }
  }
  if (socket >= 0) return socket;
  fatal("rank %d on %s starts no worker for rank %d (%s): a rank that has ended starts none; use devices before", rank,
        g_cards[rank].peer.node, number_of_rank(),
        errno == EPERM ? "another process answers in its place" : strerror(errno));
}

// Returns a listener to which this rank's workers connect, and writes its address as text. `far`: a connection to
// another machine, from which the listener takes the address; -1: all ranks are on this machine.
int listen_for_workers(int far, char (&text)[sizeof(WorkerRequest::address)]) {
  if (far < 0) {
    int listener = listen_or_fail(unnamed_address());
    Address address = own_address(listener);
    auto* name = reinterpret_cast<sockaddr_un*>(&address.storage)->sun_path;
    auto length = static_cast<int>(address.length - offsetof(sockaddr_un, sun_path) - 1);
    std::snprintf(text, sizeof text, "unix:@%.*s", length, name + 1);
    return listener;
  }
  char host[INET6_ADDRSTRLEN] = "";
  Address address = own_address(far);
  address.set_port(0);
  int listener = listen_or_fail(address);
  inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(&address.storage)->sin_addr, host, sizeof host);
  std::snprintf(text, sizeof text, "tcp:%s:%u", host, own_address(listener).port());
  return listener;
}

[[noreturn]] void refuse_too_early() {
  auto initialized = reinterpret_cast<int (*)(int*)>(dlsym(RTLD_DEFAULT, "PMPI_Initialized"));
  int is_initialized = 0;
  if (initialized != nullptr) initialized(&is_initialized);
  if (is_initialized != 0) {
    fatal(
        "the ranks' devices are not known, as MPI_Init was called without libmarline-mpi: start the program by "
        "`marline "
        "run`, or as `marline run --print` shows");
  }
  fatal(
      "a device on the node of another rank is used before MPI_Init, in which the ranks tell each other where they "
      "are: "
      "use it after MPI_Init, or give each rank workers of its own by --devices nodes:K");
}

}  // namespace

// Forks twice: like a device's process (process.cpp), the launcher is no child of the program.
void start_launcher(void (*serve)()) {
  int sockets[2], status = 0;
  if (chosen_wire() == WireChoice::kMpi) {
    end_by_options(
        "MARLINE_WIRE=mpi: the ranks of a program that uses MPI reach each other's devices by the wire `local`; leave "
        "the variable out");
  }
  if (count_of_ranks() >= kMostPeers) {
    end_by_options(
        "MARLINE_DEVICES names nodes, and the job has %d ranks; at most %d can be each other's devices: start fewer",
        count_of_ranks(), kMostPeers - 1);
  }
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets) != 0) fail_to_start("no sockets");
  flush_output();
  pid_t middle = fork();
  if (middle < 0) fail_to_fork();
  if (middle == 0) {
    pid_t last = fork();
    if (last != 0) _exit(last < 0 ? errno : 0);
    close_inherited(sockets[1], sockets[1]);
    run_launcher(sockets[1], serve);
  }
  while (waitpid(middle, &status, 0) < 0 && errno == EINTR) {
  }
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
  if (errno != 0) fail_to_fork();
  close(sockets[1]);
  g_launcher = sockets[0];
  pthread_atfork(nullptr, nullptr, close_in_fork);
}

void meet_ranks(const marline_ranks_t* ranks) {
  const char* devices = option_value(Option::kDevices);
  bool wants_them = is_serving_rank() && devices != nullptr && std::strstr(devices, "nodes") != nullptr;
  if (!wants_them || g_met.load(std::memory_order_relaxed)) return;
  Job job;
  (void)read_job(job);
  const Network network = chosen_network();
  check_ranks(ranks, job);
  g_count = ranks->count;
  g_cards = make_list<Card>(g_count);
  int listeners[2], listening = 0;
  Card own = {};
  describe_self(job, ranks->rank, own.peer);
  own.identity = program_identity();
  if (getrandom(own.secret, sizeof own.secret, 0) != sizeof own.secret) fatal("the system has no random numbers");
  if (g_launcher >= 0) {
    listeners[listening++] = listen_or_fail(unnamed_address());
    own.machine_socket = own_address(listeners[0]);
  }
  ranks->gather(&own, g_cards, sizeof own);
  if (is_spread()) {
    FarCard far = {};
    g_far = make_list<FarCard>(g_count);
    if (g_launcher >= 0) listeners[listening++] = listen_far(far, network);
    ranks->gather(&far, g_far, sizeof far);
  }
  if (g_launcher >= 0) give_orders(ranks, listeners, listening);
  g_met.store(true, std::memory_order_release);  // pairs with call_workers and node_of_rank
}

// Sends all requests before it waits for the first answer, so that the launchers fork in parallel. If the job is on
// several machines, it first connects to a launcher on another machine: the connection shows by which of its addresses
// that machine reaches this one.
void call_workers(Job& job) {
  if (!g_met.load(std::memory_order_acquire)) refuse_too_early();  // pairs with meet_ranks
  static char address[sizeof(WorkerRequest::address)];
  static int listener;
  Job ranks = {};
  ranks.number = number_of_rank();
  ranks.count = g_count;
  std::memcpy(ranks.secret, g_cards[0].secret, sizeof ranks.secret);
  int sockets[kMostPeers], far = -1;
  for (int i = 0; i < g_count && far < 0; ++i) {
    if (!is_here(i)) far = reach(ranks, i);
  }
  listener = listen_for_workers(far, address);
  if (far >= 0) close(far);
  WorkerRequest request = {};
  std::memcpy(request.address, address, sizeof address);
  for (int i = 0; i < g_count; ++i) {
    sockets[i] = reach(ranks, i);
    // If this fails, receiving the answer below fails, too.
    (void)!send_all(sockets[i], &request, sizeof request, Deadline::by_load(kLauncherTimeout));
  }
  Deadline deadline = Deadline::by_load(kLauncherTimeout);
  for (int i = 0; i < g_count; ++i) {
    int error = 0;
    if (!receive_all(sockets[i], &error, sizeof error, deadline)) error = deadline.left() == 0 ? ETIMEDOUT : ECONNRESET;
    if (error != 0)
      fatal("rank %d on %s cannot start a worker for rank %d: %s", i, g_cards[i].peer.node, ranks.number,
            strerror(error));
    close(sockets[i]);
  }
  make_rank_job(ranks.secret, ranks.number, g_count, address, job);
  job.listener = &listener;
}

const char* node_of_rank(int rank) {
  bool is_known = g_met.load(std::memory_order_acquire) && rank < g_count;  // pairs with meet_ranks
  return is_known ? g_cards[rank].peer.node : "";
}

}  // namespace marline::offload::device
