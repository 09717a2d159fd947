/* SPDX-License-Identifier: Apache-2.0
 *
 * A program with a tool that traces a device forks, while other threads are in the trace and in its functions. The
 * child ends as ever, and its tool gets nothing of the parent's: neither the records so far nor the end of the device.
 * With a number as argument: that many devices are started meanwhile, which fork as well.
 *
 * Covers: target(map, device), ompt_start_trace, ompt_callback_device_finalize
 */
#define TOOL_LOOKS_UP
#include "../../tool.h"
#include "../device.h"
#include <pthread.h>
#include <sys/wait.h>

enum { kForks = 20, kBuffer = 1000 };

static ompt_device_t* device;
static ompt_start_trace_t start;
static ompt_stop_trace_t stop;
static ompt_set_callback_t set_callback;
static int is_child, in_child, done;

static void tool_lookup(ompt_function_lookup_t lookup) { CHECK(lookup("ompt_set_callback") != NULL); }

static void on_request(int number, ompt_buffer_t** buffer, size_t* bytes) {
  (void)number;
  *bytes = kBuffer;
  *buffer = malloc(*bytes);
}

static void on_complete(int number, ompt_buffer_t* buffer, size_t bytes, ompt_buffer_cursor_t cursor, int owned) {
  (void)number, (void)bytes, (void)cursor, (void)owned;
  in_child += is_child;
  if (start != NULL) usleep(200); /* so that a fork is likely meanwhile */
  free(buffer);
}

static void on_initialize(int number, const char* type, ompt_device_t* handle, ompt_function_lookup_t lookup,
                          const char* documentation) {
  (void)type, (void)documentation;
  if (number != 0) return;
  device = handle;
  stop = (ompt_stop_trace_t)lookup("ompt_stop_trace");
  start = (ompt_start_trace_t)lookup("ompt_start_trace");
  CHECK_EQ(start(handle, on_request, on_complete), 1);
}

static void on_finalize(int number) {
  (void)number;
  in_child += is_child;
}

static void tool_callbacks(ompt_set_callback_t set) {
  set_callback = set;
  set(ompt_callback_device_initialize, (ompt_callback_t)on_initialize);
  set(ompt_callback_device_finalize, (ompt_callback_t)on_finalize);
}

/* Clang 16 gives back the stack that a region takes when its function returns. */
static __attribute__((noinline)) void region(void) {
  int x = 0;
#pragma omp target map(tofrom : x) device(0)
  x++;
}

static void* use_device(void* unused) {
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) region();
  return unused;
}

static void* use_functions(void* unused) {
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    CHECK(stop(device) + start(device, on_request, on_complete) <= 2);
    set_callback(ompt_callback_device_finalize, (ompt_callback_t)on_finalize);
  }
  return unused;
}

static void check_child(void) {
  if (is_child && in_child != 0) _exit(3);
}

static void check_forks(void) {
  for (int i = 0; i < kForks; i++) {
    int status;
    usleep(1000);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
      alarm(100); /* if it hangs */
      is_child = 1;
      exit(0);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
  }
}

int main(int count, char** arguments) {
  atexit(check_child); /* registered before the tool's end, so that it runs after the tool's end */
  CHECK(omp_get_max_threads() > 0);
#pragma omp target device(0)
  {
  }
  if (device == NULL) return 0; /* no device */
  alarm(200);
  pthread_t user, caller;
  CHECK_EQ(pthread_create(&user, NULL, count > 1 ? use_functions : use_device, NULL), 0);
  CHECK_EQ(pthread_create(&caller, NULL, use_functions, NULL), 0);
  for (int d = 1; count > 1 && d < omp_get_num_devices(); d++) {
#pragma omp target device(d)
    {
    }
  }
  if (count > 1)
    CHECK_EQ(omp_get_num_devices(), atoi(arguments[1]));
  else
    check_forks();
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  CHECK_EQ(pthread_join(user, NULL), 0);
  CHECK_EQ(pthread_join(caller, NULL), 0);
  return 0;
}
