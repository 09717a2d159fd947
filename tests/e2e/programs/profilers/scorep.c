/* SPDX-License-Identifier: Apache-2.0
 *
 * Score-P's OMPT adapter (version 9, src/adapters/ompt/scorep_ompt_mgmt.c and scorep_ompt_events_host.inc.c). It aborts
 * if one of the first group of callbacks is not promised always, and leaves out others that are not promised as pairs.
 * Regions of a task are on that task's own stacks. Each member of a team has a place, below the place of the team's
 * creator; the place of thread 0 has the creator's location, the others have locations of their own. A location holds
 * the task that last ran on it. At a region's end the location of thread 0 must hold no task: the end of the team's
 * barrier has taken the implicit task away, and no event of another task has come since. A worker's end of the barrier
 * may be late: the next user of its location closes the old task. */
#include "profiler.h"
#include <pthread.h>

static const char* const model_name = "scorep";
enum { kTeam = 64, kDeep = 64, kLocks = 256 };

typedef struct {
  pthread_mutex_t mutex;
  struct Task* task;
} Location;

typedef struct Place {
  Location* location;
  struct Place* _Atomic children[kTeam]; /* made by the child */
} Place;

typedef struct {
  Place* parent;
  unsigned team;
  _Atomic int references;
} Region;

typedef struct Task {
  Region* region;
  Location* location; /* of an implicit task */
  int is_implicit, is_closed, syncs, works, undeferred;
  const void* acquiring;
} Task;

static Location root = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static Place outermost = {.location = &root};
static Region whole;
static Task initial = {.region = &whole, .is_implicit = 1};
static int initial_began;
static _Thread_local int number; /* of the thread, from 1 */
static _Thread_local Place* here;
static _Atomic int threads;
static _Atomic long regions, members, tasks, switches, works, syncs, mutexes, late;
static ompt_get_task_info_t task_info;
static _Atomic ompt_wait_id_t locks[kLocks];
static pthread_mutex_t lock_list = PTHREAD_MUTEX_INITIALIZER;

static void exchange(Location* location, Task* task, Task** before) {
  pthread_mutex_lock(&location->mutex);
  *before = location->task;
  location->task = task;
  pthread_mutex_unlock(&location->mutex);
}

static Task* of(const ompt_data_t* data, const char* event) {
  EXPECT(!is_over && number > 0, "%s %s", event, is_over ? "after the end" : "on a thread that has not begun");
  EXPECT(data != NULL && data->ptr != NULL && !(data->value & 1), "%s of a task that has not begun", event);
  return data->ptr;
}

static Task* current(const char* event) {
  ompt_data_t* data = NULL;
  EXPECT(task_info(0, NULL, &data, NULL, NULL, NULL) == 2, "%s in no task", event);
  return of(data, event);
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t* thread) {
  EXPECT(number == 0, "a thread begins twice");
  number = ++threads;
  thread->value = (uint64_t)number;
  if (type == ompt_thread_initial) here = &outermost;
}

static void on_thread_end(ompt_data_t* thread) {
  EXPECT(thread->value == (uint64_t)number, "thread %lu ends on thread %d", (unsigned long)thread->value, number);
}

static void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* data, unsigned requested,
                              int flags, const void* code) {
  (void)frame, (void)flags;
  of(task, "parallel_begin");
  EXPECT(requested > 0 && requested <= kTeam && code != NULL, "a region of %u threads at %p", requested, code);
  EXPECT(here != NULL, "a region outside of the program's threads");
  if (regions++ == 0) {
    EXPECT(task->ptr == &initial, "the first region is not the initial task's");
    root.task = &initial;
  }
  Region* region = calloc(1, sizeof *region);
  region->parent = here;
  region->team = requested;
  region->references = -1;
  data->ptr = region;
  Task* before;
  exchange(here->location, NULL, &before);
  EXPECT(before != NULL, "nobody was at the location of a region's creator");
}

static void release(Region* region) {
  while (region->references < 0) {
  }
  if (--region->references == 0) free(region);
}

static void on_parallel_end(ompt_data_t* data, ompt_data_t* task, int flags, const void* code) {
  (void)flags, (void)code;
  Region* region = data->ptr;
  Task* before;
  here = region->parent;
  exchange(here->location, of(task, "parallel_end"), &before);
  EXPECT(region->team == 1 || before == NULL, "%s task is at the location when a region of %u ends",
         before->is_implicit ? "an implicit" : "an explicit", region->team);
  release(region);
}

static void close_late(Location* location) {
  pthread_mutex_lock(&location->mutex);
  if (location->task != NULL) {
    location->task->is_closed = 1;
    EXPECT(location->task->syncs == 1, "a late task is in %d synchronisations", location->task->syncs);
    location->task = NULL;
    late++;
  }
  pthread_mutex_unlock(&location->mutex);
}

static Place* below(Place* parent, unsigned index) {
  if (parent->children[index] == NULL) {
    Place* made = calloc(1, sizeof *made);
    made->location = index == 0 ? parent->location : calloc(1, sizeof(Location));
    if (index != 0) pthread_mutex_init(&made->location->mutex, NULL);
    parent->children[index] = made;
  }
  if (index != 0) close_late(parent->children[index]->location);
  return parent->children[index];
}

