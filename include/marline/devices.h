/* SPDX-License-Identifier: Apache-2.0
 *
 * Marline's interface for libraries that drive devices, as libmarline-target does and others can: target regions,
 * deferred constructs with operations that go on after the end of their task, devices for code of GCC, and target tasks
 * that the library claims when they are created. Programs do not need it. The conventions of marline.h hold here, too.
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
  int device;       /* what omp_get_device_num returns in the region: the caller's own number of this device */
  int thread_limit; /* value of the clause; 0: there is none */
  /* Where its code is, for a device with threads that share cores with other threads: parallel regions without a
   * num_threads clause have one thread while that takes less time. 0: they keep their threads. */
  uint64_t kernel;
} marline_target_region_t;

/* Runs region->body on the calling thread as the initial task of a team of its own, with the initial control
 * variables, and waits for the tasks that the region creates. It may suspend, like any task. */
void marline_target_region_run(const marline_target_region_t* region);

/* For a library that makes several devices of this process's CPUs. From now on the calling thread, and the threads
 * of all regions that it opens, run on these CPUs only (bit i of the mask is CPU i, as sched_setaffinity counts),
 * and target regions there begin with `threads` (at least 1) as their number of threads. OMP_PLACES and
 * OMP_PROC_BIND have no effect there; omp_get_num_procs counts these CPUs. Returns 0, or an errno if the system
 * refuses; then nothing has changed. */
int marline_thread_share(const unsigned long* cpus, size_t words, int threads);

/* Like marline_task_hold, for an operation that goes on after the end of the calling task. Returns NULL unless the
 * task is a target task with `nowait`, and its body ends with this operation (Clang's). Also returns NULL if the
 * task's creator waits for it, if it has private objects that are destroyed at the end of its body, or if it takes
 * part in a reduction. The task's other private data stays valid until the release. */
marline_task_t* marline_target_task_hold(void);

/* The same as marline_can_suspend, for a task that runs a region; but 0 if the task takes part in a reduction. The
 * copy of the reduction variable belongs to the thread: other tasks on the thread would add to it while the region
 * has it on the device. (For GCC's code the runtime sees to that itself.) */
int marline_target_can_suspend(void);

/* A region of Clang's code is about to run in the calling task, and maps what is at these addresses. If the region
 * takes part in a task reduction and is not deferred, the call waits until no other such region runs, because
 * Clang's code gives all of them the variable itself, and returns nonzero. Then this region is the only one until
 * marline_target_region_ends; or to the end of its task, if that is not called because the region runs on the host.
 * May suspend. */
int marline_target_region_reduces(void* const* addresses, int count);
void marline_target_region_ends(void);

/* The calling task is about to change by itself what is mapped. If it is in an iteration that the library does as a
 * whole (`repeats`, `replays_with_arguments`), that ends here: all regions of the iteration so far have ended when
 * this returns. May suspend. */
void marline_target_data_begins(void);

/* While `handle` is not NULL, LLVM's libomptarget gets this answer when it asks the OpenMP runtime on the calling
 * thread: the current task can be suspended, and *handle is the word of the operations that it starts. Set it right
 * around a call into libomptarget; the thread must not suspend in between. */
void marline_target_handle_set(void** handle);

/* For the target region of Clang's code that the calling task is about to run: the node that marline_task_node has
 * set for it, which this call resets; 0: none. */
int marline_target_node(void);

/* Waiting ---------------------------------------------------------------------------------------------------------- */

/* Says that the operations of the hook are usually long. An idle thread that polls for such operations only leaves
 * its core now and then, even if no other thread wants it: after 1.6 ms without success for 1/32 of that time, 50 to
 * 200 microseconds; with 16 operations or more, after 100 microseconds for half of that time. New work ends the
 * rest. Called for a registered hook, before its first operation. */
void marline_progress_may_rest(marline_hook_t* hook);

/* For a thread that waits and cannot suspend: calls the hooks that have pending operations, unless another thread
 * does so or MARLINE_PROGRESS forbids that idle threads poll. Returns how many operations the hooks found finished. */
