// SPDX-License-Identifier: Apache-2.0
//
// Numbers and identities of communicators. Each record contains the number, which is valid in this process only. It is
// an MPI attribute of the communicator, so it is deleted when the communicator is freed, and a reused handle does not
// inherit it. MPI_COMM_WORLD, the usual one, is recognised without a look-up.
//
// The identity is the same on all processes of a communicator, without a message: a hash of the parent, of the members,
// and of how many communicators the same members have made from the same parent before. Making a communicator is
// collective over its members, so all members count alike. Only threads that make equal communicators from the same
// parent at the same time have no order; MPI forbids that, except for MPI_Comm_create_group, and its tag is part of the
// hash.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/recorder.hpp"
#include "base/stream.hpp"
#include "mpi/calls.hpp"
#include "mpi/made.hpp"

namespace marline::trace {
namespace {

constexpr u64 kWorld = 1;  // 0: no communicator
constexpr u64 kMostComms = 0xffff;

// What the attribute points to. Immutable except `written` and what made_lock protects.
struct Known {
  u64 number;
  u64 identity;
  Made* made;   // under made_lock: the counts of what was made from this communicator
  int written;  // set once by the thread that writes identity and members
};

// Taken when an unknown communicator is met; held while MPI is called.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int comm_key = MPI_KEYVAL_INVALID;  // both keys are written once, under `lock`, before `ready` (release)
int window_key = MPI_KEYVAL_INVALID;
bool ready;
u64 last_number = kWorld;  // under `lock`

// The counts of what was made from a communicator are removed with it. So there is one entry for each different group
// and tag with which communicators were made from an existing parent, from MPI_COMM_WORLD, and from an unknown one.
// made_lock is taken inside the other locks, also MPI's own: MPI is not called under it.
pthread_mutex_t made_lock = PTHREAD_MUTEX_INITIALIZER;
MadeBefore made_before;  // under made_lock

u64 mix(u64 hash, u64 value) {
  // Two rounds of SplitMix64's finalizer (Steele, Lea, Flood 2014): every bit of both arguments changes every bit of
  // the result.
  u64 x = hash ^ (value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2));
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Called when MPI frees the communicator.
int delete_known(MPI_Comm, int, void* value, void*) {
  auto* entry = static_cast<Known*>(value);
  pthread_mutex_lock(&made_lock);
  made_before.forget(entry->made);
  pthread_mutex_unlock(&made_lock);
  free(entry);
  return MPI_SUCCESS;
}

void make_keys() {
  mpi().Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_known, &comm_key, nullptr);
  mpi().Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &window_key, nullptr);
  __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
}

bool keys_ready() { return __atomic_load_n(&ready, __ATOMIC_ACQUIRE); }

Known* known(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  if (keys_ready()) {
    mpi().Comm_get_attr(comm, comm_key, &value, &found);
  }
  return found ? static_cast<Known*>(value) : nullptr;
}

// The ranks in MPI_COMM_WORLD of a group's members; -1 for a member that is not in it, and for all members in a program
// that uses only sessions. Frees the group.
class WorldRanks {
 public:
  explicit WorldRanks(MPI_Group group) {
    mpi().Group_size(group, &size);
    auto* own = static_cast<int*>(malloc(2 * sizeof(int) * static_cast<size_t>(size) + 1));
    if (own == nullptr) {
      stop_recording("no memory for the members of a communicator", strerror(ENOMEM), "free some");
      size = 0;
    }
    ranks = own;
    for (int i = 0; i < size; ++i) {
      own[i] = kNone;
      own[size + i] = i;
    }
    translate(group, own + size, own);
    mpi().Group_free(&group);
  }
  ~WorldRanks() { free(ranks); }
  WorldRanks(const WorldRanks&) = delete;
  WorldRanks& operator=(const WorldRanks&) = delete;

  u64 hash() const {
    u64 value = static_cast<u64>(size);
    for (int i = 0; i < size; ++i) {
      value = mix(value, static_cast<u64>(ranks[i]));
    }
    return value;
  }

  int* ranks = nullptr;
  int size = 0;

 private:
  void translate(MPI_Group group, const int* from, int* to) const {
    int world_exists = 0;
    MPI_Group world;
    mpi().Initialized(&world_exists);
    if (!world_exists) {
      return;
    }
    mpi().Comm_group(MPI_COMM_WORLD, &world);
    mpi().Group_translate_ranks(group, size, from, world, to);
    mpi().Group_free(&world);
    for (int i = 0; i < size; ++i) {
      to[i] = to[i] == MPI_UNDEFINED ? kNone : to[i];
    }
  }
};

MPI_Group local_group(MPI_Comm comm) {
  MPI_Group group;
  mpi().Comm_group(comm, &group);
  return group;
}

