/* SPDX-License-Identifier: Apache-2.0
 *
 * Marline's face for libraries that drive devices, as libmarline-target does and others can: target regions, deferred
 * constructs whose operations go on behind the end of their task, devices for code of GCC, and target tasks that are
 * taken when they are created. Programs do not need it: see marline.h, whose conventions hold here, too.
 */
#ifndef MARLINE_DEVICES_H
#define MARLINE_DEVICES_H

#include <marline/marline.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Target regions --------------------------------------------------------------------------------------------------- */

/* For libraries that run target regions, as libmarline-target does (OpenMP 5.2, section 13.8). */
typedef struct marline_target_region {
  void (*body)(void* data);
  void* data;
  int device;       /* what omp_get_device_num returns inside; the caller's own number of this device */
  int thread_limit; /* of the clause; 0: none */
  uint64_t kernel;  /* where its code is, for a device whose threads share cores with others: parallel regions without a
                       num_threads clause have one thread while that takes less time. 0: they keep their threads */
} marline_target_region_t;

/* Runs region->body on the calling thread as the initial task of a team of its own, with the initial control variables,
 * and waits for the tasks that it creates. It may suspend, like any task. */
void marline_target_region_run(const marline_target_region_t* region);

/* For a library that makes several devices of this process's CPUs: from now on the calling thread, and the threads of
 * all regions that it opens, run on these CPUs only, bit i of the mask being CPU i as sched_setaffinity counts, and
 * target regions there begin with `threads` (at least 1) as their number of threads. OMP_PLACES and OMP_PROC_BIND have
 * no effect there; omp_get_num_procs counts these CPUs. Returns 0, or an errno if the system refuses; then nothing has
 * changed. */
int marline_thread_share(const unsigned long* cpus, size_t words, int threads);

/* Like marline_task_hold, for an operation that goes on behind the end of the calling task: NULL if the task is
 * anything but a target task with `nowait` whose body ends with this operation (Clang's), if its creator waits for it,
 * or if it has private objects that are destroyed at the end of its body, or takes part in a reduction. The task's
 * other private data stays until the release. */
marline_task_t* marline_target_task_hold(void);

/* As marline_can_suspend, of a task that runs a region; but 0 if it takes part in a reduction. The copy of the variable
 * is the thread's: other tasks there would add to it while the region has it on the device. (For GCC's code the runtime
 * sees to that itself.) */
int marline_target_can_suspend(void);

/* A region of Clang's code is about to run in the calling task, and maps what lies at these addresses. If it takes part
 * in a task reduction and is not deferred, waits until no other such region runs, as that code gives them all the
 * variable itself, and returns nonzero. Then this region is the only one until marline_target_region_ends; or to the
 * end of its task, if it is not called because the region runs on the host. May suspend. */
int marline_target_region_reduces(void* const* addresses, int count);
void marline_target_region_ends(void);

/* The calling task is about to change by itself what is mapped. If it is in an iteration that the library does as a
 * whole
 * (`renews`), that ends here: all of its regions so far have ended at the return. May suspend. */
void marline_target_data_begins(void);

/* While `handle` is not NULL, what LLVM's libomptarget asks of the OpenMP runtime on the calling thread gets this
 * answer: the current task can be put aside, and *handle is the word of the operations that it starts. Set it right
 * around a call into libomptarget; the thread must not suspend in between. */
void marline_target_handle_set(void** handle);

/* For the target region that the calling task is about to run, of Clang's code: what marline_task_node has said for it,
 * which is used up; 0: nothing. */
int marline_target_node(void);

/* Waiting ---------------------------------------------------------------------------------------------------------- */

/* The operations of the hook are long as a rule. An idle thread that polls for such operations alone leaves its core
 * now and then, also where no other thread wants it: after 1.6 ms in vain for 1/32 of that time, 50 to 200
 * microseconds; with 16 operations or more, after 100 microseconds for half of that time. New work ends the rest. For a
 * hook that has been registered, before its first operation. */