int marline_progress_poll(void);

/* 1 if this node has more processes of the job than CPUs for them, so that a waiting thread should give its core
 * away; otherwise 0. */
int marline_shares_cores(void);

/* Rectangular copies ----------------------------------------------------------------------------------------------- */

/* What omp_target_memcpy_rect copies (OpenMP 5.2, 18.8.6): a box of `volume` elements of `element` bytes. The
 * offsets and extents say where the box is in each of two arrays. They and `volume` point to `dimensions` numbers,
 * the outermost first. */
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

/* Calls `copy` for each run of bytes that is contiguous in both arrays, with its offsets from the beginnings of the
 * arrays. Any thread. */
void marline_rectangle_runs(const marline_rectangle_t* rectangle,
                            void (*copy)(void* data, size_t to_offset, size_t from_offset, size_t bytes), void* data);

/* Events for tools ------------------------------------------------------------------------------------------------- */

/* A library that drives devices reports to the runtime what they do, and the runtime reports it to a tool (OMPT;
 * OpenMP 5.2, sections 19.5.2.19 to 19.5.2.28, and 19.6.2 for the buffers). This word says which events a tool
 * wants, and is 0 if there is no tool. Test it before each call below: then the call costs two loads and a branch.
 * All bits are set until the runtime starts, and each of these calls makes the runtime start. The address never
 * changes. */
#define MARLINE_ON_CONSTRUCT (1u << 21)
#define MARLINE_ON_DATA (1u << 22) /* operations that are not kernels */
#define MARLINE_ON_KERNEL (1u << 23)
#define MARLINE_ON_MAP (1u << 24)
#define MARLINE_ON_DEVICE (1u << 25)
#define MARLINE_ON_TIMES (1u << 26) /* when operations begin and end on the device */
#define MARLINE_ON_ANYTHING (63u << 21)
#define MARLINE_ON_SCHEDULE (1u << 4) /* not about devices: threads begin and leave tasks */
/* No event: a tool gets constructs by ompt_callback_target only, which does not say of which target task a construct
 * is the body. Such a tool assumes that the construct belongs to the task that the thread runs. */
#define MARLINE_ON_BY_TASK (1u << 28)
const uint32_t* marline_device_events(void);

/* A device construct from its begin to its end, which may be on another thread: the library keeps the storage valid
 * meanwhile. All fields are zero except what the library knows before marline_construct_begin. */
typedef struct marline_construct {
  int kind; /* ompt_target_t: 1 target, 2 enter data, 3 exit data, 4 update; 8 more with nowait */
  int device;
  const void* code;   /* an address in the program after the construct's call */
  uint64_t id;        /* the runtime's from marline_construct_begin on; may be the tool's own word */
  uint64_t operation; /* id of the newest operation */
  void *task, *target_task;
} marline_construct_t;

/* Called by the task that runs the construct: the target task, if there is one. */
void marline_construct_begin(marline_construct_t* construct);
void marline_construct_end(marline_construct_t* construct);
/* Called by that task, if the construct goes on after the task's part of it: from then on the task is in no
 * construct, and any thread may end this one. */
void marline_construct_leave(marline_construct_t* construct);
/* The same for the construct of a claimed task (below), which no thread runs: any thread may begin and end it. */
struct marline_claimed;
void marline_construct_begin_claimed(marline_construct_t* construct, const struct marline_claimed* task);

#define MARLINE_HOST (-1) /* as a device of an operation */

/* A kernel, a copy, or another operation on a device's memory. */
typedef struct marline_operation {
  marline_construct_t* construct; /* the construct that it is a part of, which has begun; NULL: none */
  int kind;                       /* ompt_target_data_op_t; 0: a kernel */
  int device;                     /* the device that does it */
  const void *from, *to;
  int from_device, to_device;
  size_t bytes;
  unsigned teams;      /* number that the program asks for; 0: it does not say */
  const void* code;    /* as in the construct */
  uint64_t begin, end; /* when the device did it: nanoseconds of CLOCK_MONOTONIC */
  uint64_t id;         /* the runtime's; may be the tool's own word */
} marline_operation_t;

