/* SPDX-License-Identifier: Apache-2.0
 *
 * HPCToolkit (HPCToolkit/hpctoolkit, src/tool/hpcrun/ompt/ompt-interface.c and ompt-callstack.c): a signal
 * interrupts a thread anywhere, and its handler asks the runtime for the thread's state, its tasks and its regions,
 * each with the word that the callbacks have left there. Where the signal has interrupted the program's own code, the
 * answer must be the task that the events name. */
#define _GNU_SOURCE
#include "profiler.h"
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

static const char* const model_name = "hpctoolkit";
enum { kLevels = 64, kStates = 64, kThreads = 256, kInterval = 20000 /* ns */ };
static _Thread_local ompt_data_t* thread_word;
static _Thread_local int slot;
static _Atomic int known[kThreads];                 /* threads that live */
static _Thread_local ompt_data_t* volatile running; /* the task that the events name */
static _Atomic long threads, regions, tasks, samples, in_program, deep, waiting;
static _Atomic uint64_t last_region;
static int states[kStates], state_count;
static uintptr_t program_begin, program_end; /* its code */

static ompt_get_state_t get_state;
static ompt_get_task_info_t task_info;
static ompt_get_parallel_info_t parallel_info;
static ompt_get_thread_data_t thread_data;
static ompt_get_unique_id_t unique_id;

static void check_state(void) {
  ompt_wait_id_t wait = 0;
  int state = get_state(&wait), known = 0;
  for (int i = 0; i < state_count; i++) known |= states[i] == state;
  EXPECT(known, "state %x is not one of those that ompt_enumerate_states lists", state);
  int is_mutex = state >= ompt_state_wait_mutex && state <= ompt_state_wait_ordered;
  EXPECT(!is_mutex || wait != 0, "a thread waits for a mutex without an identifier");
  waiting += state >= ompt_state_wait_barrier && state < ompt_state_idle;
}

/* All levels; the outermost one is an initial task, but for a thread that leaves a region: what is around it may be
 * gone. */
static void check_levels(int in_own_code, uintptr_t stack) {
  int level = 0, flags = 0, thread = 0;
  ompt_data_t *task = NULL, *region = NULL;
  ompt_frame_t* frame = NULL;
  for (; level < kLevels && task_info(level, &flags, &task, &frame, &region, &thread) == 2; level++) {
    EXPECT(task != NULL && frame != NULL, "level %d has no task or frame", level);
    EXPECT((flags & ompt_task_initial) != 0 || (region != NULL && region->value != 0), "level %d: no region", level);
    if (level > 0 || !in_own_code) continue;
    EXPECT(task == running, "the running task has the word %lx, the events' has %lx", (unsigned long)task->value,
           running == NULL ? 0 : (unsigned long)running->value);
    uintptr_t leaves = (uintptr_t)frame->exit_frame.ptr;
    EXPECT((flags & ompt_task_initial) != 0 || leaves > stack, "the frame %lx is not above %lx", (long)leaves,
           (long)stack);
  }
  EXPECT(level < kLevels, "endless levels");
  EXPECT(level == 0 || flags & ompt_task_initial || (!in_own_code && thread != 0),
         "the outermost task is not an initial one: %x", flags);
  EXPECT(!in_own_code || running == NULL || level > 0, "no task in the program's code");
  deep += level > 2;
  int size = 0;
  for (level = 0; level < kLevels && parallel_info(level, &region, &size) == 2; level++) {
    EXPECT(region != NULL && size > 0, "region %d of %d threads", level, size);
  }
}

static void on_sample(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  if (thread_word == NULL || is_over) return;
  int error = errno;
  const mcontext_t* machine = &((ucontext_t*)context)->uc_mcontext;
#ifdef __x86_64__
  uintptr_t at = (uintptr_t)machine->gregs[REG_RIP], stack = (uintptr_t)machine->gregs[REG_RSP];
#else
  uintptr_t at = machine->pc, stack = machine->sp;
#endif
  int in_own_code = at >= program_begin && at < program_end;
  EXPECT(thread_data() == thread_word, "the thread has another word");
  check_state();
  check_levels(in_own_code, stack);
  samples++;
  in_program += in_own_code;
  errno = error;
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t* thread) {
  (void)type;
  thread->value = unique_id();
  thread_word = thread;
  slot = (int)threads++;
  EXPECT(slot < kThreads, "too many threads for this model");
  known[slot] = gettid();
}

