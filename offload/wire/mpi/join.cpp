// SPDX-License-Identifier: Apache-2.0
//
// Joins the job. Joining is collective over MPI_COMM_WORLD: all of its processes join, and none of them is in another
// collective call on it meanwhile.
#include "wire/mpi/join.hpp"

#include "wire/base/peers.hpp"
#include "wire/mpi/give_up.hpp"
#include "wire/mpi/inbox.hpp"
#include "wire/mpi/leave.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace marline::offload::wire {

namespace {

// What each process sends to all other processes.
struct Facts {
  Peer peer;
  bool is_of_job;
};

const char* level_name(int level) { return level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE"; }

void check_level(const Wire* wire, int level) {
  if (level == MPI_THREAD_SERIALIZED || level == MPI_THREAD_MULTIPLE) return;
  give_up(&wire->user,
          "MPI runs at %s, but devices on other processes need MPI_THREAD_MULTIPLE: call "
          "MPI_Init_thread with it, or set %s",
          level_name(level),
          MARLINE_MPI_IS_OPENMPI ? "OMPI_MPI_THREAD_LEVEL=3" : "MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE");
}

void start_mpi(Wire* wire) {
  char line[512];
  if (!find_mpi(line, sizeof line)) give_up(&wire->user, "%s", line);
  int is_finalized = 0, is_initialized = 0, level = 0;
  mpi.finalized(&is_finalized);
  if (is_finalized != 0) give_up(&wire->user, "the program has called MPI_Finalize before its first device was used");
  mpi.initialized(&is_initialized);
  if (is_initialized == 0) {
    check(wire, mpi.init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
    wire->initialised = true;
  } else {
    check(wire, mpi.query_thread(&level), "MPI_Query_thread");
  }
  check_level(wire, level);
  wire->serialized = level == MPI_THREAD_SERIALIZED;
}

// Uses MPI_Comm_split rather than MPI_Comm_dup: the program's attributes of MPI_COMM_WORLD are not copied.
MPI_Comm make_comm(Wire* wire) {
  MPI_Comm made;
  check(wire, mpi.comm_split(mpi.world, 0, wire->number, &made), "MPI_Comm_split");
  check(wire, mpi.comm_set_errhandler(made, mpi.errors_return), "MPI_Comm_set_errhandler");
  return made;
}

void make_comms(Wire* wire) {
  check(wire, mpi.comm_rank(mpi.world, &wire->number), "MPI_Comm_rank");
  check(wire, mpi.comm_size(mpi.world, &wire->count), "MPI_Comm_size");
  wire->frames = make_comm(wire);
  wire->bulks = make_comm(wire);
}

[[nodiscard]] bool is_zero(const uint64_t* secret) { return (secret[0] | secret[1]) == 0; }

// All processes use the secret of process 0; a process without a secret takes it. Returns false if this process has
// another secret.
[[nodiscard]] bool agree_on_secret(Wire* wire, const Job& job) {
  uint64_t secret[2] = {job.secret[0], job.secret[1]};
  if (wire->number == 0 && is_zero(secret) && getrandom(secret, sizeof secret, 0) != sizeof secret) {
    give_up(&wire->user, "the system has no random numbers for the job's secret");
  }
  check(wire, mpi.bcast(secret, sizeof secret, mpi.byte, 0, wire->frames), "MPI_Bcast");
  wire->job = secret[0] ^ (secret[1] * 0x9e3779b97f4a7c15);  // a word that does not reveal the secret
  return is_zero(job.secret) || std::memcmp(secret, job.secret, sizeof secret) == 0;
}

// Process 0 reports the stranger. The launcher ends the other processes; if it does not, they end themselves after
// kPatience.
[[noreturn]] void give_up_stranger(const Wire* wire, int stranger) {
  constexpr unsigned kPatience = 5;  // s
  if (wire->number != 0) sleep(kPatience);
  give_up(&wire->user,
          "process %d has not the secret of this job: start all processes by one launcher and with one "
          "environment",
          stranger);
}

void exchange_facts(Wire* wire, const Job& job, bool is_of_job) {
  auto* all = static_cast<Facts*>(take_memory(&wire->user, sizeof(Facts) * static_cast<size_t>(wire->count)));
  Facts own{};
  own.is_of_job = is_of_job;
  describe_self(job, wire->number, own.peer);
  check(wire, mpi.allgather(&own, sizeof own, mpi.byte, all, sizeof own, mpi.byte, wire->frames), "MPI_Allgather");
  for (int i = 0; i < wire->count; ++i) {
    if (!all[i].is_of_job) give_up_stranger(wire, i);
    wire->peers[i] = all[i].peer;
  }
  std::free(all);
}

template <class T>
T* make_many(Wire* wire) {
  const size_t bytes = sizeof(T) * static_cast<size_t>(wire->count);
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(T) < sizeof(void*) ? sizeof(void*) : alignof(T), bytes) != 0) {
    give_up(&wire->user, "no memory for %zu bytes of the wire mpi", bytes);
  }
  T* made = static_cast<T*>(memory);
  for (int i = 0; i < wire->count; ++i) new (made + i) T{};
  return made;
}

Wire* make_wire(const WireUser* user) {
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(Wire), sizeof(Wire)) != 0) give_up(user, "no memory for the wire mpi");
  auto* wire = new (memory) Wire{};
  wire->user = *user;
  return wire;
}

}  // namespace

Wire* join_wire(const Job& job, const WireUser* user) {
  Wire* wire = make_wire(user);
  start_mpi(wire);
  make_comms(wire);
  wire->peers = make_many<Peer>(wire);
  wire->outboxes = make_many<Outbox>(wire);
  wire->inboxes = make_many<Inbox>(wire);
  exchange_facts(wire, job, agree_on_secret(wire, job));
  open_slots(wire);
  leave_before_finalize(wire);
  return wire;
}

}  // namespace marline::offload::wire