void marline_progress_may_rest(marline_hook_t* hook);

/* For a thread that waits and cannot suspend: calls the hooks that have operations pending, unless another thread is at
 * it or MARLINE_PROGRESS forbids that idle threads poll. Returns how many operations they found finished. */
int marline_progress_poll(void);

/* 1: this node has more processes of the job than CPUs for them, so who waits should give its core away. Else 0. */
int marline_shares_cores(void);

/* Rectangular copies ----------------------------------------------------------------------------------------------- */

/* What omp_target_memcpy_rect copies (OpenMP 5.2, 18.8.6): a box of `volume` elements of `element` bytes, whose place
 * in each of two arrays the offsets and extents say; arrays of `dimensions` numbers, the outermost first. */
#define MARLINE_RECTANGLE_DIMENSIONS 16
typedef struct marline_rectangle {
  size_t element;
  int dimensions; /* 1 to MARLINE_RECTANGLE_DIMENSIONS */
  const size_t* volume;
  const size_t* to_offsets;
  const size_t* from_offsets;
  const size_t* to_extents;
  const size_t* from_extents;
} marline_rectangle_t;

/* Calls `copy` for each run of bytes that lie side by side in both arrays, with their distances from the arrays'
 * begins. Any thread. */
void marline_rectangle_runs(const marline_rectangle_t* rectangle,
                            void (*copy)(void* data, size_t to_offset, size_t from_offset, size_t bytes), void* data);

/* Events for tools ------------------------------------------------------------------------------------------------- */

/* A library that drives devices tells the runtime what they do, and the runtime tells a tool (OMPT; OpenMP 5.2,
 * sections 19.5.2.19 to 19.5.2.28, and 19.6.2 for the buffers). This word says what a tool wants to hear of, and is 0
 * where there is none: look at it before each call below, which then costs two loads and a branch. All bits are set
 * until the runtime starts, which each of these calls makes it do. The address never changes. */
#define MARLINE_ON_CONSTRUCT (1u << 21)
#define MARLINE_ON_DATA (1u << 22) /* operations that are no kernels */
#define MARLINE_ON_KERNEL (1u << 23)
#define MARLINE_ON_MAP (1u << 24)
#define MARLINE_ON_DEVICE (1u << 25)
#define MARLINE_ON_TIMES (1u << 26) /* when operations begin and end on the device */
#define MARLINE_ON_ANYTHING (63u << 21)
#define MARLINE_ON_SCHEDULE (1u << 4) /* not of devices: threads turn to tasks and leave them */
/* No event: a tool listens to constructs by ompt_callback_target alone, which does not say what target task a construct
 * is the body of. Such a tool takes it for that of the task that the thread runs. */
#define MARLINE_ON_BY_TASK (1u << 28)
const uint32_t* marline_device_events(void);

/* A device construct from its begin to its end, which may be on another thread: the storage is the library's meanwhile.
 * All zero but for what the library knows before marline_construct_begin. */
typedef struct marline_construct {
  int kind; /* ompt_target_t: 1 target, 2 enter data, 3 exit data, 4 update; 8 more with nowait */
  int device;
  const void* code;   /* an address in the program behind the construct's call */
  uint64_t id;        /* from here on the runtime's; may be the tool's own word */
  uint64_t operation; /* the newest operation's */
  void *task, *target_task;
} marline_construct_t;

/* By the task that runs the construct: the target task, if there is one. */
void marline_construct_begin(marline_construct_t* construct);
void marline_construct_end(marline_construct_t* construct);
/* By that task, if the construct goes on behind what the task does for it: from then on the task is in no construct,
 * and any thread may end this one. */
void marline_construct_leave(marline_construct_t* construct);
/* The same for the construct of a claimed task (below), which no thread runs: any thread may begin and end it. */
struct marline_claimed;
void marline_construct_begin_claimed(marline_construct_t* construct, const struct marline_claimed* task);

#define MARLINE_HOST (-1) /* as a device of an operation */

