/* SPDX-License-Identifier: Apache-2.0
 *
 * Many tasks are suspended in calls of one kind; messages come one by one, each after the previous one has been
 * answered. Figures: time per message and its answer with N calls suspended, N = 10 to 10^4: `recv_N` (MPI_Recv),
 * `probe_N` and `mprobe_N` (then the receive); `waits_N` (MPI_Wait for one request, then for another; both messages are
 * sent together) and `waitall_N` (MPI_Waitall for both); `wait_N` (MPI_Wait for the first of two, of which the second
 * is cancelled then), `waitany_N` and `waitsome_N` (for one of both). Messages come in the order in which the calls
 * were made, or, in the figures `..._N_shuffled`, in another one. `probe_over_recv_N` and its like are ratios of times
 * of one round, the median of the rounds. One rank of one thread sends to itself, so no other process's speed is in the
 * figures, but MPI's own search for the receive of a message is. Only a runtime that suspends a blocked task can do
 * this.
 */
#include "bench.h"

#include <mpi.h>
#include <stdatomic.h>

enum { kOther = 15000, kMostCalls = 10000, kTimed = 200, kBatch = 100, kRounds = 3, kShuffle = 617 };

enum { kRecv, kWaits = 3, kWait = 5, kKinds = 8 }; /* places in kCalls */

typedef struct Call {
  const char* name;
  int (*run)(int tag); /* returns when the message with this tag has been received: the message */
  int has_other;       /* a second message, with the tag kOther + tag */
  int twin;            /* place of the call for one request with the same messages; the own place if this is one */
} Call;

