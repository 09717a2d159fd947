/* SPDX-License-Identifier: Apache-2.0
 *
 * Sends samples, and holds and releases tasks.
 */
#include "engine/run_ahead.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/device_memory.h"
#include "base/options.h"
#include "base/report.h"
#include "comm/comm.h"
#include "engine/counters.h"
#include "engine/engine.h"

int omp_in_explicit_task(void); /* OpenMP 5.2, 18.5.3; the compilers' omp.h may be older */

/* Two ranks or communicators that share a window are held together; that is all. */
enum { kWindowBits = 8, kWindows = 1 << kWindowBits };

/* A larger message is not copied. Most implementations send it only when its receive is posted anyway. */
enum { kLargestSample = 1 << 16 };

enum { kMostInterval = 16, kMostRoom = 1 << 20, kReleasedAtATime = 64 };

static const uint64_t kPatience = 1000 * 1000, kLongestPatience = UINT64_C(256) * 1000 * 1000; /* nanoseconds */

typedef struct Window Window;

typedef struct Sample {
  Pending base; /* first: the engine hands back a pointer to it */
  Window* window;
  struct Sample* next; /* in the list of open samples */
  struct Sample* previous;
  char bytes[];
} Sample;

/* The held tasks, oldest first, in a ring with a capacity that is a power of two. */
typedef struct Held {
  marline_task_t** tasks;
  unsigned first;
  unsigned count;
  unsigned capacity;
} Held;

struct Window {
  _Alignas(64) atomic_int since; /* messages since the last sample; relaxed: a few more or less do not matter */
  atomic_int open;               /* samples that are not received; written under the mutex, read without it as a hint */
  atomic_int room;               /* for how many samples; written and read the same way */
  pthread_mutex_t mutex;         /* protects the members below; never held in a call of MPI */
  Held held;
  uint64_t since_when; /* when the newest sample was received, or the first task was held */
  uint64_t deadline;   /* nanoseconds, like all times here */
  uint64_t patience;
};

static Window windows[kWindows];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int interval; /* one in so many messages is a sample; 0: none. Written once. */
static int least_room;

static atomic_int windows_with_held; /* counted under their mutexes; relaxed: the poller comes again */

/* The open samples of all windows, in a list, for the end. Under the mutex, which is taken for each sample, one in
 * sixteen messages. */
static pthread_mutex_t samples_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
  Sample* first;
  int count;
} samples;

static void prepare(void) {
  const int messages = mpi_options()->window;
  interval = messages >= 4 * kMostInterval ? kMostInterval : (messages + 3) / 4;
  least_room = interval > 0 ? messages / interval : 0;
  for (int i = 0; i < kWindows; ++i) {
    pthread_mutex_init(&windows[i].mutex, NULL);
    atomic_store_explicit(&windows[i].room, least_room, memory_order_relaxed);
    windows[i].patience = kPatience;
  }
}

static Window* window_to(MPI_Comm comm, int dest) {
  const uint64_t key = (uint64_t)(uintptr_t)comm ^ (uint64_t)(uint32_t)dest << 32;
  return &windows[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - kWindowBits)]; /* Fibonacci hashing (TAOCP 3, 6.4) */
}

/* Held tasks ------------------------------------------------------------------------------------------------------- */

static void make_room(Held* held) {
  const unsigned capacity = held->capacity > 0 ? 2 * held->capacity : 64;
  marline_task_t** tasks = capacity > held->capacity ? malloc(capacity * sizeof(marline_task_t*)) : NULL;
  if (tasks == NULL)
    report_fatal("no memory to hold %u tasks that send messages ahead of their receivers: set MARLINE_MPI_WINDOW=0",
                 held->count);
  for (unsigned i = 0; i < held->count; ++i) tasks[i] = held->tasks[(held->first + i) & (held->capacity - 1)];
  free(held->tasks);
  *held = (Held){.tasks = tasks, .count = held->count, .capacity = capacity};
}

static bool is_full(Window* window) {
  return atomic_load_explicit(&window->open, memory_order_relaxed) >=
         atomic_load_explicit(&window->room, memory_order_relaxed);
}

static void wait_anew(Window* window, uint64_t now) {
  window->since_when = now;
  window->deadline = now + window->patience;
}

