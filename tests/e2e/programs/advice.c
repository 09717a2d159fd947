// SPDX-License-Identifier: Apache-2.0
//
// tests/e2e/report/advice.py: one program for each advice of `marline report`, by a word, and one that is nearly the
// same and does not deserve it. Work is sleep, so that other programs on the machine change little. With MPI
// (-DWITH_MPI) for two ranks.
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static int rank;
static char chain, from_other;

static void work(int milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

static void tasks(int count, int milliseconds) {
  for (int i = 0; i < count; ++i) {
#pragma omp task
    if (milliseconds > 0) work(milliseconds);
  }
}

static void computing_tasks(int count, long rounds) {
  for (int i = 0; i < count; ++i) {
#pragma omp task
    for (volatile long round = 0; round < rounds; ++round) {
    }
  }
}

static void slow_producer(int pause) {
  for (int i = 0; i < 30; ++i) {
#pragma omp task
    work(2);
    if (pause > 0) work(pause);
  }
}

static void chained(int count, int milliseconds) {
  for (int i = 0; i < count; ++i) {
#pragma omp task depend(inout : chain)
    work(milliseconds);
  }
}

// The creator takes the newest task, the other thread the oldest: they meet in the middle.
static void long_one(int count, int milliseconds, int longest) {
  for (int i = 0; i < count; ++i) {
#pragma omp task
    work(i == count / 2 ? longest : milliseconds);
  }
}

static void exclusive(int count, int milliseconds) {
  for (int i = 0; i < count; ++i) {
#pragma omp task depend(mutexinoutset : chain)
    work(milliseconds);
  }
}

static void concurrent(int count, int milliseconds) {
  for (int i = 0; i < count; ++i) {
#pragma omp task depend(in : chain)
    work(milliseconds);
  }
}

// Two long tasks come before many short ones. Throttling looks at every 64th creation.
static void ahead(void) {
  for (int i = 0; i < 4; ++i) {
    tasks(63, 0);
#pragma omp task
    work(40);
  }
}

static void loop(int longest) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 2; ++i) work(i == 0 ? longest : 20);
}

static void loops(int longest) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 2; ++i) work(i == 0 ? longest : 20);
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 2; ++i) work(i == 1 ? longest : 20);
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 2; ++i) work(i == 0 ? longest : 20);
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 2; ++i) work(i == 1 ? longest : 20);
}

static void short_loops(void) {
  static volatile double cells[64];
  for (int i = 0; i < 20000; ++i)
#pragma omp parallel for
    for (int cell = 0; cell < 64; ++cell) cells[cell] += 1;
}

static void loop_with_lock(void) {
#pragma omp parallel for
  for (int i = 0; i < 16; ++i)
#pragma omp critical
    work(5);
}

static void serial(void) {
  loop(20);
  work(60);
  loop(20);
}

static void phases(int pause) {
  for (int i = 0; i < 3; ++i) {
#pragma omp parallel
#pragma omp single
    tasks(8, 5);
    if (pause > 0) work(pause);
  }
}

static void on_devices(int regions, int milliseconds, int others) {
  for (int i = 0; i < regions; ++i) {
#pragma omp target nowait
    work(milliseconds);
  }
  tasks(others, 5);
#pragma omp taskwait
}

// A detached task completes when its region has ended.
static void awaits_devices(int others) {
  static char regions[4];
  static int started;  // GCC 12 gives a task without a body no event
  for (int i = 0; i < 4; ++i) {
    omp_event_handle_t event;
#pragma omp task detach(event) shared(started)
#pragma omp atomic
    ++started;
#pragma omp target nowait depend(out : regions[i])
    work(20);
#pragma omp task depend(in : regions[i]) firstprivate(event)
    omp_fulfill_event(event);
  }
  tasks(others, 5);
}

#ifdef WITH_MPI
enum { kLarge = 1 << 22 };
static double sent[4][kLarge], received[4][kLarge];

static void send_to_other(int tag) { MPI_Send(&rank, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD); }

static void receive_from_other(int tag) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// The ranks work in turn: each waits for the other.
static void in_turn(int rounds, int others) {
  for (int i = 0; i < rounds; ++i) {
#pragma omp task untied depend(inout : from_other) priority(1)
    {
      if (i % 2 != rank) receive_from_other(i);
      if (i % 2 == rank) work(5);
      if (i % 2 == rank) send_to_other(i);
    }
  }
  tasks(others, 5);
}