static int by_recv(int tag) {
  int message = -1;
  MPI_Recv(&message, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return message;
}

static void begin_two(int tag, int messages[2], MPI_Request requests[2]) {
  MPI_Irecv(&messages[0], 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&messages[1], 1, MPI_INT, 0, kOther + tag, MPI_COMM_WORLD, &requests[1]);
}

static int by_waits(int tag) {
  int messages[2] = {-1, -1};
  MPI_Request requests[2];
  begin_two(tag, messages, requests);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  return messages[0] == messages[1] ? messages[0] : -1;
}

static int by_waitall(int tag) {
  int messages[2] = {-1, -1};
  MPI_Request requests[2];
  begin_two(tag, messages, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return messages[0] == messages[1] ? messages[0] : -1;
}

static void cancel(MPI_Request* request) {
  MPI_Cancel(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int by_wait(int tag) {
  int messages[2] = {-1, -1};
  MPI_Request requests[2];
  begin_two(tag, messages, requests);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  cancel(&requests[1]);
  return messages[0];
}

static int by_waitany(int tag) {
  int messages[2] = {-1, -1}, index = -1;
  MPI_Request requests[2];
  begin_two(tag, messages, requests);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  cancel(&requests[1]);
  return index == 0 ? messages[0] : -1;
}

static int by_waitsome(int tag) {
  int messages[2] = {-1, -1}, count = 0, indices[2] = {-1, -1};
  MPI_Request requests[2];
  begin_two(tag, messages, requests);
  MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
  cancel(&requests[1]);
  return count == 1 && indices[0] == 0 ? messages[0] : -1;
}

static int by_probe(int tag) {
  MPI_Probe(0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return by_recv(tag);
}

static int by_mprobe(int tag) {
  int message = -1;
  MPI_Message matched;
  MPI_Mprobe(0, tag, MPI_COMM_WORLD, &matched, MPI_STATUS_IGNORE);
  MPI_Mrecv(&message, 1, MPI_INT, &matched, MPI_STATUS_IGNORE);
  return message;
}

static const Call kCalls[kKinds] = {{"recv", by_recv, 0, kRecv},        {"probe", by_probe, 0, kRecv},
                                    {"mprobe", by_mprobe, 0, kRecv},    {"waits", by_waits, 1, kWaits},
                                    {"waitall", by_waitall, 1, kWaits}, {"wait", by_wait, 0, kWait},
                                    {"waitany", by_waitany, 0, kWait},  {"waitsome", by_waitsome, 0, kWait}};

static int wrong;        /* only one thread */
static atomic_int begun; /* only one thread, too; but a compiler may assume that taskyield does not change it */
static MPI_Comm answers;

static void answer(const Call* call, int tag) {
  ++begun;
  int message = call->run(tag);
  wrong += message != tag;
  MPI_Send(&message, 1, MPI_INT, 0, 0, answers);
}

static void send(const Call* call, int tag) {
  MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
  if (call->has_other) MPI_Send(&tag, 1, MPI_INT, 0, kOther + tag, MPI_COMM_WORLD);
}

static void take_answers(int count) {
  for (int i = 0; i < count; ++i) {
    int message = -1;
    MPI_Recv(&message, 1, MPI_INT, 0, 0, answers, MPI_STATUS_IGNORE);
    wrong += message < 0;
  }
}

/* Time of the messages that are sent one by one; the others come in batches, untimed. */
static double send_all(const Call* call, int calls, int step) {
  int sent = 0, timed = calls < kTimed ? calls : kTimed;
  double start = bench_now();
  for (; sent < timed; ++sent) {
    send(call, (int)((long)sent * step % calls));
    take_answers(1);
  }
  double elapsed = bench_now() - start;
  while (sent < calls) {
    int batch = calls - sent < kBatch ? calls - sent : kBatch;
    for (int i = 0; i < batch; ++i, ++sent) send(call, (int)((long)sent * step % calls));
    take_answers(batch);
  }
  return elapsed / timed;
}

static double time_of(const Call* call, int calls, int step) {
  double elapsed = 0;
  begun = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
  {
    for (int tag = 0; tag < calls; ++tag) {
#pragma omp task firstprivate(call, tag)
      answer(call, tag);
    }
#pragma omp task shared(elapsed)
    {
      while (begun < calls) { /* the thread runs them up to their suspension */
#pragma omp taskyield
      }
      elapsed = send_all(call, calls, step);
    }
  }
  return elapsed;
}

/* `--only NAME`, or the beginning of several: `--only probe_`. */
static int asked_for(const char* name) {
  const char* only = bench_options.only;
  if (!only) return 1;
  size_t length = strlen(only);
  return !strcmp(only, name) || (length > 0 && only[length - 1] == '_' && !strncmp(only, name, length));
}

static void name_figure(char* name, const char* kind, int calls, int shuffled) {
  snprintf(name, kBenchLine, "%s_%d%s", kind, calls, shuffled ? "_shuffled" : "");
}

/* How many kinds were asked for. */
static int measure(int calls, int shuffled) {
  char name[kBenchLine], kind[kBenchLine];
  int asked[kKinds], count = 0;
  double times[kKinds][kRounds], ratios[kKinds][kRounds];
  for (int k = 0; k < kKinds; ++k) {
    name_figure(name, kCalls[k].name, calls, shuffled);
    count += asked[k] = asked_for(name);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int k = 0; k < kKinds; ++k)
      times[k][round] = asked[k] ? time_of(&kCalls[k], calls, shuffled ? kShuffle : 1) : 0;
    for (int k = 0; k < kKinds; ++k) ratios[k][round] = times[k][round] / times[kCalls[k].twin][round];
  }
  if (wrong) bench_fail("wrong messages with %d calls", calls);
  for (int k = 0; k < kKinds; ++k) {
    if (!asked[k]) continue;
    name_figure(name, kCalls[k].name, calls, shuffled);
    bench_say(name, bench_median(times[k], kRounds), "ns");
    if (kCalls[k].twin == k || !asked[kCalls[k].twin]) continue;
    snprintf(kind, sizeof kind, "%s_over_%s", kCalls[k].name, kCalls[kCalls[k].twin].name);
    name_figure(name, kind, calls, shuffled);
    bench_say(name, bench_median(ratios[k], kRounds), "x");
  }
  return count;
}

int main(int argc, char** argv) {
  int provided, done = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  bench_init(argc, argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &answers); /* MPI searches its messages in a separate list */
  for (int shuffled = 0; shuffled < 2; ++shuffled) {
    for (int calls = 10; calls <= kMostCalls; calls *= 10) done += measure(calls, shuffled);
  }
  if (!done) bench_fail("no figure begins with %s", bench_options.only);
  MPI_Comm_free(&answers);
  MPI_Finalize();
  return 0;
}