/* Holds the current task, if the window is still full. */
static void hold(Window* window) {
  marline_task_t* task = marline_task_hold();
  if (task == NULL) return;
  pthread_mutex_lock(&window->mutex);
  const bool holds = is_full(window);
  if (holds) {
    Held* held = &window->held;
    if (held->count == held->capacity) make_room(held);
    if (held->count == 0) {
      wait_anew(window, counters_clock());
      atomic_fetch_add_explicit(&windows_with_held, 1, memory_order_relaxed);
    }
    held->tasks[(held->first + held->count++) & (held->capacity - 1)] = task;
  }
  pthread_mutex_unlock(&window->mutex);
  if (!holds) marline_task_release(task);
}

/* Takes out the oldest held tasks, at most `most`, and returns how many. */
static unsigned take_held(Window* window, marline_task_t** tasks, unsigned most) {
  Held* held = &window->held;
  unsigned count = 0;
  pthread_mutex_lock(&window->mutex);
  const bool had = held->count > 0;
  for (; held->count > 0 && count < most; --held->count) {
    tasks[count++] = held->tasks[held->first];
    held->first = (held->first + 1) & (held->capacity - 1);
  }
  if (had && held->count == 0) atomic_fetch_sub_explicit(&windows_with_held, 1, memory_order_relaxed);
  pthread_mutex_unlock(&window->mutex);
  return count;
}

/* Releases the oldest held tasks, at most `most`. Called without the mutex: an OMPT tool is notified of each
 * release, and may hold a lock of its own where it sends. */
static void release(Window* window, unsigned most) {
  marline_task_t* tasks[kReleasedAtATime];
  while (most > 0) {
    const unsigned count = take_held(window, tasks, most < kReleasedAtATime ? most : kReleasedAtATime);
    for (unsigned i = 0; i < count; ++i) marline_task_release(tasks[i]);
    most = count < kReleasedAtATime ? 0 : most - count;
  }
}

/* Samples ---------------------------------------------------------------------------------------------------------- */

static void list(Sample* sample) {
  pthread_mutex_lock(&samples_mutex);
  sample->next = samples.first;
  sample->previous = NULL;
  if (sample->next != NULL) sample->next->previous = sample;
  samples.first = sample;
  ++samples.count;
  pthread_mutex_unlock(&samples_mutex);
}

static void unlist(Sample* sample) {
  pthread_mutex_lock(&samples_mutex);
  if (sample->next != NULL) sample->next->previous = sample->previous;
  if (sample->previous != NULL)
    sample->previous->next = sample->next;
  else
    samples.first = sample->next;
  --samples.count;
  pthread_mutex_unlock(&samples_mutex);
}

/* The tasks are held with good reason: the window shrinks towards its first size. The patience becomes four to eight
 * times the time that a sample takes. */
static void note_progress(Window* window) {
  const uint64_t now = counters_clock();
  const uint64_t took = now - window->since_when;
  const int room = atomic_load_explicit(&window->room, memory_order_relaxed);
  if (room > least_room) atomic_store_explicit(&window->room, room - (room - least_room + 3) / 4, memory_order_relaxed);
  if (took > window->patience / 4 && window->patience < kLongestPatience)
    window->patience *= 2;
  else if (took < window->patience / 8 && window->patience > kPatience)
    window->patience -= window->patience / 8;
  wait_anew(window, now);
}

/* Called by the poller. An error has gone to the communicator's handler. */
static void received(Pending* pending) {
  Sample* sample = (Sample*)pending;
  Window* window = sample->window;
  unlist(sample);
  free(sample);
  unsigned released = 0;
  pthread_mutex_lock(&window->mutex);
  const int open = atomic_fetch_sub_explicit(&window->open, 1, memory_order_relaxed) - 1;
  if (window->held.count > 0) {
    note_progress(window);
    if (open == 0)
      released = UINT_MAX; /* no other sample will come to release them */
    else if (!is_full(window))
      released = (unsigned)interval;
  }
  pthread_mutex_unlock(&window->mutex);
  release(window, released);
}

/* MPI_Pack_size counts in int, and some implementations let it wrap. */
static bool is_small(MPI_Count count, MPI_Datatype datatype) {
  MPI_Count size = 0;
  return count >= 0 && count <= kLargestSample && next_mpi.type_size_x(datatype, &size) == MPI_SUCCESS && size >= 0 &&
         size <= kLargestSample && size * count <= kLargestSample;
}