/* marline_operation_begin is called before the operation is started, marline_operation_end when it has been started
 * (the device may still work on it), and marline_operation_done when it has ended, with its times. */
void marline_operation_begin(marline_operation_t* operation);
void marline_operation_end(marline_operation_t* operation);
void marline_operation_done(const marline_operation_t* operation);

/* Reports what a device did, or waited for, that is neither a kernel nor a copy: a native record of its trace
 * (OpenMP 5.2, section 19.6.2). `kind`: of ompt_native_mon_flag_t; the times are as in an operation. `what`: static
 * storage. Only if MARLINE_ON_TIMES is set. */
#define MARLINE_ACTIVITY_OVERHEAD 0x40
#define MARLINE_ACTIVITY_IDLENESS 0x80
void marline_device_activity(int device, int kind, const char* what, uint64_t begin, uint64_t end);

/* Reports what the construct's clauses map, one element of each array per item; flags: ompt_target_map_flag_t. */
void marline_construct_maps(marline_construct_t* construct, unsigned count, void** host, void** device, size_t* bytes,
                            unsigned* flags);

/* marline_device_begin: the device is ready for its first operation; `type` is a static string, `host` the number
 * that the host has. marline_device_load: the device gets an image; `image` and `bytes` say where it is in this
 * process, `module` is the library's number of it. marline_device_unload: the device has given up that image.
 * marline_device_end: the device does nothing any more. */
void marline_device_begin(int device, const char* type, int host);
void marline_device_load(int device, const void* image, size_t bytes, uint64_t module);
void marline_device_unload(int device, uint64_t module);
void marline_device_end(int device);

/* The calling process has no tool from now on: for a fork of the program that becomes a device. */
void marline_tool_leave(void);

/* Devices for code of GCC ------------------------------------------------------------------------------------------ */

/* A library that has devices, as libmarline-target does, offers them to code of GCC that was built without a
 * compiler for devices: the runtime passes on what such code passes to libgomp's entry points. It does so only if
 * MARLINE_DEVICES names devices. All functions may be called from any thread and may suspend the calling task. */

/* What the clauses of one construct say, one element of each array per item. Addresses, sizes and kinds have the
 * meaning that GCC gives them (include/gomp-constants.h, enum gomp_map_kind): the low byte of a kind, and from bit 8
 * on the logarithm of the alignment. The caller keeps the arrays valid until the call returns. */
typedef struct marline_device_maps {
  size_t count;
  void** addresses;
  const size_t* sizes;
  const unsigned short* kinds;
  const void* code; /* for tools: where the construct is, and whether it is the body of a task of its own */
  int nowait;
  int node; /* for a region: the node of marline_task_node; 0: none */
  /* For a region: where the program has what `addresses` name. An element differs from the address if the address is
   * the region's own copy, as it was at the construct: firstprivate variables, and of Fortran's arrays and loops the
   * pointers (GOMP_MAP_POINTER), the descriptors with the pointers in them, and bounds. NULL for data constructs. */
  void* const* originals;
} marline_device_maps_t;

/* What a library that wraps MPI gives a provider with devices on the nodes of other ranks. */
typedef struct marline_ranks {
  int rank, count; /* in MPI_COMM_WORLD */
  /* Collective: gathers `bytes` from each rank's `own` into `all` of every rank, in the order of the ranks. */
  void (*gather)(const void* own, void* all, size_t bytes);
} marline_ranks_t;

/* `device` is what GCC passes: a number from 0 on, -1 for the default device, -2 for the host. Any other number ends
 * the program, and so does the host if it must not be used (OMP_TARGET_OFFLOAD=mandatory). */
