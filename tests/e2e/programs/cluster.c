/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage: cluster [PART]. Parts: what tests of a cluster ask of a program. Prints what it has found as NAME=VALUE. */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000 };

static void sums(void) {
  int values[N], pids[8];
  for (int i = 0; i < N; i++) values[i] = i;
#pragma omp target data map(tofrom : values, pids)
#pragma omp parallel
#pragma omp single
  for (int b = 0; b < 8; b++) {
#pragma omp target nowait map(tofrom : values, pids) firstprivate(b)
    {
      for (int i = b; i < N; i += 8) values[i] *= 3;
      pids[b] = getpid();
    }
  }
  int good = 1, others = 0, processes = 0;
  for (int i = 0; i < N; i++) good = good && values[i] == 3 * i;
  for (int b = 0; b < 8; b++) {
    int is_new = 1;
    for (int k = 0; k < b; k++) is_new = is_new && pids[k] != pids[b];
    processes += is_new;
    others += pids[b] != getpid();
  }
  printf("good=%d\nothers=%d\nprocesses=%d\ndevices=%d\n", good, others, processes, omp_get_num_devices());
}

/* Each device of its own: the cluster, and each member. */
static void pinned(void) {
  for (int d = 0; d < omp_get_num_devices(); d++) {
    int number = -1;
#pragma omp target map(from : number) device(d)
    number = omp_get_device_num();
    printf("device%d=%d\n", d, number);
  }
}

static void crash(void) {
  int* nowhere = NULL;
#pragma omp target firstprivate(nowhere)
  *(volatile int*)nowhere = 1;
}

/* Each step needs what the one before has written. */
static void steps(void) {
  enum { kSteps = 6, kBytes = 1 << 18 };
  static char data[kBytes];
#pragma omp target enter data map(to : data)
#pragma omp parallel
#pragma omp single
  for (int s = 0; s < kSteps; s++) {
#pragma omp target nowait depend(inout : data[0]) map(tofrom : data)
    for (int i = 0; i < kBytes; i++) data[i]++;
  }
#pragma omp target exit data map(from : data)
  int value = data[0];
  for (int i = 1; i < kBytes; i++) value = data[i] == data[0] ? value : -1;
  printf("value=%d\n", value);
}

/* A region that does not end, where 1 MiB has been sent; says the program's number. */
static void hangs(void) {
  enum { kBytes = 1 << 20 };
  static char data[kBytes];
#pragma omp target enter data map(to : data)
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait map(tofrom : data)
    {
      data[0] = 1;
      pause();
    }
    printf("pid=%d\n", (int)getpid());
    fflush(stdout);
  }
}

static void killed(void) {
#pragma omp target
  kill(getpid(), SIGKILL);
}

/* The region writes what it maps `to`, which is right unless the user says otherwise. */
static void writes_to(void) {
  int value = 1;
#pragma omp target enter data map(to : value)
#pragma omp target map(to : value)
  value = 5;
#pragma omp target exit data map(from : value)
  printf("value=%d\n", value);
}

void marline_task_node(int node); /* marline.h */
#pragma weak marline_task_node

static void no_such_node(void) {
  if (marline_task_node) marline_task_node(3);
#pragma omp target
  printf("went on\n");
}

/* A target construct inside of a region is its node's, whatever devices the program has. (Clang makes it a part of the
 * region.) */
#pragma omp declare target
static int inner(void) {
  int process = 0;
#pragma omp target map(from : process)
  process = (int)getpid();
  return process == (int)getpid();
}
#pragma omp end declare target

static void nested(void) {
  int good = 0;
#pragma omp target map(tofrom : good)
  good = inner();
  printf("good=%d\n", good);
}

