/* SPDX-License-Identifier: Apache-2.0
 *
 * What it costs to find which of N open receives has completed, N = 1, 100, 10^4, by several ways, without any runtime:
 * `testany_N`, nearly as libmarline-mpi polls (mpi/engine/open_calls.c, which remembers four places): all of up to 128
 * requests, else 16 around the last completion and 64 in a window that moves round; `testsome_N`, MPI_Testsome of all;
 * and where MPICH has its MPIX_Async_start (4.3 and later), `hooks_N`, a hook a request that asks
 * MPIX_Request_is_complete, and `hook_N`, one hook that asks for all. Figures: CPU time of a message from its send
 * until the receive is found, in the order of the receives, or `..._shuffled`. Remarks `# checks_FIGURE`: requests
 * asked for each message. One rank of one thread sends to itself, so MPI's own search for the receive is in all of them
 * alike. Ways take turns, round after round; the median is printed. --rounds N --only FIGURE: N messages of one way,
 * for counting instructions.
 */
#include "bench.h"

#include <mpi.h>

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40300000
enum { kHasHooks = 1 };
#else
enum { kHasHooks = 0 };
#endif

enum {
  kMost = 10000,
  kSizes = 3,
  kOrders = 2,
  kRounds = 15,
  kMessages = 200,
  kShuffle = 617,
  kAll = 128,
  kWindow = 64,
  kNear = 16
};

static MPI_Request requests[kMost];
static int received[kMost], indices[kMost];
static MPI_Status statuses[kMost];
static int count, place, cursor;
static long checks;

static void post(int i) {
  received[i] = -1;
  MPI_Irecv(&received[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
}

/* Each way returns the receive that has completed, or -1. */
static int ask_any(int begin, int size) {
  int index = MPI_UNDEFINED, flag = 0;
  MPI_Testany(size, requests + begin, &index, &flag, MPI_STATUS_IGNORE);
  checks += flag && index != MPI_UNDEFINED ? index + 1 : size;
  return flag && index != MPI_UNDEFINED ? begin + index : -1;
}

static int by_testany(void) {
  if (count <= kAll) return ask_any(0, count);
  int begin = place - kNear / 2 < 0 ? 0 : place - kNear / 2;
  int found = ask_any(begin, begin + kNear < count ? kNear : count - begin);
  if (found < 0) {
    const int size = cursor + kWindow < count ? kWindow : count - cursor;
    found = ask_any(cursor, size);
    cursor = cursor + size < count ? cursor + size : 0;
  }
  if (found >= 0) place = found;
  return found;
}

static int by_testsome(void) {
  int found = 0;
  MPI_Testsome(count, requests, &found, indices, statuses);
  checks += count;
  return found > 0 ? indices[0] : -1;
}

static int completed = -1;

static int take_completed(void) {
  const int found = completed;
  completed = -1;
  if (found >= 0) MPI_Wait(&requests[found], MPI_STATUS_IGNORE);
  return found;
}

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40300000
static int hook_of_all_ends, hooks_end;
static char states[kMost]; /* a hook's state is its place here */

static int hook_of_one(MPIX_Async_thing thing) {
  const int i = (int)((char*)MPIX_Async_get_state(thing) - states);
  ++checks;
  if (hooks_end) return MPIX_ASYNC_DONE;
  if (!MPIX_Request_is_complete(requests[i])) return MPIX_ASYNC_NOPROGRESS;
  completed = i;
  return MPIX_ASYNC_DONE;
}

static int hook_of_all(MPIX_Async_thing thing) {
  (void)thing;
  if (hook_of_all_ends) return MPIX_ASYNC_DONE;
  for (int i = 0; i < count && completed < 0; ++i) {
    ++checks;
    if (MPIX_Request_is_complete(requests[i])) completed = i;
  }
  return MPIX_ASYNC_NOPROGRESS;
}

static int by_hooks(void) {
  MPIX_Stream_progress(MPIX_STREAM_NULL);
  return take_completed();
}

static void start_hook(int i) { MPIX_Async_start(hook_of_one, &states[i], MPIX_STREAM_NULL); }
static void start_hook_of_all(void) {
  hook_of_all_ends = 0;
  MPIX_Async_start(hook_of_all, NULL, MPIX_STREAM_NULL);
}
static void end_hooks(void) {
  hooks_end = hook_of_all_ends = 1;
  MPIX_Stream_progress(MPIX_STREAM_NULL);
  hooks_end = 0;
}
#else
static int by_hooks(void) { return take_completed(); }
static void start_hook(int i) { (void)i; }
static void start_hook_of_all(void) {}
static void end_hooks(void) {}
#endif

enum { kTestany, kTestsome, kHooks, kHook, kWays };
static int (*const ways[kWays])(void) = {by_testany, by_testsome, by_hooks, by_hooks};
static const char* const names[kWays] = {"testany", "testsome", "hooks", "hook"};

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Messages go through the receives in their order, from the middle on, or step by a number that has no factor in common
 * with N. */
static double time_messages(int way, int n, int shuffled, long messages, double* asked) {
  count = n;
  place = cursor = 0;
  completed = -1;
  for (int i = 0; i < n; ++i) post(i);
  if (way == kHooks)
    for (int i = 0; i < n; ++i) start_hook(i);
  if (way == kHook) start_hook_of_all();
  checks = 0;
  const double begin = cpu_now();
  for (long m = 0; m < messages; ++m) {
    const int tag = (int)((n / 2 + m * (shuffled ? kShuffle : 1)) % n);
    const int sent = (int)m;
    MPI_Send(&sent, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
    int found = -1;
    while (found < 0) found = ways[way]();
    if (found != tag || received[found] != sent) bench_fail("message %ld was found as %d, not %d", m, found, tag);
    post(found);
    if (way == kHooks) start_hook(found);
  }
  const double spent = cpu_now() - begin;
  *asked = (double)checks / (double)messages;
  if (way >= kHooks) end_hooks();
  for (int i = 0; i < n; ++i) MPI_Cancel(&requests[i]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  return spent / (double)messages;
}

static void measure(int n, int shuffled) {
  double times[kWays][kRounds], asked[kWays];
  char name[kBenchLine], remark[kBenchLine + 16];
  const int rounds = bench_options.rounds > 0 ? 1 : kRounds;
  for (int round = 0; round < rounds; ++round)
    for (int way = 0; way < (kHasHooks ? kWays : kHooks); ++way) {
      snprintf(name, sizeof name, "%s_%d%s", names[way], n, shuffled ? "_shuffled" : "");
      if (bench_options.only != NULL && strcmp(bench_options.only, name) != 0) continue;
      const long messages = bench_options.rounds > 0 ? bench_options.rounds : kMessages;
      times[way][round] = time_messages(way, n, shuffled, messages, &asked[way]);
      if (round < rounds - 1 || bench_options.rounds > 0) continue;
      bench_say(name, bench_median(times[way], rounds), "ns");
      snprintf(remark, sizeof remark, "# checks_%s %.1f", name, asked[way]);
      puts(remark);
    }
}

int main(int argc, char** argv) {
  static const int sizes[kSizes] = {1, 100, kMost};
  bench_init(argc, argv);
  MPI_Init(&argc, &argv);
  for (int size = 0; size < kSizes; ++size)
    for (int shuffled = 0; shuffled < kOrders; ++shuffled) measure(sizes[size], shuffled);
  MPI_Finalize();
  return 0;
}