/* Makes a copy of a small message. Returns NULL if it is not small, or if MPI does not accept it: MPI then reports
 * that for the send itself. */
static Sample* copy(const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  if (!is_small(count, datatype) || next_mpi.pack_size((int)count, datatype, comm, size) != MPI_SUCCESS) return NULL;
  Sample* sample = malloc(sizeof *sample + (size_t)*size);
  if (sample == NULL) return NULL;
  const DeviceSpan span = device_memory_span(buf, count, datatype, "MPI_Send");
  const int room = *size;
  *size = 0;
  const int error = next_mpi.pack(span.base, (int)count, datatype, sample->bytes, room, size, comm);
  free(span.bytes);
  if (error == MPI_SUCCESS) return sample;
  free(sample);
  return NULL;
}

static bool send_sample(Window* window, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                        MPI_Comm comm) {
  int size = 0;
  Sample* sample = copy(buf, count, datatype, comm, &size);
  if (sample == NULL) return false;
  sample->base = (Pending){.status = MPI_STATUS_IGNORE, .error = MPI_SUCCESS, .completed = received};
  sample->window = window;
  if (next_mpi.issend(sample->bytes, size, MPI_PACKED, dest, tag, comm, &sample->base.request) != MPI_SUCCESS) {
    free(sample);
    return false;
  }
  list(sample);
  pthread_mutex_lock(&window->mutex);
  atomic_fetch_add_explicit(&window->open, 1, memory_order_relaxed);
  pthread_mutex_unlock(&window->mutex);
  engine_watch(&sample->base);
  return true;
}

int run_ahead_destination(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  if (dest == MPI_PROC_NULL || !engine_is_running() || !omp_in_explicit_task() || marline_can_suspend() != 1)
    return dest;
  pthread_once(&once, prepare);
  if (interval == 0) return dest;
  Window* window = window_to(comm, dest);
  if (is_full(window)) hold(window);
  if (atomic_fetch_add_explicit(&window->since, 1, memory_order_relaxed) + 1 < interval) return dest;
  const int peers = comm_peers(comm);
  if (dest < 0 || (peers > 0 && dest >= peers) || tag < 0) return dest; /* wrong arguments: MPI reports them, once */
  const bool sent = send_sample(window, buf, count, datatype, dest, tag, comm);
  atomic_store_explicit(&window->since, 0, memory_order_relaxed);
  return sent ? MPI_PROC_NULL : dest;
}

/* Time passes, and the end ----------------------------------------------------------------------------------------- */

/* Nothing was received in time: the receiver waits for something else, or does other work. */
static void give_up_holding(Window* window, uint64_t now) {
  unsigned released = 0;
  pthread_mutex_lock(&window->mutex);
  if (window->held.count > 0 && now >= window->deadline) {
    const int room = atomic_load_explicit(&window->room, memory_order_relaxed);
    if (room < kMostRoom) atomic_store_explicit(&window->room, 2 * room, memory_order_relaxed);
    if (window->patience < kLongestPatience) window->patience *= 2;
    wait_anew(window, now);
    released = (unsigned)(interval * room);
  }
  pthread_mutex_unlock(&window->mutex);
  release(window, released);
}

void run_ahead_poll(void) {
  static uint64_t next_look; /* used by the poller */
  if (atomic_load_explicit(&windows_with_held, memory_order_relaxed) == 0) return;
  const uint64_t now = counters_clock();
  if (now < next_look) return;
  next_look = now + kPatience / 4;
  for (int i = 0; i < kWindows; ++i) give_up_holding(&windows[i], now);
}

int run_ahead_samples(void) {
  pthread_mutex_lock(&samples_mutex);
  const int count = samples.count;
  pthread_mutex_unlock(&samples_mutex);
  return count;
}

/* The bytes are not freed, because MPI may read them until MPI_Finalize has ended. Held tasks are released:
 * otherwise they would wait for ever, and so would the end of their region. */
void run_ahead_stop(void) {
  for (Window* window = windows; interval > 0 && window < windows + kWindows; ++window) release(window, UINT_MAX);
  for (Sample* sample = samples.first; sample != NULL; sample = sample->next)
    next_mpi.request_free(&sample->base.request);
  samples.first = NULL;
  samples.count = 0;
}