MPI_Group remote_group(MPI_Comm comm) {
  MPI_Group group;
  mpi().Comm_remote_group(comm, &group);
  return group;
}

bool is_inter(MPI_Comm comm) {
  int inter = 0;
  mpi().Comm_test_inter(comm, &inter);
  return inter != 0;
}

// The two sides of an inter-communicator must agree: the sum of both groups' hashes does not depend on which is first.
u64 hash_of_members(MPI_Comm comm) {
  const u64 own = WorldRanks(local_group(comm)).hash();
  return is_inter(comm) ? own + WorldRanks(remote_group(comm)).hash() : own;
}

// `parent` is null for MPI_COMM_WORLD and unknown communicators.
u64 count_made(Known* parent, u64 key) {
  pthread_mutex_lock(&made_lock);
  const u64 count = made_before.count(key, parent == nullptr ? nullptr : &parent->made);
  pthread_mutex_unlock(&made_lock);
  if (count == 0) {
    stop_recording("no memory for a communicator", strerror(ENOMEM), "free some");
  }
  return count;
}

// Called under the lock.
u64 next_number() {
  if (last_number + 1 == kMostComms) {
    fprintf(stderr,
            "marline-trace: the program makes more than %d communicators: in the trace, the later ones count as "
            "one\n",
            static_cast<int>(kMostComms));
  }
  last_number += last_number < kMostComms;
  return last_number;
}

// Gives `comm` a number, unless another thread has just done so. `parent` is null for MPI_COMM_WORLD and unknown
// communicators.
Known* number_comm(MPI_Comm comm, Known* parent, u64 parent_identity, int tag) {
  const u64 key = mix(mix(hash_of_members(comm), parent_identity), static_cast<u64>(tag));
  pthread_mutex_lock(&lock);
  if (!ready) {
    make_keys();
  }
  Known* found = known(comm);
  if (found == nullptr) {
    found = static_cast<Known*>(malloc(sizeof(Known)));
    if (found == nullptr) {
      stop_recording("no memory for a communicator", strerror(ENOMEM), "free some");
    } else {
      *found = {next_number(), mix(key, count_made(parent, key)), nullptr, 0};
      mpi().Comm_set_attr(comm, comm_key, found);
    }
  }
  pthread_mutex_unlock(&lock);
  return found;
}

void write_members(MPI_Comm comm, Known& entry) {
  Stream* stream = Stream::mine();
  if (stream == nullptr || __atomic_exchange_n(&entry.written, 1, __ATOMIC_RELAXED)) {
    return;
  }
  const bool inter = is_inter(comm);
  const WorldRanks world(inter ? remote_group(comm) : local_group(comm));
  const u64 task = stream->current_task();
  stream->emit(task, event::mpi_comm{.identity = entry.identity, .comm = entry.number, .inter = inter});
  for (int i = 0; i < world.size; ++i) {
    stream->emit(task, event::mpi_member{.comm = entry.number,
                                         .index = static_cast<u64>(i),
                                         .world = static_cast<uint32_t>(world.ranks[i]),
                                         .size = static_cast<u64>(world.size)});
  }
}

// A communicator that no call of the program made here (MPI_Comm_idup's, MPI_Comm_get_parent's) gets its number when it
// is first met.
Known* known_or_numbered(MPI_Comm comm) {
  Known* entry = known(comm);
  return entry != nullptr ? entry : number_comm(comm, nullptr, 0, 0);
}

}  // namespace

u64 comm_id(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) {
    return kWorld;
  }
  if (comm == MPI_COMM_NULL) {
    return 0;
  }
  Known* entry = known_or_numbered(comm);
  if (entry == nullptr) {
    return 0;
  }
  if (!__atomic_load_n(&entry->written, __ATOMIC_RELAXED)) {
    write_members(comm, *entry);
  }
  return entry->number;
}

void remember_comm(int result, MPI_Comm parent, MPI_Comm made, int tag) {
  if (result != MPI_SUCCESS || made == MPI_COMM_NULL) {
    return;
  }
  Known* from = parent == MPI_COMM_NULL || parent == MPI_COMM_WORLD ? nullptr : known_or_numbered(parent);
  number_comm(made, from, from != nullptr ? from->identity : parent == MPI_COMM_WORLD, tag);
}

void remember_window(int result, u64 comm, MPI_Win window) {
  if (result == MPI_SUCCESS && keys_ready()) {
    mpi().Win_set_attr(window, window_key, reinterpret_cast<void*>(comm));
  }
}

u64 window_comm_id(MPI_Win window) {
  void* value = nullptr;
  int found = 0;
  if (keys_ready() && window != MPI_WIN_NULL) {
    mpi().Win_get_attr(window, window_key, &value, &found);
  }
  return found ? reinterpret_cast<u64>(value) : 0;
}

}  // namespace marline::trace