static void on_thread_end(ompt_data_t* thread) {
  EXPECT(thread == thread_word, "a thread ends as another one");
  known[slot] = 0;
  thread_word = NULL;
}

static void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* region, unsigned requested,
                              int flags, const void* code) {
  (void)task, (void)frame, (void)requested, (void)flags, (void)code;
  region->value = unique_id();
  EXPECT(region->value != 0 && atomic_exchange(&last_region, region->value) != region->value, "not unique");
  regions++;
}

static void on_parallel_end(ompt_data_t* region, ompt_data_t* task, int flags, const void* code) {
  (void)flags, (void)code;
  EXPECT(region->value != 0, "a region ends that has not begun");
  running = task;
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task, unsigned size,
                             unsigned index, int flags) {
  (void)size, (void)index, (void)flags;
  if (region != NULL && region->value == 0 && flags & ompt_task_initial) region->value = unique_id();
  running = endpoint == ompt_scope_begin ? task : NULL;
}

static void on_task_create(ompt_data_t* parent, const ompt_frame_t* frame, ompt_data_t* task, int flags, int depends,
                           const void* code) {
  (void)parent, (void)frame, (void)flags, (void)depends, (void)code;
  task->value = unique_id();
  tasks++;
}

static void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  (void)prior;
  if (status != ompt_task_late_fulfill && status != ompt_task_early_fulfill && next != NULL) running = next;
}

static void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait, const void* code) {
  (void)kind, (void)code;
  EXPECT(wait != 0, "a mutex without an identifier");
}

static void list_states(ompt_enumerate_states_t enumerate) {
  const char* name;
  for (int state = ompt_state_undefined; state_count < kStates && enumerate(state, &state, &name);) {
    states[state_count++] = state;
  }
  EXPECT(state_count > 0 && state_count < kStates, "%d states", state_count);
  states[state_count++] = ompt_state_undefined;
}

/* Instead of a timer a thread, of which the kernel has coarse ones. */
static void* interrupt_threads(void* unused) {
  (void)unused;
  const struct timespec interval = {0, kInterval};
  while (!is_over) {
    for (int i = 0; i < (int)threads && i < kThreads; i++) {
      int thread = known[i];
      if (thread != 0) syscall(SYS_tgkill, getpid(), thread, SIGPROF);
    }
    nanosleep(&interval, NULL);
  }
  return NULL;
}

/* The first object is the program. */
static int note_code(struct dl_phdr_info* object, size_t size, void* unused) {
  (void)size, (void)unused;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    program_begin = object->dlpi_addr + part->p_vaddr;
    program_end = program_begin + part->p_memsz;
  }
  return 1;
}

static void model_starts(ompt_function_lookup_t lookup) {
  get_state = (ompt_get_state_t)looked_up(lookup, "ompt_get_state");
  task_info = (ompt_get_task_info_t)looked_up(lookup, "ompt_get_task_info");
  parallel_info = (ompt_get_parallel_info_t)looked_up(lookup, "ompt_get_parallel_info");
  thread_data = (ompt_get_thread_data_t)looked_up(lookup, "ompt_get_thread_data");
  unique_id = (ompt_get_unique_id_t)looked_up(lookup, "ompt_get_unique_id");
  list_states((ompt_enumerate_states_t)looked_up(lookup, "ompt_enumerate_states"));
  dl_iterate_phdr(note_code, NULL);
  HEAR_OF(thread_begin, sometimes);
  HEAR_OF(thread_end, sometimes);
  HEAR_OF(parallel_begin, sometimes);
  HEAR_OF(parallel_end, sometimes);
  HEAR_OF(implicit_task, sometimes);
  HEAR_OF(task_create, sometimes);
  HEAR_OF(task_schedule, sometimes);
  HEAR_OF(mutex_released, sometimes);
  struct sigaction action = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  pthread_t sampler;
  EXPECT(pthread_create(&sampler, NULL, interrupt_threads, NULL) == 0, "no thread");
  pthread_detach(sampler);
}

static void model_ends(void) {
  printf("hpctoolkit threads=%ld regions=%ld tasks=%ld samples=%ld program=%ld deep=%ld waiting=%ld\n", threads,
         regions, tasks, samples, in_program, deep, waiting);
}