/* A kernel, a copy, or something that is done to a device's memory. */
typedef struct marline_operation {
  marline_construct_t* construct; /* that it is a part of, and has begun; NULL: of none */
  int kind;                       /* ompt_target_data_op_t; 0: a kernel */
  int device;                     /* that does it */
  const void *from, *to;
  int from_device, to_device;
  size_t bytes;
  unsigned teams;      /* that the program asks for; 0: it does not say */
  const void* code;    /* as in the construct */
  uint64_t begin, end; /* when the device did it: nanoseconds of CLOCK_MONOTONIC */
  uint64_t id;         /* the runtime's; may be the tool's own word */
} marline_operation_t;

/* Before it is started, when that is done (the device may still be at it), and when it has ended, with its times. */
void marline_operation_begin(marline_operation_t* operation);
void marline_operation_end(marline_operation_t* operation);
void marline_operation_done(const marline_operation_t* operation);

/* What a device did, or waited for, that is neither a kernel nor a copy: a native record of its trace (OpenMP 5.2,
 * section 19.6.2). `kind`: of ompt_native_mon_flag_t; the times as in an operation. `what`: static storage. Where
 * MARLINE_ON_TIMES is set. */
#define MARLINE_ACTIVITY_OVERHEAD 0x40
#define MARLINE_ACTIVITY_IDLENESS 0x80
void marline_device_activity(int device, int kind, const char* what, uint64_t begin, uint64_t end);

/* What the construct's clauses map, one element of each array per item; flags: ompt_target_map_flag_t. */
void marline_construct_maps(marline_construct_t* construct, unsigned count, void** host, void** device, size_t* bytes,
                            unsigned* flags);

/* A device is ready for its first operation; `type` is a static string, `host` the number that the host has. It gets an
 * image: where that lies in this process, and the library's number of it. It has given up that image. It will do
 * nothing any more. */
void marline_device_begin(int device, const char* type, int host);
void marline_device_load(int device, const void* image, size_t bytes, uint64_t module);
void marline_device_unload(int device, uint64_t module);
void marline_device_end(int device);

/* The calling process has no tool from now on: for a fork of the program that becomes a device. */
void marline_tool_leave(void);

/* Devices for code of GCC ------------------------------------------------------------------------------------------ */

/* A library that has devices, as libmarline-target does, gives them to code of GCC that was built without a compiler
 * for devices: what such code passes to libgomp's entry points is passed on. The runtime does this only if
 * MARLINE_DEVICES names devices. All functions may be called from any thread and may suspend the calling task. */

/* What the clauses of one construct say, one element of each array per item. The meaning of addresses, sizes and kinds
 * is GCC's (include/gomp-constants.h, enum gomp_map_kind): the low byte of a kind, and from bit 8 on the logarithm of
 * the alignment. The arrays are the caller's, until the call returns. */
typedef struct marline_device_maps {
  size_t count;
  void** addresses;
  const size_t* sizes;
  const unsigned short* kinds;
  const void* code; /* for tools: where the construct stands, and whether it is the body of a task of its own */
  int nowait;
  int node; /* of a region: marline_task_node's; 0: none */
  /* Of a region: where the program has what the addresses name. Others than the addresses where an element is the
   * region's own copy, as it was at the construct: firstprivate variables, and of Fortran's arrays and loops the
   * pointers (GOMP_MAP_POINTER), the descriptors with the pointers in them, and bounds. NULL: of the data constructs.
   */
  void* const* originals;
} marline_device_maps_t;

/* What a library that wraps MPI gives a provider whose devices are on the nodes of other ranks. */
typedef struct marline_ranks {
  int rank, count; /* in MPI_COMM_WORLD */
  /* Collective: brings `bytes` from each rank's `own` to all ranks' `all`, in the order of the ranks. */
  void (*gather)(const void* own, void* all, size_t bytes);
} marline_ranks_t;

/* `device` is what GCC passes: a number from 0 on, -1 for the default device, -2 for the host. A number that is none of
 * these ends the program, and so does the host where it must not be taken (OMP_TARGET_OFFLOAD=mandatory). */