/* A child has its own data; the cluster stays its parent's. */
static void forked(void) {
  int value = 1;
#pragma omp target enter data map(to : value)
#pragma omp target map(tofrom : value)
  value++;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(value == 1 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
#pragma omp target map(tofrom : value)
  value++;
#pragma omp target exit data map(from : value)
  printf("value=%d\nchild=%d\n", value, status);
}

/* Regions of the same array: the first one writes what it names, the second one 16 bytes beside that. */
static void unnamed(void) {
  static int values[N];
  int *first = values, *second = values + N / 2;
#pragma omp target enter data map(to : values)
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait depend(inout : first[0 : 100]) map(tofrom : first[0 : 100])
    for (int i = 0; i < 100; i++) first[i] = 1;
#pragma omp target nowait depend(inout : second[0 : 100]) map(tofrom : second[0 : 100], values)
    {
      for (int i = 0; i < 100; i++) second[i] = 2;
      for (int i = 200; i < 204; i++) values[i] = 3;
    }
  }
#pragma omp target exit data map(from : values)
  printf("first=%d\nsecond=%d\nbeside=%d\nat=%#lx\n", values[99], values[N / 2 + 99], values[203],
         (unsigned long)values);
}

/* A system call writes for the region. */
static void read_call(void) {
  enum { kBytes = 100000, kAt = 50000 };
  static char bytes[kBytes];
#pragma omp target enter data map(to : bytes)
  for (int round = 1; round <= 3; round++) {
#pragma omp target map(tofrom : bytes) firstprivate(round)
    {
      int ends[2];
      char word[] = {(char)round, 7, 7};
      if (pipe(ends) == 0 && write(ends[1], word, 3) == 3 && read(ends[0], &bytes[kAt + 4096 * round], 3) != 3)
        bytes[0] = 1;
      close(ends[0]), close(ends[1]);
    }
  }
#pragma omp target exit data map(from : bytes)
  printf("failed=%d\nread=%d%d%d\n", bytes[0], bytes[kAt + 4096], bytes[kAt + 2 * 4096], bytes[kAt + 3 * 4096]);
}

/* Each region takes long on node 1. */
static void uneven(void) {
  enum { kRegions = 48 };
  static int values[kRegions], processes[kRegions];
  int slow = 0;
#pragma omp target map(from : slow) device(1)
  slow = (int)getpid();
#pragma omp target enter data map(to : values, processes)
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < kRegions; r++) {
#pragma omp target nowait depend(inout : values[r]) map(tofrom : values, processes) firstprivate(r, slow)
    {
      processes[r] = (int)getpid();
      usleep(processes[r] == slow ? 40000 : 2000);
      values[r] += r;
    }
  }
#pragma omp target exit data map(from : values, processes)
  int good = 1, on_slow = 0;
  for (int r = 0; r < kRegions; r++) good = good && values[r] == r && processes[r] != 0;
  for (int r = 0; r < kRegions; r++) on_slow += processes[r] == slow;
  printf("good=%d\non_slow=%d\n", good, on_slow);
}

static int appears(const char* file, int milliseconds) {
  while (access(file, F_OK) != 0 && milliseconds-- > 0) usleep(1000);
  return access(file, F_OK) == 0;
}

static void create_maker(int* made) {
  int process = getpid();
#pragma omp target nowait depend(inout : made[0]) map(tofrom : made[0 : 1]) firstprivate(process)
  {
    char name[64];
    snprintf(name, sizeof name, "/tmp/marline_made_%d", process);
    fclose(fopen(name, "w"));
    made[0]++;
  }
}

/* Whether deferred regions run before the program waits, as far as it shows within so many milliseconds; and that they
 * do run in each kind of wait. A region makes a file. One thread: others would wait at the barrier. */
