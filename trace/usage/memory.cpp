// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "usage/memory.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernel/numa.hpp"
#include "base/stream.hpp"

namespace marline::trace {
namespace {

constexpr u64 kSecond = 1000000000;
constexpr u64 kSpacing = kSecond / 10;
constexpr u64 kCostShare = 100;
constexpr u64 kNow = ~u64{0};  // a thread records it now

enum : u64 { kResident = 1, kOnNode = 3 };  // `kind` of the event memory (events.def)

u64 due;         // when it is time again; or kNow. Written by the thread that records
int nodes;       // constant once memory is recorded
u64 page_bytes;  // the same

u64 coarse_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<u64>(now.tv_sec) * kSecond + static_cast<u64>(now.tv_nsec);
}

// proc(5), statm: pages in all, resident pages.
u64 resident_bytes() {
  char text[96];
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = '\0';
  const char* second = strchr(text, ' ');
  return second == nullptr ? 0 : strtoull(second, nullptr, 10) * page_bytes;
}

// On a machine with one node there is nothing to tell.
void record_nodes(Stream& stream, u64 time) {
  const int file = nodes <= 1 ? -1 : open("/proc/self/numa_maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  uint64_t bytes[kMostNodes] = {};
  add_pages(file, bytes);
  close(file);
  for (int node = 0; node < kMostNodes; ++node) {
    if (bytes[node] == 0) continue;
    stream.emit_at(time, stream.current_task(),
                   event::memory{.bytes = saturated(bytes[node], 48), .kind = kOnNode, .node = static_cast<u64>(node)});
  }
}

// All records have the time at which this began, so that they are in order.
void record_all(Stream& stream) {
  const u64 time = read_cycles();
  const u64 bytes = saturated(resident_bytes(), 48);
  stream.emit_at(time, stream.current_task(), event::memory{.bytes = bytes, .kind = kResident, .node = 0});
  record_nodes(stream, time);
  stream.emit_at(time, stream.current_task(), event::pause{.cycles = read_cycles() - time});
}

// Takes the turn, unless another thread has it. Relaxed, as is its end: nothing but the turn itself is shared.
bool take_turn(u64 seen) {
  return seen != kNow && wanted(kMemoryEvents) &&
         __atomic_compare_exchange_n(&due, &seen, kNow, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void run_turn(Stream& stream) {
  const u64 begin = coarse_now();
  record_all(stream);
  const u64 end = coarse_now();
  const u64 pause = kCostShare * (end - begin);
  __atomic_store_n(&due, end + (pause > kSpacing ? pause : kSpacing), __ATOMIC_RELAXED);
}

}  // namespace

void begin_memory() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] {
    nodes = memory_nodes();
    page_bytes = static_cast<u64>(sysconf(_SC_PAGESIZE));
    __atomic_store_n(&window_appended, &record_memory_in_turn, __ATOMIC_RELAXED);
  });
}

void record_memory_in_turn(Stream& stream) {
  const u64 seen = __atomic_load_n(&due, __ATOMIC_RELAXED);
  if (coarse_now() >= seen && take_turn(seen)) run_turn(stream);
}

void record_memory(Stream& stream) {
  if (take_turn(__atomic_load_n(&due, __ATOMIC_RELAXED))) run_turn(stream);
}

}  // namespace marline::trace