typedef struct marline_device_provider {
  size_t bytes; /* sizeof(marline_device_provider_t) in the library: later versions add fields at the end */
  /* Starts the devices that want the process as it is before main. May be called again, which does nothing. */
  void (*start)(void);
  int (*count)(void);
  /* Runs function(addresses), where the addresses are the device's, in an array in the device's memory, and returns
   * when it has run. Firstprivate items are copied. 0: nothing has been done, since the caller is to run it on the
   * host. */
  int (*region)(int device, void (*function)(void*), const marline_device_maps_t* maps, int thread_limit);
  /* target data. Addresses with the kind USE_DEVICE_PTR are replaced by the device's. The result is for data_end, once;
   * NULL: the device is the host, and there is nothing to end. */
  void* (*data_begin)(int device, const marline_device_maps_t* maps);
  void (*data_end)(void* data);
  /* target update, target enter data, target exit data. */
  void (*update)(int device, const marline_device_maps_t* maps);
  void (*enter_data)(int device, const marline_device_maps_t* maps);
  void (*exit_data)(int device, const marline_device_maps_t* maps);
  /* The default device, while the program has set none: a number from 0 on, -1 for the host, -2 for none. `wish`: the
   * text of OMP_DEFAULT_DEVICE (OpenMP 6.0, section 4.3.8) if it is more than a number; NULL if it is not given. */
  int (*default_device)(const char* wish);
  /* Memory of the host that devices copy from and to while the caller goes on, for allocators with the trait `pinned`.
   * It begins on a page and is not cleared. NULL: no device has any, or not that much. Released by any thread. */
  void* (*allocate_pinned)(size_t bytes);
  void (*release_pinned)(void* memory);
  /* The ranks of an MPI program meet: see marline_ranks_meet. */
  void (*meet)(const marline_ranks_t* ranks);
  /* How many nodes the cluster has that is one of the devices; 0: there is none. For marline_task_node. NULL: never. */
  int (*nodes)(void);
} marline_device_provider_t;

/* Makes the table the process's; it stays valid to the end. 0; -1: there is another one already, or the table is that
 * of an older version. */
int marline_devices_provide(const marline_device_provider_t* provider);

/* Whether the program's main has begun, so that `start` is not called before it any more. 0 as well where libmarline
 * stands behind the C library in the loader's order, and so is not asked to start the program. */
int marline_main_has_begun(void);

/* In MPI_Init, by every rank, when MPI can be called: passed on to the provider, if MARLINE_DEVICES names devices. The
 * provider may call `gather`, in all ranks as often. */
void marline_ranks_meet(const marline_ranks_t* ranks);

/* Target tasks as they are created --------------------------------------------------------------------------------- */

/* A library whose devices can be given tasks before their predecessors have ended sees each target task (a target
 * construct with nowait) when it is created, and may claim it. A claimed task is in no queue, has no thread, and its
 * code is not run: the library does its work, knows what stands before it, and says when it has ended. For all other
 * tasks it is one like any other: they wait for it as for others, and so do taskwait, taskgroup and barriers.
 *
 * A claimed task comes by these calls, in this order, each once: `created`; `ordered`; `others_ended`, if `ordered`
 * said that there are others; `ready`. Then the library calls marline_claimed_end, or leaves the task to the runtime
 * (marline_claimed_run). Different tasks' calls come from different threads at the same time. */
typedef struct marline_claimed marline_claimed_t;

typedef enum marline_target_form {
  MARLINE_TARGET_ENTRY,  /* of Clang's code: `entry` and `block`; whatever the construct is */
  MARLINE_TARGET_REGION, /* from here on of GCC's code: `maps`, and for a region `function` and `thread_limit` */
  MARLINE_TARGET_UPDATE,
  MARLINE_TARGET_ENTER_DATA,
  MARLINE_TARGET_EXIT_DATA
} marline_target_form_t;

