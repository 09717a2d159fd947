// SPDX-License-Identifier: Apache-2.0
//
// Numbers for communicators. A number is an MPI attribute of the communicator, so it goes when the communicator is
// freed and a reused handle does not inherit it. MPI_COMM_WORLD, the usual one, is recognised without a look-up.
#include <pthread.h>
#include <stdlib.h>

#include "mpi_calls.hpp"
#include "stream.hpp"

namespace marline::trace {
namespace {

constexpr u64 kWorld = 1;       // 0: no communicator
constexpr u64 kMostComms = 0xffff;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int key = MPI_KEYVAL_INVALID;  // written once, under lock; read by any thread, acquire pairs with that write's release
u64 last_id = kWorld;          // lock

void write_members(MPI_Comm comm, u64 id) {
  Stream *stream = Stream::mine();
  MPI_Group group;
  MPI_Group world;
  int size = 0;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_size(group, &size);
  for (int rank = 0; stream != nullptr && rank < size; ++rank) {
    int world_rank = kNone;
    PMPI_Group_translate_ranks(group, 1, &rank, world, &world_rank);
    stream->emit(stream->current_task(),
                 event::mpi_member{.comm = id, .index = static_cast<u64>(rank),
                                   .world = static_cast<uint32_t>(world_rank), .size = static_cast<u64>(size)});
  }
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
}

// The first use of `comm`: another thread may be at the same place, so look again under the lock.
u64 number_comm(MPI_Comm comm) {
  pthread_mutex_lock(&lock);
  if (key == MPI_KEYVAL_INVALID) {
    int fresh_key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &fresh_key, nullptr);
    __atomic_store_n(&key, fresh_key, __ATOMIC_RELEASE);
  }
  void *value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, key, &value, &found);
  bool fresh = false;
  if (!found) {
    last_id += last_id < kMostComms;  // beyond that, communicators share the last number
    value = reinterpret_cast<void *>(last_id);
    PMPI_Comm_set_attr(comm, key, value);
    fresh = true;
  }
  pthread_mutex_unlock(&lock);
  if (fresh) {
    write_members(comm, reinterpret_cast<u64>(value));
  }
  return reinterpret_cast<u64>(value);
}

}  // namespace

u64 comm_id(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) {
    return kWorld;
  }
  if (comm == MPI_COMM_NULL) {
    return 0;
  }
  const int known_key = __atomic_load_n(&key, __ATOMIC_ACQUIRE);
  if (known_key != MPI_KEYVAL_INVALID) {
    void *value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, known_key, &value, &found);
    if (found) {
      return reinterpret_cast<u64>(value);
    }
  }
  return number_comm(comm);
}

}  // namespace marline::trace
