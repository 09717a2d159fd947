/* SPDX-License-Identifier: Apache-2.0
 *
 * A sampling profiler: a thread that is none of OpenMP's sends a signal to each thread of the process in turn, up to
 * ten thousand times a second and as soon as the system lists the thread. The handler calls the inquiry routines. The
 * other threads meanwhile start and end, as threads of a team and as the program's own, are sent away by a pause, fork,
 * open nested regions, suspend tasks, call libraries that call back and set control variables; some know nothing of
 * OpenMP. The answers are in range everywhere, and no handler takes memory: the signal may have come inside malloc.
 * Usage: signal_inquiries ROUNDS.
 *
 * Covers: omp_get_thread_num, omp_get_num_threads, omp_get_max_threads, omp_get_num_procs, omp_in_parallel,
 *  omp_get_level, omp_get_active_level, omp_get_ancestor_thread_num, omp_get_team_size, omp_get_max_active_levels,
 *  omp_get_supported_active_levels, omp_get_dynamic, omp_get_thread_limit, omp_get_cancellation,
 *  omp_get_schedule, omp_get_proc_bind, omp_get_num_teams, omp_get_team_num, omp_get_max_teams,
 *  omp_get_teams_thread_limit, omp_in_final, omp_get_max_task_priority, omp_get_wtime,
 *  omp_get_wtick, omp_get_default_allocator, omp_get_affinity_format, omp_is_initial_device, omp_get_num_places,
 *  omp_get_place_num, omp_get_partition_num_places
 */
#include "../check.h"
#include <dirent.h>
#include <errno.h>
#include <marline/marline.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { kSignal = SIGURG, kPauseMicroseconds = 100, kMost = 1 << 20, kMostActive = 3 };

static _Atomic long handled, stop;
static int starts; /* of regions' threads of all kinds */

static __thread volatile sig_atomic_t in_handler;

/* Instead of CHECK, as its printf is not allowed in handlers. */
static void fail(const char* what, const char* text) {
  (void)!write(2, what, strlen(what));
  (void)!write(2, text, strlen(text));
  _exit(1);
}

static void in_range(const char* what, long value, long low, long high) {
  if (value < low || value > high) fail(what, ": an inquiry in a signal handler is out of range\n");
}

/* glibc's functions under the names that a program's own malloc may call (manual, "Replacing malloc"). */
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

static void not_in_handler(const char* function) {
  if (in_handler) fail(function, ": called by an inquiry in a signal handler\n");
}

void* malloc(size_t size) {
  not_in_handler("malloc");
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  not_in_handler("calloc");
  return __libc_calloc(count, size);
}