/* What `created` is told, valid during the call but for what says otherwise. */
typedef struct marline_target_task {
  size_t bytes;              /* sizeof(marline_target_task_t) in the runtime: later versions add fields at the end */
  marline_claimed_t* handle; /* of the task, until it has been ended, if it is claimed */
  uint64_t number;           /* counts the tasks that are told in this process, from 1 on */
  marline_target_form_t form;
  int64_t device; /* as the compiler passes it; Clang's entry passes it once more, and that is what counts */
  int32_t (*entry)(int32_t thread,
                   void* block); /* runs the construct; `block` is valid until the task has been ended */
  void* block;
  int32_t thread; /* the calling thread's number, as `entry` takes it */
  void (*function)(void*);
  marline_device_maps_t maps; /* its arrays, and copies of private variables, are valid until the task has been ended */
  int thread_limit;
  const marline_dependence_t* dependences; /* omp_all_memory: a NULL address */
  size_t dependence_count;
  int32_t priority;               /* as it is scheduled by; see `raised` */
  const char* name;               /* marline_task_name's, or NULL; valid until the task has been ended */
  const void* code;               /* an address in the program behind the construct's call */
  int in_graph;                   /* 1: in an iteration of a persistent graph */
  int node;                       /* marline_task_node's; 0: none */
  const size_t* dependence_bytes; /* of each dependence's list item, 0: not known; NULL: of none (GCC's code) */
  uint64_t graph;                 /* not 0: of an iteration that has been told, see `iterates` */
  uint64_t step;                  /* its place there, from 0 on */
} marline_target_task_t;

typedef enum marline_wait_kind {
  MARLINE_WAIT_TASKWAIT = 1,
  MARLINE_WAIT_DEPENDENCES, /* taskwait with depend clauses, and tasks that are not deferred */
  MARLINE_WAIT_TASKGROUP,
  MARLINE_WAIT_BARRIER,
  MARLINE_WAIT_THROTTLE, /* too many tasks are under way: MARLINE_MAX_TASKS, MARLINE_MAX_BYTES */
  MARLINE_WAIT_FOR_WORK  /* the thread has found no task that it could run, or a task yields */
} marline_wait_kind_t;

/* A variable of a task reduction (OpenMP 5.2, section 5.5.9), and what stands for it in the tasks that the library
 * sees. */
typedef struct marline_reduction {
  void*
      variable; /* or an enclosing task's copy: what Clang's entries (16 to 22) pass to their construct all the same */
  void* copy;   /* has the reduction's initial value; one for all these tasks of the taskgroup */
  size_t bytes;
  void (*combine)(void* into, void* from); /* the program's; changes nothing but *into */
} marline_reduction_t;

/* None of these functions but the last one may suspend, wait, create or end tasks, or open a parallel region. All but
 * `created` may be NULL. */