typedef struct marline_device_provider {
  size_t bytes; /* sizeof(marline_device_provider_t) in the library: later versions add fields at the end */
  /* Starts the devices that need the process as it is before main. A further call does nothing. */
  void (*start)(void);
  int (*count)(void);
  /* Runs function(addresses) on the device, and returns when it has run. The addresses are the device's, in an array
   * in the device's memory. Firstprivate items are copied. Returns 0 if nothing has been done, and the caller must
   * run the region on the host. */
  int (*region)(int device, void (*function)(void*), const marline_device_maps_t* maps, int thread_limit);
  /* target data. Replaces addresses with the kind USE_DEVICE_PTR by the device's. The result is passed to data_end,
   * once; NULL: the device is the host, and there is nothing to end. */
  void* (*data_begin)(int device, const marline_device_maps_t* maps);
  void (*data_end)(void* data);
  /* target update, target enter data, target exit data. */
  void (*update)(int device, const marline_device_maps_t* maps);
  void (*enter_data)(int device, const marline_device_maps_t* maps);
  void (*exit_data)(int device, const marline_device_maps_t* maps);
  /* The default device, while the program has set none: a number from 0 on, -1 for the host, -2 for none. `wish`:
   * the text of OMP_DEFAULT_DEVICE (OpenMP 6.0, section 4.3.8) if it is more than a number; NULL if it is not set. */
  int (*default_device)(const char* wish);
  /* Memory of the host that devices copy from and to while the caller goes on, for allocators with the trait
   * `pinned`. It begins on a page and is not cleared. NULL: no device has such memory, or not that much. Any thread
   * may release it. */
  void* (*allocate_pinned)(size_t bytes);
  void (*release_pinned)(void* memory);
  /* The ranks of an MPI program exchange where their devices are: see marline_ranks_meet. */
  void (*meet)(const marline_ranks_t* ranks);
  /* How many nodes the cluster has that is one of the devices; 0: there is no cluster. For marline_task_node. NULL:
   * there never is one. */
  int (*nodes)(void);
} marline_device_provider_t;

/* Makes the table the table of the process; it stays valid to the end. Returns 0, or -1 if there is another table
 * already, or the table is of an older version. */
int marline_devices_provide(const marline_device_provider_t* provider);

/* Whether the program's main has begun, so that `start` is not called before it any more. Also 0 if libmarline comes
 * after the C library in the loader's order: then the C library does not call libmarline to start the program. */
int marline_main_has_begun(void);

/* Called in MPI_Init, by every rank, when MPI can be called. Passed on to the provider, if MARLINE_DEVICES names
 * devices. The provider may call `gather`, equally often in all ranks. */
void marline_ranks_meet(const marline_ranks_t* ranks);

/* Called by a library to which the program's MPI calls come, at the begin of MPI_Init, or which uses MPI itself.
 * Without that the runtime warns of MPI calls that block their threads. */
void marline_mpi_is_served(void);

/* Target tasks as they are created --------------------------------------------------------------------------------- */

/* A library with devices that can be given tasks before their predecessors have ended sees each target task (a
 * target construct with nowait) when it is created, and may claim it. A claimed task is in no queue, has no thread,
 * and its code is not run: the library does its work, knows its predecessors, and reports its end. For all other
 * tasks it is a task like any other: its successors wait for it, and so do taskwait, taskgroup and barriers.
 *
 * For a claimed task these functions are called, in this order, each once: `created`; `ordered`; `others_ended`, if
 * `ordered` reported other predecessors; `ready`. Then the library calls marline_claimed_end, or leaves the task to
 * the runtime (marline_claimed_run). Calls for different tasks come from different threads at the same time. */
typedef struct marline_claimed marline_claimed_t;

typedef enum marline_target_form {
  MARLINE_TARGET_ENTRY,  /* of Clang's code, for every construct: `entry` and `block` */
  MARLINE_TARGET_REGION, /* this and all below of GCC's code: `maps`, and for a region `function` and `thread_limit` */
  MARLINE_TARGET_UPDATE,
  MARLINE_TARGET_ENTER_DATA,
  MARLINE_TARGET_EXIT_DATA
} marline_target_form_t;