void* realloc(void* block, size_t size) {
  not_in_handler("realloc");
  return __libc_realloc(block, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  not_in_handler("aligned_alloc");
  return __libc_memalign(alignment, size);
}

void free(void* block) {
  if (block != NULL) not_in_handler("free");
  __libc_free(block);
}

static void inquire_of_team(void) {
  in_range("omp_get_thread_num", omp_get_thread_num(), 0, kMost);
  in_range("omp_get_num_threads", omp_get_num_threads(), 1, kMost);
  in_range("omp_in_parallel", omp_in_parallel(), 0, 1);
  int level = omp_get_level();
  in_range("omp_get_level", level, 0, kMost);
  /* What a library calls back begins to count levels anew, but is in the active regions of the library's caller. */
  in_range("omp_get_active_level", omp_get_active_level(), 0, level + kMostActive);
  for (int l = -1; l <= level + 1; l++) {
    in_range("omp_get_ancestor_thread_num", omp_get_ancestor_thread_num(l), -1, kMost);
    in_range("omp_get_team_size", omp_get_team_size(l), -1, kMost);
  }
  in_range("omp_get_num_teams", omp_get_num_teams(), 1, kMost);
  in_range("omp_get_team_num", omp_get_team_num(), 0, kMost);
  in_range("omp_in_final", omp_in_final(), 0, 1);
}

static void inquire_of_variables(void) {
  omp_sched_t kind;
  int chunk;
  char format[64];
  omp_get_schedule(&kind, &chunk);
  in_range("omp_get_schedule", kind & 0xf, 1, 4);
  in_range("omp_get_max_threads", omp_get_max_threads(), 1, kMost);
  in_range("omp_get_max_active_levels", omp_get_max_active_levels(), 0, omp_get_supported_active_levels());
  in_range("omp_get_dynamic", omp_get_dynamic(), 0, 1);
  in_range("omp_get_thread_limit", omp_get_thread_limit(), 1, 0x7fffffff);
  in_range("omp_get_cancellation", omp_get_cancellation(), 0, 1);
  in_range("omp_get_proc_bind", omp_get_proc_bind(), 0, 5);
  in_range("omp_get_max_teams", omp_get_max_teams(), 0, kMost);
  in_range("omp_get_teams_thread_limit", omp_get_teams_thread_limit(), 0, kMost);
  in_range("omp_get_max_task_priority", omp_get_max_task_priority(), 0, 0x7fffffff);
  in_range("omp_get_default_allocator", (long)omp_get_default_allocator(), 1, 8);
  in_range("omp_is_initial_device", omp_is_initial_device(), 1, 1);
  in_range("omp_get_affinity_format", (long)omp_get_affinity_format(format, sizeof format), 1, kMost);
}

static void inquire_of_machine(void) {
  in_range("omp_get_num_procs", omp_get_num_procs(), 1, kMost);
  in_range("omp_get_wtime", omp_get_wtime() > 0, 1, 1);
  in_range("omp_get_wtick", omp_get_wtick() > 0, 1, 1);
  in_range("omp_get_num_places", omp_get_num_places(), 1, kMost);
  in_range("omp_get_place_num", omp_get_place_num(), -1, kMost);
  in_range("omp_get_partition_num_places", omp_get_partition_num_places(), 1, kMost);
}

static void on_signal(int signal) {
  (void)signal;
  int error = errno;
  in_handler = 1;
  inquire_of_team();
  inquire_of_variables();
  inquire_of_machine();
  in_handler = 0;
  handled++;
  errno = error;
}

static void* profiler(void* unused) {
  sigset_t blocked;
  sigfillset(&blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
  int self = (int)syscall(SYS_gettid);
  while (!stop) {
    DIR* threads = opendir("/proc/self/task");
    CHECK(threads != NULL);
    for (struct dirent* thread; (thread = readdir(threads)) != NULL;) {
      int id = atoi(thread->d_name);
      if (id > 0 && id != self) syscall(SYS_tgkill, getpid(), id, kSignal);
    }
    closedir(threads);
    usleep(kPauseMicroseconds);
  }
  return unused;
}

static void regions(void) {
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(3) reduction(+ : starts)
  {
    starts++;
    omp_set_num_threads(2 + omp_get_thread_num());
#pragma omp parallel num_threads(2) reduction(+ : starts)
    starts++;
#pragma omp parallel num_threads(1)
    omp_set_schedule(omp_sched_dynamic, 1 + omp_get_thread_num());
  }
}

static void tasks(void) {
  omp_lock_t lock;
  long sum = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 60; i++) {
#pragma omp task untied if (i % 7 != 0) final(i % 5 == 0)
    {
      omp_set_num_threads(1 + i % 4);
#pragma omp task
      omp_set_dynamic(0);
#pragma omp taskyield
      omp_set_lock(&lock);
      sum += i;
#pragma omp taskyield
      omp_unset_lock(&lock);
#pragma omp taskwait
    }
  }
  CHECK_EQ(sum, 60 * 59 / 2);
  omp_destroy_lock(&lock);
}

/* Every other library calls back. */
static void library_calls(void) {
  for (int i = 0; i < 40; i++) {
    marline_library_call_t call;
    int called = 0;
    marline_library_enter(&call);
    if (i % 2 == 0) {
#pragma omp task shared(called)
      called = 1;
#pragma omp taskwait
    }
    if (i % 8 == 0) {
#pragma omp parallel num_threads(2)
      omp_set_num_threads(2);
    }
    marline_library_leave(&call);
    CHECK_EQ(called, i % 2 == 0);
  }
}

static void calls_in_region(void) {
  library_calls();
#pragma omp parallel num_threads(3)
  library_calls();
}

static void* short_lived(void* unused) {
  library_calls(); /* on a thread that the runtime has not seen */

  omp_set_num_threads(2);
#pragma omp parallel reduction(+ : starts)
  starts++;
  tasks();
  return unused;
}

/* Asks nothing of OpenMP itself. */
static void* stranger(void* unused) {
  usleep(300);
  return unused;
}

static void threads_of_the_program(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) CHECK_EQ(pthread_create(&threads[i], NULL, i == 0 ? short_lived : stranger, NULL), 0);
  for (int i = 0; i < 4; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static void child(void) {
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    regions();
    raise(kSignal);
    _exit(0);
  }
  int status;
  while (waitpid(pid, &status, 0) < 0) CHECK_EQ(errno, EINTR);
  CHECK_EQ(status, 0);
}

static void change_format(int round) {
  char format[64];
  snprintf(format, sizeof format, "round %d of %%n", round);
  omp_set_affinity_format(format);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  pthread_t thread;
  CHECK(omp_get_num_places() >= 1); /* the first question for places reads the machine: not in a handler */
  CHECK_EQ(sigaction(kSignal, &action, NULL), 0);
  raise(kSignal); /* the runtime has not seen this thread yet */
  CHECK_EQ(pthread_create(&thread, NULL, profiler, NULL), 0);
  threads_of_the_program();
  for (int round = 0; round < atoi(argv[1]); round++) {
    regions();
    tasks();
    calls_in_region();
    threads_of_the_program();
    change_format(round);
    if (round % 3 == 0) child();
    if (round % 2 == 0) CHECK_EQ(omp_pause_resource_all(omp_pause_soft), 0); /* threads that wait end; others start */
  }
  stop = 1;
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK(handled > 0);
  printf("%ld signals\n", (long)handled);
  return 0;
}