typedef struct marline_target_observer {
  size_t bytes; /* sizeof(marline_target_observer_t) in the library: later versions add fields at the end */
  /* By the thread that creates the task. Not told: tasks of final tasks, and of if(0), which are not deferred; those
   * that something else completes (a detach clause, and proxy tasks of LLVM's interface); in a persistent graph,
   * members of a mutexinoutset, tasks while priorities are passed on, and of iterations that are repeated, those behind
   * tasks that are not claimed. The result claims the task, and is what the library knows it by; NULL: the task is not
   * claimed, and runs as if there were no observer. Here alone user code may be called. */
  void* (*created)(const marline_target_task_t* task);
  /* Right behind, by the same thread. What stands before the task and had not ended when it was looked at: the numbers
   * of claimed tasks, which may have been ended meanwhile, and how many others there are: tasks on the host, and target
   * tasks that were not claimed. A predecessor that stands before another one may be left out. A claimed member of a
   * mutexinoutset comes behind the members that were created before it, and before those that are created later.
   * `numbers` is valid during the call. */
  void (*ordered)(void* claimed, const uint64_t* numbers, size_t count, size_t others);
  /* Those others have ended. By any thread. */
  void (*others_ended)(void* claimed);
  /* All of its predecessors have ended. By any thread, perhaps in a call that ends one of them. If the task has been
   * cancelled (marline_claimed_is_cancelled), its work need not be done; it is ended all the same. */
  void (*ready)(void* claimed);
  /* A task begins to wait, for claimed tasks among others perhaps; or a thread, for tasks. By that thread. A task that
   * has been created stays without any of these calls only as long as its creator's thread runs the program's code, or
   * waits for something that is none of the runtime's. */
  void (*waits)(marline_wait_kind_t kind);
  /* Tasks have been cancelled that have not been started; which, marline_claimed_is_cancelled says. By any thread. */
  void (*cancels)(void);
  /* The priority of a claimed task, which may have been ended meanwhile, has been raised (MARLINE_PRIORITY). Any
   * thread. This, and `ordered` of other tasks that names this one, may come before its own `ordered`. The runtime may
   * hold a lock: be short, and call nothing of the runtime's. */
  void (*raised)(uint64_t number, int32_t priority);
  /* A claimed task that was left to the runtime (marline_claimed_run) has ended, and `ordered` names it no more, but
   * for calls under way. Not told: tasks without dependences, which nothing is behind. Any thread. */
  void (*ended)(uint64_t number);
  /* Persistent graphs, by the producer's thread. An iteration begins. It repeats the one before, all of whose tasks are
   * target tasks and were claimed: task k of it (`step`) has the code, the depend clauses and the predecessors of task
   * k there. `ordered` names all of these, in this iteration and in the one before, also those that have ended.
   * `is_behind`: all tasks of the one before have ended. */
  void (*iterates)(uint64_t graph, int is_behind);
  /* Tasks from here on are no part of it: the next one is about to begin, or something comes that was not there before.
   */
  void (*iterated)(uint64_t graph);
  /* There is no other iteration. */
  void (*graph_ends)(uint64_t graph);
  /* A task that is not claimed, or a thread (taskwait with depend clauses), has been put behind this claimed one, which
   * may have been ended meanwhile: the program wants to hear of its end as soon as possible. It need not hear so of
   * tasks that only claimed ones are behind. Else as `raised`. */
  void (*awaited)(uint64_t number);
  /* Behind `iterates`, of a graph with MARLINE_GRAPH_REPLAY: all tasks of the iteration have the firstprivate data,
   * too, that they had in the one before. Nonzero: the library does the iteration as a whole; none of its tasks is told
   * of, and `iterated` is not called. 0: they come one by one. `all` is a claimed task with that number, which nothing
   * is before. It stands for the iteration: the library ends it when all tasks have ended, or, with 0, when it likes.
   * Not called while there is a tool, which would not hear of them. By the producer's thread; here `all` may be ended
   * at once. */
  int (*repeats)(uint64_t graph, marline_claimed_t* all, uint64_t number);
  /* Likewise, in other modes, before the iteration's code runs: its tasks may have other firstprivate data. Nonzero:
   * each is told by `again` instead of `created` and all that comes behind that, in their order, and is no task; `all`
   * ends when all of these have ended, not before `iterated`. 0: they come one by one. Once `again` has answered 0, not
   * called again under this number: the graph is recorded anew, and is offered again after some iterations. */
  int (*renews)(uint64_t graph, marline_claimed_t* all, uint64_t number);
  /* What is told is as in `created`, without `handle`, `number`, priority, name and dependences. Nonzero: the library
   * does it. 0: it does not, nor what comes behind it, and `iterated` comes next. Then the producer waits for `all`,
   * and goes on with tasks that are told as ever. */
  int (*again)(const marline_target_task_t* task);
  /* While `created` calls the entry of a task that takes part in a reduction, and only then: for each variable. NULL:
   * such entries must not be called. What the task does with it is the library's, which must not write the copy before:
   */
  void (*reduces)(const marline_reduction_t* reduction);
  /* The taskgroup of this copy has ended. Nonzero: the copy has now what all the claimed tasks have together. 0: none
   * of them has done anything. From then on the copy is gone. By the thread of the group's owner; may suspend it. */
  int (*reduced)(void* copy);
} marline_target_observer_t;