static void early(int milliseconds) {
  enum { kTaskwait, kTaskgroup, kYields, kUpdate, kRegion, kWays };
  static int cells[2];
  int *made = cells, early = 0;
  char file[64];
  snprintf(file, sizeof file, "/tmp/marline_made_%d", (int)getpid());
#pragma omp target enter data map(to : cells)
#pragma omp parallel num_threads(1)
  {
    create_maker(made); /* the kernel's first run: later runs are sent early */
#pragma omp taskwait
    for (int way = 0; way < kWays; way++) {
      unlink(file);
      if (way == kTaskgroup) { /* what a task creates while another one waits */
#pragma omp taskgroup
#pragma omp task
        {
          create_maker(made);
          early += appears(file, milliseconds);
        }
      } else {
        create_maker(made);
        early += appears(file, milliseconds);
      }
      if (way == kTaskwait) {
#pragma omp taskwait
      }
      while (way == kYields && access(file, F_OK) != 0) {
#pragma omp taskyield
      }
      if (way == kUpdate) {
#pragma omp target update to(cells[1 : 1])
      }
      if (way == kRegion) {
#pragma omp target map(tofrom : cells)
        cells[1]++;
      }
      if (!appears(file, 30000)) exit(1);
#pragma omp taskwait
    }
  }
#pragma omp target exit data map(from : cells)
  unlink(file);
  printf("early=%d\nmade=%d\n", early, cells[0]);
}

static void name_go(char* name, size_t bytes, int process) { snprintf(name, bytes, "/tmp/marline_go_%d", process); }

static void go(void) {
  char name[64];
  name_go(name, sizeof name, (int)getpid());
  fclose(fopen(name, "w"));
}

/* On node 1, until the program says go, or for long. */
static void create_blocker(int* late, int process) {
#pragma omp target nowait map(tofrom : late[0 : 1]) firstprivate(process) device(1)
  {
    char name[64];
    snprintf(name, sizeof name, "/tmp/marline_go_%d", process);
    int left = 20000;
    while (access(name, F_OK) != 0 && left > 0) usleep(1000), left--;
    late[0] += left == 0;
  }
}

/* A node with one thread has run a region and is busy with another one, which ends when the program has heard of the
 * first one's end. */
static void ends(void) {
  static int a, b, c, d, late; /* each on one node alone: a region that fetched data would start after the blocker */
  int *late_cell = &late, process = (int)getpid();
  char name[64];
  name_go(name, sizeof name, process);
#pragma omp target enter data map(to : a, b, c, d, late)
  for (int run = 0; run < 3; run++) { /* kernels run first; are waited for; and are known to be */
    run == 0 ? go() : (void)unlink(name);
#pragma omp parallel num_threads(1)
    {
#pragma omp target nowait depend(inout : a) map(tofrom : a) device(1)
      a++;
      create_blocker(late_cell, process);
      if (run > 0) {
#pragma omp task depend(in : a)
        go();
      }
    }
    if (run > 0) unlink(name);
#pragma omp parallel num_threads(1)
    {
#pragma omp target nowait depend(inout : b) map(tofrom : b) device(1)
      b++;
      create_blocker(late_cell, process);
      if (run > 0) {
#pragma omp taskwait depend(in : b)
        go();
      }
    }
    if (run > 0) unlink(name);
#pragma omp parallel num_threads(1)
    {
#pragma omp target nowait depend(inout : c) map(tofrom : c) device(1)
      c++;
#pragma omp target nowait depend(inout : c) map(tofrom : d) device(2)
      d++;
      create_blocker(late_cell, process);
      if (run > 0) {
#pragma omp task depend(in : c)
        go();
      }
    }
  }
#pragma omp target exit data map(from : a, b, c, d, late)
  unlink(name);
  printf("cells=%d%d%d%d\nlate=%d\n", a, b, c, d, late);
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "sums";
  if (strcmp(what, "sums") == 0) sums();
  if (strcmp(what, "pinned") == 0) pinned();
  if (strcmp(what, "crash") == 0) crash();
  if (strcmp(what, "killed") == 0) killed();
  if (strcmp(what, "steps") == 0) steps();
  if (strcmp(what, "hangs") == 0) hangs();
  if (strcmp(what, "writes_to") == 0) writes_to();
  if (strcmp(what, "forked") == 0) forked();
  if (strcmp(what, "nested") == 0) nested();
  if (strcmp(what, "no_such_node") == 0) no_such_node();
  if (strcmp(what, "unnamed") == 0) unnamed();
  if (strcmp(what, "read_call") == 0) read_call();
  if (strcmp(what, "uneven") == 0) uneven();
  if (strcmp(what, "ends") == 0) ends();
  if (strcmp(what, "early") == 0) early(atoi(words[2]));
  return 0;
}