/* What `created` gets; valid during the call unless a field says otherwise. */
typedef struct marline_target_task {
  size_t bytes;              /* sizeof(marline_target_task_t) in the runtime: later versions add fields at the end */
  marline_claimed_t* handle; /* handle of the task; if it is claimed, valid until it has been ended */
  uint64_t number;           /* counts the tasks that are reported in this process, from 1 on */
  marline_target_form_t form;
  int64_t device; /* as the compiler passes it; Clang's entry passes it once more, and that value counts */
  /* Runs the construct; `block` is valid until the task has been ended. */
  int32_t (*entry)(int32_t thread, void* block);
  void* block;
  int32_t thread; /* the calling thread's number, as `entry` takes it */
  void (*function)(void*);
  /* Its arrays, and the copies of private variables, are valid until the task has been ended. */
  marline_device_maps_t maps;
  int thread_limit;
  const marline_dependence_t* dependences; /* a NULL address is omp_all_memory */
  size_t dependence_count;
  int32_t priority; /* the priority by which it is scheduled; see `raised` */
  const char* name; /* of marline_task_label, or NULL; valid until the task has been ended */
  const void* code; /* an address in the program after the construct's call */
  int in_graph;     /* 1: in an iteration of a persistent graph */
  int node;         /* the node of marline_task_node; 0: none */
  /* Size of each dependence's list item, 0: not known; NULL: no size is known (GCC's code). */
  const size_t* dependence_bytes;
  uint64_t graph; /* not 0: the graph of an iteration that has been reported, see `iterates` */
  uint64_t step;  /* its position in the iteration, from 0 on */
} marline_target_task_t;

typedef enum marline_wait_kind {
  MARLINE_WAIT_TASKWAIT = 1,
  MARLINE_WAIT_DEPENDENCES, /* taskwait with depend clauses, and tasks that are not deferred */
  MARLINE_WAIT_TASKGROUP,
  MARLINE_WAIT_BARRIER,
  MARLINE_WAIT_THROTTLE, /* too many tasks are in progress: MARLINE_MAX_TASKS, MARLINE_MAX_BYTES */
  MARLINE_WAIT_FOR_WORK  /* the thread has found no task that it could run, or a task yields */
} marline_wait_kind_t;

/* A variable of a task reduction (OpenMP 5.2, section 5.5.9), and the copy that replaces it in the tasks that the
 * library sees. */
typedef struct marline_reduction {
  /* The variable, or an enclosing task's copy: Clang's entries (16 to 22) pass it to their construct all the same. */
  void* variable;
  void* copy; /* has the reduction's initial value; one for all these tasks of the taskgroup */
  size_t bytes;
  void (*combine)(void* into, void* from); /* the program's function; changes nothing but *into */
} marline_reduction_t;

/* None of these functions except the last one, `reduced`, may suspend, wait, create or end tasks, or open a parallel
 * region. All except `created` may be NULL. */
