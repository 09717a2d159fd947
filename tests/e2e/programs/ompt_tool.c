/* SPDX-License-Identifier: Apache-2.0
 *
 * An OMPT tool that prints one line per callback: the event's name, then words `key=value`. Tasks, regions and threads
 * get small numbers of their own in the order in which they are first seen. `at` is a code pointer, counted from where
 * its binary is loaded; `by` the number that the kernel gave the thread. `REFUSE` or `DECLINE_LATE` in the environment
 * make it decline; `WITHOUT` names one event that it does not ask for. Built with clang, as clang's omp-tools.h
 * declares the interface. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp-tools.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ompt_get_unique_id_t unique_id;
static ompt_get_parallel_info_t parallel_info;
static ompt_get_task_info_t task_info;
static ompt_get_thread_data_t thread_data;
static ompt_get_state_t state;
static ompt_enumerate_states_t enumerate_states;
static ompt_enumerate_mutex_impls_t enumerate_mutex_impls;
static int (*created)(const char** label, unsigned* color);

/* Of the thread that the last SIGUSR1 went to; a program that preloads the tool looks at them. */
volatile int tool_state = -1;
volatile ompt_wait_id_t tool_wait;

static void on_signal(int signal) {
  (void)signal;
  ompt_wait_id_t wait = 0;
  int now = state(&wait);
  tool_wait = wait;
  __atomic_store_n(&tool_state, now, __ATOMIC_RELEASE);
}

static unsigned long number(ompt_data_t* data) {
  if (data == NULL) return 0;
  if (data->value == 0) data->value = unique_id();
  return data->value;
}

static unsigned long offset(const void* code) {
  Dl_info binary;
  if (code == NULL || dladdr(code, &binary) == 0) return 0;
  return (unsigned long)((const char*)code - (const char*)binary.dli_fbase);
}

static void thread_begin(ompt_thread_t type, ompt_data_t* data) {
  printf("thread_begin type=%d thread=%lu\n", type, number(data));
}

static void thread_end(ompt_data_t* data) { printf("thread_end thread=%lu\n", number(data)); }

static void parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* parallel, unsigned requested,
                           int flags, const void* code) {
  printf("parallel_begin task=%lu frame=%d parallel=%lu requested=%u flags=%x at=%lx\n", number(task), frame != NULL,
         number(parallel), requested, (unsigned)flags, offset(code));
}

static void parallel_end(ompt_data_t* parallel, ompt_data_t* task, int flags, const void* code) {
  printf("parallel_end parallel=%lu task=%lu flags=%x at=%lx\n", number(parallel), number(task), (unsigned)flags,
         offset(code));
}

static void implicit_task(ompt_scope_endpoint_t end, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                          unsigned index, int flags) {
  printf("implicit_task end=%d parallel=%lu task=%lu size=%u index=%u flags=%d by=%d\n", end, number(parallel),
         number(task), size, index, flags, gettid());
}

static void task_create(ompt_data_t* parent, const ompt_frame_t* frame, ompt_data_t* task, int flags, int dependent,
                        const void* code) {
  const char* label = NULL;
  unsigned color = 0;
  int known = created == NULL ? -1 : created(&label, &color);
  printf("task_create parent=%lu frame=%d task=%lu flags=%d dependent=%d at=%lx known=%d label=%s color=%06x\n",
         number(parent), frame != NULL, number(task), flags, dependent, offset(code), known,
         label == NULL ? "none" : label, color);
}

static void task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  printf("task_schedule prior=%lu status=%d next=%lu by=%d\n", number(prior), status, number(next), gettid());
}

static void dependences(ompt_data_t* task, const ompt_dependence_t* list, int count) {
  for (int i = 0; i < count; ++i) {
    printf("dependence task=%lu address=%p type=%d\n", number(task), list[i].variable.ptr, list[i].dependence_type);
  }
}

static void task_dependence(ompt_data_t* from, ompt_data_t* to) {
  printf("task_dependence from=%lu to=%lu\n", number(from), number(to));
}

static void sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t* parallel, ompt_data_t* task,
                        const void* code) {
  printf("sync_region kind=%d end=%d parallel=%lu task=%lu at=%lx\n", kind, end, number(parallel), number(task),
         offset(code));
}

static void sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t* parallel,
                             ompt_data_t* task, const void* code) {
  printf("sync_region_wait kind=%d end=%d parallel=%lu task=%lu at=%lx\n", kind, end, number(parallel), number(task),
         offset(code));
}

static void reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t* parallel, ompt_data_t* task,
                      const void* code) {
  printf("reduction kind=%d end=%d parallel=%lu task=%lu at=%lx\n", kind, end, number(parallel), number(task),
         offset(code));
}

static void work(ompt_work_t kind, ompt_scope_endpoint_t end, ompt_data_t* parallel, ompt_data_t* task, uint64_t count,
                 const void* code) {
  printf("work kind=%d end=%d parallel=%lu task=%lu count=%lu at=%lx by=%d\n", kind, end, number(parallel),
         number(task), count, offset(code), gettid());
}

static void masked(ompt_scope_endpoint_t end, ompt_data_t* parallel, ompt_data_t* task, const void* code) {
  printf("masked end=%d parallel=%lu task=%lu at=%lx\n", end, number(parallel), number(task), offset(code));
}