static void begin_member(Region* region, ompt_data_t* task, unsigned size, unsigned index) {
  EXPECT(region != NULL && region->parent != NULL && size <= region->team && index < size,
         "thread %u of %u in no region that has begun", index, size);
  if (index == 0) {
    region->team = size;
    region->references = (int)size + 1;
  }
  here = below(region->parent, index);
  Task* member = calloc(1, sizeof *member);
  member->region = region;
  member->location = here->location;
  member->is_implicit = 1;
  task->ptr = member;
  Task* before;
  exchange(here->location, member, &before);
  EXPECT(before == NULL, "the location of thread %u of %u is in use", index, size);
  members++;
}

static void end_member(ompt_data_t* task, unsigned index) {
  Task* member = of(task, "implicit_task");
  EXPECT(member->works == 0 && member->syncs == 0, "an implicit task ends in %d worksharing constructs, %d waits",
         member->works, member->syncs);
  release(member->region);
  task->ptr = NULL;
  free(member);
  if (index != 0) here = NULL;
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task, unsigned size,
                             unsigned index, int flags) {
  EXPECT(!is_over && number > 0, "an implicit task on a thread that has not begun");
  if (flags & ompt_task_initial) {
    EXPECT(endpoint == ompt_scope_end || (!initial_began && region != NULL), "an initial task more, or without region");
    initial_began = 1;
    if (endpoint == ompt_scope_begin) region->ptr = &whole;
    if (endpoint == ompt_scope_begin) task->ptr = &initial;
    EXPECT(task->ptr == &initial, "another initial task ends");
  } else if (endpoint == ompt_scope_begin) {
    begin_member(region->ptr, task, size, index);
  } else {
    end_member(task, index);
  }
}

/* The end of the barrier at a region's end. */
static void leave_team(Task* member) {
  pthread_mutex_lock(&member->location->mutex);
  int is_mine = member->location->task == member;
  if (is_mine) member->location->task = NULL;
  pthread_mutex_unlock(&member->location->mutex);
  EXPECT(is_mine || member->is_closed, "another task is at the location of an implicit task that ends");
}

static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region,
                           ompt_data_t* data, const void* code) {
  (void)code;
  Task* task = of(data, "sync_region");
  if (endpoint == ompt_scope_begin) {
    EXPECT(task->syncs < kDeep, "%d waits in one another", task->syncs);
    task->syncs++;
    syncs++;
    return;
  }
  if (kind == ompt_sync_region_barrier_implicit || kind == ompt_sync_region_barrier_implicit_parallel) {
    if (kind == ompt_sync_region_barrier_implicit && region != NULL) kind = ompt_sync_region_barrier_implicit_workshare;
    EXPECT(kind == ompt_sync_region_barrier_implicit_workshare || region == NULL, "the last barrier has its region");
    if (region == NULL) leave_team(task);
  }
  EXPECT(task->syncs > 0, "wait %d ends that has not begun", (int)kind);
  task->syncs--;
}

static void enter(ompt_scope_endpoint_t endpoint, ompt_data_t* data, int count, const char* what) {
  Task* task = of(data, what);
  EXPECT(endpoint == ompt_scope_begin || task->works >= count, "%s ends that has not begun", what);
  task->works += endpoint == ompt_scope_begin ? count : -count;
  works++;
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task,
                    uint64_t count, const void* code) {
  (void)region, (void)count, (void)code;
  if (kind == ompt_work_distribute || kind == ompt_work_scope) return;
  enter(endpoint, task, kind == ompt_work_single_executor ? 2 : 1, "work");
}

static void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task, const void* code) {
  (void)region, (void)code;
  enter(endpoint, task, 1, "masked");
}

static void on_dispatch(ompt_data_t* region, ompt_data_t* task, ompt_dispatch_t kind, ompt_data_t instance) {
  (void)region;
  Task* one = of(task, "dispatch");
  if (kind == ompt_dispatch_section) EXPECT(one->works > 0 && instance.ptr != NULL, "a section outside of sections");
}

/* A task's word from its creation to its first event: odd. */
enum { kNew = 1, kUndeferred = 2 };

static void on_task_create(ompt_data_t* parent, const ompt_frame_t* frame, ompt_data_t* data, int flags, int depends,
                           const void* code) {
  (void)frame, (void)depends;
  Task* creator = of(parent, "task_create");
  EXPECT(code != NULL, "a task without an address");
  tasks++;
  if (flags & ompt_task_merged) {
    data->ptr = creator;
  } else if (flags & ompt_task_taskwait) {
    data->value = kUndeferred;
  } else {
    int thread = -1;
    EXPECT(task_info(0, NULL, NULL, NULL, NULL, &thread) == 2, "a task is created in no task");
    EXPECT(creator->region == &whole || (thread >= 0 && (unsigned)thread < creator->region->team),
           "thread %d of a team of %u creates a task", thread, creator->region->team);
    data->value = flags & ompt_task_undeferred ? kNew | kUndeferred : kNew;
  }
}