typedef struct marline_target_observer {
  size_t bytes; /* sizeof(marline_target_observer_t) in the library: later versions add fields at the end */
  /* Called by the thread that creates the task. Not called for tasks of final tasks and of if(0), which are not
   * deferred; for tasks that something else completes (a detach clause, and proxy tasks of LLVM's interface); in a
   * persistent graph, for members of a mutexinoutset, for tasks while priorities are passed on, and, in iterations
   * that are repeated, for successors of tasks that are not claimed. The result claims the task, and is what the
   * library knows it by; NULL: the task is not claimed, and runs as if there were no observer. Only this function
   * may call user code. */
  void* (*created)(const marline_target_task_t* task);
  /* Called right after `created`, by the same thread. Reports the predecessors that had not ended when they were
   * looked at: the numbers of claimed tasks, which may have been ended meanwhile, and how many other predecessors
   * there are: tasks on the host, and target tasks that were not claimed. A predecessor that is ordered before
   * another predecessor may be left out. A claimed member of a mutexinoutset is ordered after the members that were
   * created before it, and before the members that are created later. `numbers` is valid during the call. */
  void (*ordered)(void* claimed, const uint64_t* numbers, size_t count, size_t others);
  /* The other predecessors have ended. Called by any thread. */
  void (*others_ended)(void* claimed);
  /* All predecessors of the task have ended. Called by any thread, perhaps in a call that ends one of them. If the
   * task has been cancelled (marline_claimed_is_cancelled), its work need not be done; it is ended all the same. */
  void (*ready)(void* claimed);
  /* A task begins to wait, perhaps also for claimed tasks; or a thread begins to wait for tasks. Called by that
   * thread. A created task goes without any of these calls only while its creator's thread runs the program's code, or
   * waits for something outside the runtime. */
  void (*waits)(marline_wait_kind_t kind);
  /* Tasks that have not been started have been cancelled; marline_claimed_is_cancelled says which. Called by any
   * thread. */
  void (*cancels)(void);
  /* The priority of a claimed task, which may have been ended meanwhile, has been raised (MARLINE_PRIORITY). Called
   * by any thread. This call, and an `ordered` of another task that names this one, may come before the task's own
   * `ordered`. The runtime may hold a lock: be short, and call no function of the runtime. */
  void (*raised)(uint64_t number, int32_t priority);
  /* A claimed task that was left to the runtime (marline_claimed_run) has ended, and `ordered` does not name it any
   * more, except in calls in progress. Not called for tasks without dependences, which have no successors. Called by
   * any thread. */
  void (*ended)(uint64_t number);
  /* This function and the next two are about persistent graphs, and are called by the producer's thread. An
   * iteration begins. It repeats the previous one, in which all tasks are target tasks and were claimed: task k of
   * the iteration (`step`) has the code, the depend clauses and the predecessors of task k of the previous one.
   * `ordered` names all these predecessors, in this iteration and in the previous one, also ended ones. `has_barrier`:
   * all tasks of the previous iteration have ended. */
  void (*iterates)(uint64_t graph, int has_barrier);
  /* Tasks from here on are not part of the iteration: the next one is about to begin, or a task comes that was not
   * in the previous one. */
  void (*iterated)(uint64_t graph);
  /* There is no further iteration. */
  void (*graph_ends)(uint64_t graph);
  /* A task that is not claimed, or a thread (taskwait with depend clauses), is now ordered after this claimed task,
   * which may have been ended meanwhile: the program needs a report of its end as soon as possible. The end of a
   * task with claimed successors only is not urgent. Otherwise the same as `raised`. */
  void (*awaited)(uint64_t number);
  /* Called after `iterates`, for a graph with MARLINE_GRAPH_REPLAY: all tasks of the iteration also have the
   * firstprivate data that they had in the previous one. Nonzero: the library does the iteration as a whole; none of
   * its tasks is reported, and `iterated` is not called. 0: the tasks are reported one by one. `all` is a claimed
   * task with the number `number`, without predecessors. It represents the iteration: the library ends it when all
   * tasks have ended, or, after 0, at any time. Not called while there is a tool, because the tool would not see the
   * tasks. Called by the producer's thread; here `all` may be ended at once. */
  int (*repeats)(uint64_t graph, marline_claimed_t* all, uint64_t number);
  /* The same in other modes, before the iteration's code runs: its tasks may have other firstprivate data. Nonzero:
   * each is reported by `again`, in their order, in place of `created` and all calls that follow it, and is no task;
   * `all` ends when all of these have ended, not before `iterated`. 0: the tasks are reported one by one. Once
   * `again` has returned 0, not called again under this number: the graph is recorded anew, and is offered again
   * after some iterations. */
  int (*replays_with_arguments)(uint64_t graph, marline_claimed_t* all, uint64_t number);
  /* Gets what `created` gets, without `handle`, `number`, priority, name and dependences. Nonzero: the library does
   * the task. 0: it does neither this task nor the following ones, and `iterated` comes next. Then the producer
   * waits for `all`, and goes on with tasks that are reported as usual. */
  int (*replay_next)(const marline_target_task_t* task);
  /* Called for each reduction variable while `created` calls the entry of a task that takes part in a reduction, and
   * only then. NULL: such entries must not be called. What the task does with the variable is up to the library,
   * which must not write the copy before `reduced` is called. */
  void (*reduces)(const marline_reduction_t* reduction);
  /* The taskgroup of this copy has ended. Nonzero: the copy now has the combined result of all the claimed tasks. 0:
   * none of them has done anything. From then on the copy does not exist any more. Called by the thread of the
   * taskgroup's owner; may suspend it. */
  int (*reduced)(void* copy);
} marline_target_observer_t;