static void dispatch(ompt_data_t* parallel, ompt_data_t* task, ompt_dispatch_t kind, ompt_data_t instance) {
  unsigned long start = 0, iterations = 0;
  if (kind == ompt_dispatch_section) {
    start = offset(instance.ptr);
  } else {
    start = ((ompt_dispatch_chunk_t*)instance.ptr)->start;
    iterations = ((ompt_dispatch_chunk_t*)instance.ptr)->iterations;
  }
  printf("dispatch parallel=%lu task=%lu kind=%d start=%lx iterations=%lu\n", number(parallel), number(task), kind,
         start, iterations);
}

static void print_lock(const char* event, int kind, unsigned hint, ompt_wait_id_t wait, const void* code) {
  printf("%s kind=%d hint=%u wait=%lx at=%lx by=%d\n", event, kind, hint, wait, offset(code), gettid());
}

static void lock_init(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait, const void* code) {
  (void)impl;
  print_lock("lock_init", kind, hint, wait, code);
}

static void lock_destroy(ompt_mutex_t kind, ompt_wait_id_t wait, const void* code) {
  print_lock("lock_destroy", kind, 0, wait, code);
}

static void mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait, const void* code) {
  int next = 0;
  const char* name = "none";
  for (int i = 0; enumerate_mutex_impls(i, &next, &name) && (unsigned)next != impl; i = next) {
  }
  if ((unsigned)next != impl) printf("error impl=%u\n", impl);
  print_lock("mutex_acquire", kind, hint, wait, code);
}

static void mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait, const void* code) {
  print_lock("mutex_acquired", kind, 0, wait, code);
}

static void mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait, const void* code) {
  print_lock("mutex_released", kind, 0, wait, code);
}

static void nest_lock(ompt_scope_endpoint_t end, ompt_wait_id_t wait, const void* code) {
  print_lock("nest_lock", end, 0, wait, code);
}

/* Asked for by the program: what the inquiries say at that place. */
static int control_tool(uint64_t command, uint64_t modifier, void* argument, const void* code) {
  (void)argument;
  (void)code;
  printf("control_tool command=%lu modifier=%lu thread=%lu\n", command, modifier, number(thread_data()));
  for (int level = 0;; ++level) {
    int flags = 0, thread = -1;
    ompt_data_t *task = NULL, *parallel = NULL;
    ompt_frame_t* frame = NULL;
    if (task_info(level, &flags, &task, &frame, &parallel, &thread) != 2) break;
    printf("task_info level=%d flags=%d task=%lu parallel=%lu thread=%d\n", level, flags, number(task),
           number(parallel), thread);
  }
  for (int level = 0;; ++level) {
    int size = 0;
    ompt_data_t* parallel = NULL;
    if (parallel_info(level, &parallel, &size) != 2) break;
    printf("parallel_info level=%d parallel=%lu size=%d\n", level, number(parallel), size);
  }
  return 42;
}

static int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t* data) {
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  unique_id = (ompt_get_unique_id_t)lookup("ompt_get_unique_id");
  parallel_info = (ompt_get_parallel_info_t)lookup("ompt_get_parallel_info");
  task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  thread_data = (ompt_get_thread_data_t)lookup("ompt_get_thread_data");
  state = (ompt_get_state_t)lookup("ompt_get_state");
  enumerate_states = (ompt_enumerate_states_t)lookup("ompt_enumerate_states");
  enumerate_mutex_impls = (ompt_enumerate_mutex_impls_t)lookup("ompt_enumerate_mutex_impls");
  created = (int (*)(const char**, unsigned*))lookup("marline_task_info");
  data->value = 7;
  signal(SIGUSR1, on_signal);
  const char* name;
  for (int now = ompt_state_undefined; enumerate_states(now, &now, &name);) {
    printf("state value=%x name=%s\n", now, name);
  }
  printf("initialize device=%d unknown=%d\n", initial_device, lookup("ompt_no_such_function") != NULL);
  const char* without = getenv("WITHOUT") != NULL ? getenv("WITHOUT") : "";
#define SET(event, function)                                            \
  if (strcmp(without, #event) != 0) {                                   \
    int result = set(ompt_callback_##event, (ompt_callback_t)function); \
    printf("set event=%s result=%d\n", #event, result);                 \
  }
  SET(thread_begin, thread_begin);
  SET(thread_end, thread_end);
  SET(parallel_begin, parallel_begin);
  SET(parallel_end, parallel_end);
  SET(implicit_task, implicit_task);
  SET(task_create, task_create);
  SET(task_schedule, task_schedule);
  SET(dependences, dependences);
  SET(task_dependence, task_dependence);
  SET(sync_region, sync_region);
  SET(sync_region_wait, sync_region_wait);
  SET(control_tool, control_tool);
  SET(cancel, sync_region);
  SET(reduction, reduction);
  SET(work, work);
  SET(masked, masked);
  SET(dispatch, dispatch);
  SET(lock_init, lock_init);
  SET(lock_destroy, lock_destroy);
  SET(mutex_acquire, mutex_acquire);
  SET(mutex_acquired, mutex_acquired);
  SET(mutex_released, mutex_released);
  SET(nest_lock, nest_lock);
  return getenv("DECLINE_LATE") == NULL;
}

static void finalize(ompt_data_t* data) { printf("finalize data=%lu\n", data->value); }

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime) {
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  printf("start version=%u runtime=%.7s\n", version, runtime);
  return getenv("REFUSE") == NULL ? &result : NULL;
}