static Task* begin_task(ompt_data_t* data, Task* prior) {
  if (data->value & kUndeferred) { /* it has no events of its own there */
    prior->undeferred++;
    return data->ptr = prior;
  }
  Task* task = calloc(1, sizeof *task);
  task->region = prior->region;
  return data->ptr = task;
}

static void end_task(Task* task) {
  if (task->undeferred > 0) {
    task->undeferred--;
    return;
  }
  EXPECT(!task->is_implicit, "an implicit task completes");
  EXPECT(task->works == 0 && task->syncs == 0, "a task ends in %d constructs, %d waits", task->works, task->syncs);
}

static void on_task_schedule(ompt_data_t* prior_data, ompt_task_status_t status, ompt_data_t* next_data) {
  if (status == ompt_task_early_fulfill || status == ompt_task_late_fulfill || status == ompt_taskwait_complete) return;
  Task* prior = of(prior_data, "task_schedule (prior)");
  EXPECT(status == ompt_task_complete || status == ompt_task_detach || status == ompt_task_switch ||
             status == ompt_task_yield,
         "status %d", (int)status);
  int ends = status == ompt_task_complete || status == ompt_task_detach;
  int was_undeferred = prior->undeferred > 0;
  if (ends) end_task(prior);
  EXPECT(next_data != NULL && next_data->ptr != NULL, "no next task, status %d", (int)status);
  Task* next = next_data->value & kNew ? begin_task(next_data, prior) : of(next_data, "task_schedule (next)");
  switches++;
  EXPECT(here != NULL, "a task on a thread in no region");
  Task* before;
  if (next != prior) exchange(here->location, next, &before);
  if (ends && !was_undeferred) free(prior);
}

static void on_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait, const void* code) {
  (void)hint, (void)impl, (void)kind;
  Task* task = current("mutex_acquire");
  task->acquiring = code;
  EXPECT(wait != 0, "a mutex without an identifier");
}

static void find_lock(ompt_wait_id_t wait) {
  for (int i = 0; i < kLocks; i++) {
    if (locks[i] == wait) return;
  }
  EXPECT(0, "lock %lx has not been initialised", (unsigned long)wait);
}

static void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait, const void* code) {
  (void)code;
  Task* task = current("mutex_acquired");
  if (kind < ompt_mutex_critical) find_lock(wait);
  if (kind == ompt_mutex_critical) EXPECT(task->acquiring != NULL, "a critical region that was not asked for");
  task->acquiring = NULL;
  mutexes++;
}

static void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait, const void* code) {
  (void)code;
  current("mutex_released");
  if (kind < ompt_mutex_critical) find_lock(wait);
}

static void on_lock_init(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait, const void* code) {
  (void)kind, (void)hint, (void)impl, (void)code;
  current("lock_init");
  pthread_mutex_lock(&lock_list);
  int i = 0;
  while (i < kLocks && locks[i] != 0 && locks[i] != wait) i++;
  EXPECT(i < kLocks, "too many locks for this model");
  locks[i] = wait;
  pthread_mutex_unlock(&lock_list);
}

static void on_lock_destroy(ompt_mutex_t kind, ompt_wait_id_t wait, const void* code) {
  (void)kind, (void)code;
  current("lock_destroy");
  find_lock(wait);
}

static void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait, const void* code) {
  (void)endpoint, (void)code;
  current("nest_lock");
  find_lock(wait);
}

static void on_flush(ompt_data_t* thread, const void* code) {
  (void)code;
  EXPECT(thread != NULL && thread->value == (uint64_t)number, "a flush on another thread");
}

static void model_starts(ompt_function_lookup_t lookup) {
  task_info = (ompt_get_task_info_t)looked_up(lookup, "ompt_get_task_info");
  HEAR_OF(thread_begin, always);
  HEAR_OF(thread_end, always);
  HEAR_OF(parallel_begin, always);
  HEAR_OF(parallel_end, always);
  HEAR_OF(task_create, always);
  HEAR_OF(task_schedule, always);
  HEAR_OF(implicit_task, always);
  HEAR_OF(sync_region, sometimes_paired);
  HEAR_OF(mutex_acquire, sometimes_paired);
  HEAR_OF(mutex_acquired, sometimes_paired);
  HEAR_OF(mutex_released, sometimes_paired);
  HEAR_OF(lock_init, sometimes_paired);
  HEAR_OF(lock_destroy, sometimes_paired);
  HEAR_OF(nest_lock, sometimes_paired);
  HEAR_OF(work, sometimes_paired);
  HEAR_OF(dispatch, sometimes_paired);
  HEAR_OF(masked, sometimes_paired);
  HEAR_OF(flush, sometimes_paired);
}

static void model_ends(void) {
  printf("scorep threads=%d regions=%ld members=%ld tasks=%ld switches=%ld work=%ld syncs=%ld mutexes=%ld late=%ld\n",
         threads, regions, members, tasks, switches, works / 2, syncs, mutexes, late);
}