/* The process's only observer, from now on to its end: tasks that exist already are not told. 0; -1: there is one
 * already, or `created` is NULL, or `bytes` is that of an older version. While there is none, a task costs a load and a
 * branch more at most. */
int marline_target_tasks_observe(const marline_target_observer_t* observer);

/* The task has ended, and nothing of the library's uses its data any more. Once `ready` has been called for it, not
 * before, and not from within that call; before a predecessor has ended it ends the program. Any thread, also in a
 * progress hook. What comes behind the task and can start is queued during the call. Private objects with destructors
 * are destroyed by a thread of the team first. */
void marline_claimed_end(marline_claimed_t* task);

/* For tools: the library has the task's work in hand, and will end it (marline_claimed_end). They hear of it as of a
 * task that a thread begins and leaves to an event (OpenMP 5.2, section 12.5.2): ompt_task_detach now,
 * ompt_task_late_fulfill at the end. Once, from `ready` on, also within that call; of a task that is not told so they
 * hear nothing before its end. */
void marline_claimed_detach(marline_claimed_t* task);

/* In place of marline_claimed_end, by the same rules: the runtime runs the task as if it had not been claimed, for a
 * library that finds that it cannot do the work. `ordered` goes on to name it as a claimed task to those behind it,
 * until `ended`. */
void marline_claimed_run(marline_claimed_t* task);

/* By a task: the handle that `created` was told of it, also if it was not claimed. NULL: it is no target task, or
 * `created` was not told of it. While it runs, no other task has this handle; later ones may. */
marline_claimed_t* marline_target_task_told(void);

/* Whether the task has been cancelled. Any thread, until the task is ended. A load, while nothing is cancelled. */
int marline_claimed_is_cancelled(const marline_claimed_t* task);

/* What the devices are --------------------------------------------------------------------------------------------- */

/* These functions are libmarline-target.so's. All may be called from any thread; none starts a device. */

/* Texts stay valid to the end of the process; they are empty, and numbers 0 or -1, where a fact is not known. */
typedef struct marline_device_facts {
  size_t bytes;     /* the caller's: sizeof(marline_device_facts_t); later versions add fields at the end */
  const char* kind; /* of MARLINE_DEVICES: "host", "process", "libomptarget" */
  const char* name; /* the product's */
  const char* uid;  /* as omp_get_uid_from_device gives it */
  const char* arch; /* arch, isa and vendor: OpenMP's traits, e.g. "nvptx64", "sm_90", "nvidia" */
  const char* isa;
  const char* vendor;
  uint64_t memory; /* bytes */
  int units;       /* multiprocessors of a GPU, hardware threads of a processor */
  int numa_domain; /* the nearest of the host's memory, by the system's number; -1: not known, or no difference */
} marline_device_facts_t;

/* Tells of the device with this number, from 0 on. 0; -1: it is the host or no device, or `facts->bytes` is too small,
 * and *facts is as before. */
int marline_device_describe(int device, marline_device_facts_t* facts);

/* For tools that list devices: from now on this process counts as a program with code for all of them. To be called
 * before the first question about devices, in a process that runs no target region. */
void marline_device_assume_all(void);

/* Why libomptarget has no devices for this process, in one line; "" if it has some, or was not asked for any. */
const char* marline_device_why_no_gpus(void);

/* Messages -------------------------------------------------------------------------------------------------------- */

/* Why the system has refused a thread or a process, for a message of a library's own: writes at most `bytes` bytes to
 * `text`, with the null byte, and returns it. `error`: what pthread_create returned, or errno after fork, to be asked
 * right after it; `stack_bytes`: the thread's stack, 0 where nobody has said. Tells the limits on threads (of the user,
 * of a control group) from a lack of memory, for which the system has the same error. Any thread. */
const char* marline_describe_refusal(int error, size_t stack_bytes, char* text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
