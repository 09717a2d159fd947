// SPDX-License-Identifier: Apache-2.0
//
// See the header. A thread that has ended keeps its last figures; one that runs is asked for when they are needed.
#include "kernel/threads.hpp"

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../common/thread_id.h"
#include "kernel/numa.hpp"

namespace marline::trace {
namespace {

struct Figures {
  uint64_t minor_faults, major_faults;
  int cpu;  // -1: the kernel does not say
};

struct Thread {
  unsigned number;
  int tid;  // 0: it has ended
  Figures first, last;
  Thread* next;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Thread* threads;  // under lock; the newest first

// proc(5): of /proc/PID/stat, behind the name in parentheses, the fields from the third on. minflt is the tenth, majflt
// the twelfth, processor the thirty-ninth.
Figures figures_of(int tid) {
  Figures found = {0, 0, -1};
  char path[64];
  char text[1024];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  FILE* in = fopen(path, "re");
  if (in == nullptr) return found;
  const bool read = fgets(text, sizeof text, in) != nullptr;
  fclose(in);
  const char* at = read ? strrchr(text, ')') : nullptr;
  for (int field = 3; at != nullptr && field <= 39; ++field) {
    at = strchr(at, ' ');
    if (at == nullptr) break;
    ++at;
    if (field == 10) found.minor_faults = strtoull(at, nullptr, 10);
    if (field == 12) found.major_faults = strtoull(at, nullptr, 10);
    if (field == 39) found.cpu = atoi(at);
  }
  return found;
}

}  // namespace

void begin_thread(unsigned number) {
  auto* thread = static_cast<Thread*>(malloc(sizeof(Thread)));
  if (thread == nullptr) return;  // then nothing is said of this thread
  const int tid = thread_id();
  const Figures now = figures_of(tid);
  *thread = {number, tid, now, now, nullptr};
  pthread_mutex_lock(&lock);
  thread->next = threads;
  threads = thread;
  pthread_mutex_unlock(&lock);
}

void end_thread() {
  const int tid = thread_id();
  const Figures now = figures_of(tid);
  pthread_mutex_lock(&lock);
  for (Thread* thread = threads; thread != nullptr; thread = thread->next) {
    if (thread->tid != tid) continue;
    thread->last = now;
    thread->tid = 0;
    break;
  }
  pthread_mutex_unlock(&lock);
}

void write_threads(FILE* out) {
  fputs("  \"threads\": [", out);
  pthread_mutex_lock(&lock);
  const char* separator = "";
  for (Thread* thread = threads; thread != nullptr; thread = thread->next) {
    if (thread->tid != 0) thread->last = figures_of(thread->tid);
    const Figures& last = thread->last;
    fprintf(out,
            "%s\n    {\"thread\": %u, \"minor_faults\": %" PRIu64 ", \"major_faults\": %" PRIu64
            ", \"cpu\": %d, \"node\": %d}",
            separator, thread->number, last.minor_faults - thread->first.minor_faults,
            last.major_faults - thread->first.major_faults, last.cpu, last.cpu < 0 ? -1 : node_of_cpu(last.cpu));
    separator = ",";
  }
  pthread_mutex_unlock(&lock);
  fputs("],\n", out);
}

}  // namespace marline::trace