/* Installs the process's only observer, from now on to its end: tasks that exist already are not reported. Returns
 * 0, or -1 if there is an observer already, or `created` is NULL, or `bytes` is of an older version. While there is
 * no observer, a task costs a load and a branch more at most. */
int marline_target_tasks_observe(const marline_target_observer_t* observer);

/* The task has ended, and the library does not use its data any more. Called once `ready` has been called for the
 * task, not before, and not from within that call; before a predecessor has ended it ends the program. Any thread,
 * also in a progress hook. Successors of the task that can start are queued during the call. Private objects with
 * destructors are destroyed by a thread of the team first. */
void marline_claimed_end(marline_claimed_t* task);

/* For tools: the library has begun the task's work, and will end the task (marline_claimed_end). Tools see a task
 * that a thread begins and leaves to an event (OpenMP 5.2, section 12.5.2): ompt_task_detach now,
 * ompt_task_late_fulfill at the end. Called once, from `ready` on, also within that call. Without this call, tools
 * see nothing of the task before its end. */
void marline_claimed_detach(marline_claimed_t* task);

/* In place of marline_claimed_end, by the same rules: the runtime runs the task as if it had not been claimed, for a
 * library that finds that it cannot do the work. `ordered` still names it as a claimed task to its successors, until
 * `ended`. */
void marline_claimed_run(marline_claimed_t* task);

/* Called by a task: the handle that `created` got for it, even if the task was not claimed. NULL: it is no target
 * task, or `created` was not called for it. While it runs, no other task has this handle; later ones may. */
marline_claimed_t* marline_target_task_told(void);

/* Whether the task has been cancelled. Any thread, until the task is ended. Costs a load while nothing is cancelled. */
int marline_claimed_is_cancelled(const marline_claimed_t* task);

/* What the devices are --------------------------------------------------------------------------------------------- */

/* These functions are in libmarline-target.so. All may be called from any thread; none starts a device. */

/* Texts stay valid to the end of the process. If a fact is not known, its text is empty, or its number is 0 or -1. */
typedef struct marline_device_facts {
  size_t bytes;     /* the caller's: sizeof(marline_device_facts_t); later versions add fields at the end */
  const char* kind; /* of MARLINE_DEVICES: "host", "process", "libomptarget" */
  const char* name; /* name of the product */
  const char* uid;  /* as omp_get_uid_from_device gives it */
  const char* arch; /* arch, isa and vendor: OpenMP's traits, e.g. "nvptx64", "sm_90", "nvidia" */
  const char* isa;
  const char* vendor;
  uint64_t memory; /* bytes */
  int units;       /* multiprocessors of a GPU, hardware threads of a processor */
  int numa_domain; /* the domain nearest to the device, by the system's number; -1: not known, or no difference */
} marline_device_facts_t;

/* Describes the device with this number, from 0 on. Returns 0, or -1 if it is the host or no device, or
 * `facts->bytes` is too small; then *facts is unchanged. */
int marline_device_describe(int device, marline_device_facts_t* facts);

/* For tools that list devices: from now on this process counts as a program with code for all devices. Called before
 * the first query about devices, in a process that runs no target region. */
void marline_device_assume_all(void);

/* Why libomptarget has no devices for this process, in one line; "" if it has some, or was not asked for any. */
const char* marline_device_why_no_gpus(void);

/* Messages -------------------------------------------------------------------------------------------------------- */

/* Describes why the system has refused a thread or a process, for a message of a library: writes at most `bytes`
 * bytes to `text`, with the null byte, and returns it. `error`: what pthread_create returned, or errno after fork;
 * call this right after it. `stack_bytes`: size of the thread's stack, 0 if none was set. Distinguishes the limits
 * on threads (of the user, of a control group) from a lack of memory, for which the system has the same error. Any
 * thread. */
const char* marline_describe_refusal(int error, size_t stack_bytes, char* text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
