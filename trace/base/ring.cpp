// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "base/ring.hpp"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.hpp"

namespace marline::trace {
namespace {

constexpr char kRingMagic[8] = {'M', 'A', 'R', 'L', 'R', 'N', 'G', '1'};
constexpr u64 kPage = 4096;

// All offsets are bytes in the file. The reader's is python/marline/trace/read/ring.py.
struct RingHeader {
  char magic[8];
  u64 fingerprint;  // of the event table
  u64 slots;
  u64 slots_at;
  u64 index_at;
  u64 table_at;
  u64 places;  // of the table that have memory
  u64 definitions_at;
  u64 room;  // for definitions
  Kept::Counts counts;
  u64 appended;     // windows so far
  u64 horizon;      // the newest time in a window that has been overwritten; 0: none has
  ClockPair clock;  // when the last window was appended: as exact a frequency as there is
  uint32_t pid;
  uint32_t record_bytes;
  u64 reserved[4];
};
static_assert(sizeof(RingHeader) == 160);

struct Slot {
  u64 sequence;  // from 1; 0: nothing, or being overwritten
  uint32_t thread;
  uint32_t count;
  u64 copy;
  u64 last;  // the newest of its last records' times
};
static_assert(sizeof(Slot) == 32);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // of all below, once the ring has begun
RingHeader* header;                                // null: no ring. Written before there are streams
Slot* slots;
char* content;
int file;  // stays open: the table may grow
Kept kept;

u64 pages(u64 bytes) { return (bytes + kPage - 1) & ~(kPage - 1); }

u64 power_of_two_below(u64 value) { return u64{1} << (63 - __builtin_clzll(value)); }

u64 table_end(u64 table_at, u64 places) { return table_at + places * sizeof(Record); }

// A sixteenth for definitions, the rest for windows. The table comes behind.
RingHeader plan(u64 bytes) {
  RingHeader plan = {};
  plan.fingerprint = kFingerprint;
  plan.index_at = sizeof(RingHeader);
  plan.room = bytes / 16 / sizeof(Record);
  plan.definitions_at = pages(sizeof(RingHeader) + bytes / kUnitBytes * sizeof(Slot));
  plan.slots_at = pages(plan.definitions_at + plan.room * sizeof(Record));
  plan.slots = (bytes - plan.slots_at) / kUnitBytes;
  plan.table_at = pages(bytes);
  plan.places = Kept::kFirstPlaces;
  plan.pid = static_cast<uint32_t>(getpid());
  plan.record_bytes = sizeof(Record);
  return plan;
}

// Allocated before it is used: a store into a hole of a full disk would raise SIGBUS.
bool give_table_memory(u64 places) {
  if (posix_fallocate(file, 0, static_cast<off_t>(table_end(header->table_at, places))) != 0) return false;
  header->places = places;
  return true;
}

// Some records are written late, with the time at which what they tell of began: not only the last one counts.
u64 newest_time(const Record* records, u64 count) {
  u64 newest = 0;
  for (u64 i = count > 8 ? count - 8 : 0; i < count; ++i) newest = records[i].time > newest ? records[i].time : newest;
  return newest;
}

Record* records_of(u64 slot) { return reinterpret_cast<Record*>(content + header->slots_at + slot * kUnitBytes); }

void make_room(u64 slot) {
  Slot& entry = slots[slot];
  if (entry.sequence == 0) return;
  if (entry.last > header->horizon) header->horizon = entry.last;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);  // the header file says in which order a reader must find these
  kept.fold(entry.thread, records_of(slot), entry.count);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  *static_cast<volatile u64*>(&entry.sequence) = 0;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

}  // namespace

bool has_ring() { return header != nullptr; }

bool begin_ring(const char* path, u64 bytes) {
  const RingHeader planned = plan(bytes);
  const u64 most_places = power_of_two_below(bytes / sizeof(Record));
  file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const int error = posix_fallocate(file, 0, static_cast<off_t>(table_end(planned.table_at, Kept::kFirstPlaces)));
  const u64 most_bytes = table_end(planned.table_at, most_places);
  void* mapped = error != 0 ? MAP_FAILED : mmap(nullptr, most_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    const int reason = error != 0 ? error : errno;
    close(file);
    unlink(path);
    errno = reason;
    return false;
  }
  content = static_cast<char*>(mapped);
  memcpy(mapped, &planned, sizeof planned);
  header = static_cast<RingHeader*>(mapped);
  header->clock = read_clock_pair();
  slots = reinterpret_cast<Slot*>(content + planned.index_at);
  kept.place(reinterpret_cast<Record*>(content + planned.table_at), most_places, give_table_memory,
             reinterpret_cast<Record*>(content + planned.definitions_at), planned.room, &header->counts);
  __atomic_signal_fence(__ATOMIC_RELEASE);
  memcpy(header->magic, kRingMagic, sizeof kRingMagic);  // last: a file without it was never begun
  return true;
}

void append_to_ring(uint32_t thread, const Record* window, u64 count, u64 copy) {
  pthread_mutex_lock(&lock);
  const u64 slot = header->appended % header->slots;
  make_room(slot);
  memcpy(records_of(slot), window, count * sizeof(Record));
  Slot& entry = slots[slot];
  entry.thread = thread;
  entry.count = static_cast<uint32_t>(count);
  entry.copy = copy;
  entry.last = newest_time(window, count);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  *static_cast<volatile u64*>(&entry.sequence) = ++header->appended;
  header->clock = read_clock_pair();
  pthread_mutex_unlock(&lock);
}

}  // namespace marline::trace