// When the message comes, another task runs on the receiver's thread, and nothing on the other thread.
static void tied(void) {
#pragma omp task
  {
    work(20);
    send_to_other(1);
  }
  work(10);
#pragma omp task
  {
#pragma omp task untied
    work(80);
    receive_from_other(1);
  }
}

static void untied(void) {
#pragma omp task
  {
    work(20);
    send_to_other(1);
  }
  work(10);
#pragma omp task untied
  {
#pragma omp task untied
    work(80);
    receive_from_other(1);
  }
}

// A receive whose message comes late, beside tasks that are ready.
static void blocks(void) {
#pragma omp task untied
  receive_from_other(1);
  work(5);
  tasks(20, 4);
#pragma omp task untied
  {
    work(40);
    send_to_other(1);
  }
}

// The tasks that are created last run first: the others are ready meanwhile.
static void copies(int count) {
  tasks(20, 1);
  for (int i = 0; i < 4; ++i) {
#pragma omp task untied
    MPI_Recv(received[i], count, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task untied
    MPI_Send(sent[i], count, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD);
  }
}

static int without_tasks(int overlapped) {
  MPI_Request request;
  int value;
  for (int i = 0; i < 4; ++i) {
    if (overlapped) MPI_Irecv(&value, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &request);
    if (!overlapped && i % 2 != rank) receive_from_other(i);
    if (overlapped || i % 2 == rank) work(10);
    if (overlapped || i % 2 == rank) send_to_other(i);
    if (overlapped) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return MPI_Finalize();
}
#endif

static int is(const char* word, const char* wanted) { return strcmp(word, wanted) == 0; }

static void by_tasks(const char* word) {
  if (is(word, "even")) tasks(40, 2);
  if (is(word, "computes")) computing_tasks(20, 10000000);
  if (is(word, "tiny")) tasks(100000, 0);
  if (is(word, "creator_busy")) tasks(20, 5), work(60);
  if (is(word, "slow_producer")) slow_producer(4);
  if (is(word, "few")) tasks(3, 40);
  if (is(word, "chain")) chained(30, 2);
  if (is(word, "long_one")) long_one(21, 5, 100);
  if (is(word, "exclusive")) exclusive(20, 5);
  if (is(word, "concurrent")) concurrent(20, 5);
  if (is(word, "ahead")) ahead();
  if (is(word, "devices")) on_devices(4, 20, 0);
  if (is(word, "awaits_devices")) awaits_devices(0);
  if (is(word, "awaits_devices_beside")) awaits_devices(40);
  if (is(word, "devices_beside")) on_devices(4, 20, 40);
#ifdef WITH_MPI
  if (is(word, "in_turn")) in_turn(6, 0);
  if (is(word, "in_turn_beside")) in_turn(6, 80);
  if (is(word, "tied")) tied();
  if (is(word, "untied")) untied();
  if (is(word, "blocks")) blocks();
  if (is(word, "copies")) copies(kLarge);
  if (is(word, "small_copies")) copies(64);
  if (is(word, "unequal")) tasks(rank == 0 ? 60 : 6, 4);
  if (is(word, "late") || is(word, "equal")) tasks(12, 4);
#endif
}

int main(int count, char** words) {
  const char* word = count > 1 ? words[1] : "";
#ifdef WITH_MPI
  int provided;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (is(word, "late") && rank == 1) work(60);
  if (is(word, "without_tasks")) return without_tasks(0);
  if (is(word, "without_tasks_overlapped")) return without_tasks(1);
#endif
  if (is(word, "phases")) phases(30);
  if (is(word, "no_pause")) phases(0);
  if (is(word, "uneven_loop")) loop(60);
  if (is(word, "even_loop")) loop(20);
  if (is(word, "uneven_loops")) loops(60);
  if (is(word, "short_loops")) short_loops();
  if (is(word, "loop_with_lock")) loop_with_lock();
  if (is(word, "serial")) serial();
#pragma omp parallel
#pragma omp single
  by_tasks(word);
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  return 0;
}
