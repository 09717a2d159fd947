/* SPDX-License-Identifier: Apache-2.0
 *
 * Marline's public interface for what OpenMP has no directive for: events that a task can wait for without holding a
 * core, progress hooks that the scheduler polls, names for tasks, dependences given by calls, counters of their
 * discovery, tasks that are cancelled before they run, and graphs that are recorded once and repeated. libmarline-mpi
 * uses nothing else, so a program or a library can do whatever it does. For Fortran: marline.f90; for C++ also
 * depend.hpp and graph.hpp.
 *
 * Conventions. All functions are thread-safe unless they say otherwise, never throw, and may be called from any thread
 * of the process, even from one that the runtime has never seen. A wait allocates nothing. A misuse that the runtime
 * can detect (waiting twice for one event, for example) ends the program with one line that names it.
 */
#ifndef MARLINE_MARLINE_H
#define MARLINE_MARLINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime's version, "MAJOR.MINOR.PATCH". The string is static. */
const char* marline_version(void);

/* Events ----------------------------------------------------------------------------------------------------------- */

/* Something that happens once: a message arrives, a kernel ends, a callback fires. The caller owns the storage
 * (typically on the waiting task's stack) and keeps it alive until the wait has returned. `state` belongs to the
 * runtime. At most one task waits for an event; it is fulfilled at most once after each initialisation. */
typedef struct marline_event {
  uintptr_t state;
} marline_event_t;

#define MARLINE_EVENT_INIT {0}

/* Makes *event pending. Not thread-safe for one event: call it before the event is shared. */
void marline_event_init(marline_event_t* event);

/* Suspends the current task until *event is fulfilled; returns at once if it already is. The thread runs other tasks
 * in the meantime. A tied task resumes on the same thread, an untied one on any thread of its team: after the call,
 * do not use thread-local addresses from before it. Everything written before the fulfilment is visible after the
 * wait. A thread that runs no task of Marline sleeps itself until the event is fulfilled. */
void marline_event_wait(marline_event_t* event);

/* What a wait is for, as `marline ps` shows it. `operation` is a string of static storage, e.g. "MPI_Recv"; `names`
 * is a static list with one string for each value that is used, ended by NULL, e.g. {"peer", "tag", NULL}. A call
 * that waits for several things gives their ids, which the library's own part of the report explains
 * (marline_describe_register): an array of `id_count` signed integers of `id_bytes` bytes, 4 or 8, e.g. of
 * MPI_Request; the library may change the array meanwhile. The caller owns the storage of the record itself,
 * typically on the waiting task's stack. */
#define MARLINE_WAIT_VALUES 6
typedef struct marline_wait {
  const char* operation;
  const char* const* names;
  int64_t values[MARLINE_WAIT_VALUES];
  const void* ids; /* or NULL */
  int id_count;
  int id_bytes;
} marline_wait_t;

/* The same as marline_event_wait, and says what the wait is for. *wait must not change until the call returns. Costs
 * one more store. */
void marline_event_wait_for(marline_event_t* event, const marline_wait_t* wait);

/* Between the two calls the calling thread, and the task that it runs, may block inside a library rather than
 * suspend: `marline ps` then does not show the thread as computing. In between, *wait must not change, and the task
 * is not suspended. The calls nest: the outermost one counts. Cheap; a thread that the runtime has not seen makes
 * one system call at its first time, and at most 64 of these threads are known at a time. */
void marline_block_begin(const marline_wait_t* wait);
void marline_block_end(void);

/* Adds a library's own part to what `marline ps` reads. `describe` calls write(sink, text, length) any number of
 * times; all texts together are one JSON value. `name` (not copied) is the key of the part, and the name by which it
 * is requested. Called on a thread of the runtime while other threads run or hang, one call at a time: it must not
 * wait for locks that these may hold, nor suspend. Returns 0, or -1 when the table of 8 is full. A part cannot be
 * removed. */
typedef void (*marline_describe_write_fn)(void* sink, const char* text, size_t length);
typedef void (*marline_describe_fn)(void* arg, marline_describe_write_fn write, void* sink);
int marline_describe_register(const char* name, marline_describe_fn describe, void* arg);

/* For libraries that span nodes: lets `marline ps` reach this process from other nodes. A thread listens at a TCP
 * port, which is the result, and connects clients that send `secret` (copied; 1 to 64 characters) with the process's
 * local socket. Only the first call has an effect. Returns 0 if that is not possible, or has been done already, or
 * MARLINE_INSPECT=false. */
int marline_describe_relay(const char* secret);

/* Fulfils *event and makes the waiting task ready; never runs a task itself. The event's storage may no longer exist
 * when the call returns. Also accepts the handle of a `detach` clause, and `omp_fulfill_event` accepts an event's
 * address: they are the same thing. */
void marline_event_fulfill(marline_event_t* event);

/* 1 if *event has been fulfilled, 0 if not; never blocks. After 1, what was written before the fulfilment is
 * visible. */
int marline_event_test(const marline_event_t* event);

/* 1 if the caller may usefully suspend: it runs inside a parallel region or an explicit task of Marline's, and not
 * inside a progress hook. A library that offers a blocking call tests this first, and blocks as usual if it is 0. */
int marline_can_suspend(void);

/* For tools: called by every task that is about to leave its thread, on the task's own stack, before anything else
 * runs on the thread. OMPT alone does not show this: it reports changes of tasks, also if a task is called over a
 * frame that stays, and reports nothing when an implicit task leaves. The observer must not suspend, create tasks or
 * wait for other threads' tasks; it may ask OMPT for the current task. */
typedef void (*marline_suspend_fn)(void);

/* Installs the process's only such observer; NULL removes it. A removed observer may still be called for a moment. */
void marline_suspend_observe(marline_suspend_fn observer);

/* Calls of libraries ----------------------------------------------------------------------------------------------- */

/* Stand around a call of a library that may call code of the program back, as MPI calls a reduction's operation or
 * an error handler. The library is then in the middle of something, perhaps with its own locks held: no task may be
 * suspended over its frames, and no other task may run on the thread meanwhile. Between the two calls the thread
 * does not belong to the runtime. If code that is called back uses OpenMP, it does so in an initial task of its own:
 * this thread and the threads of its own parallel regions run its tasks, the tasks have ended when
 * marline_library_leave returns, and no progress hook is called for it. Calls nest. *call, on the caller's stack,
 * belongs to the runtime in between. Both are called on one thread, and nothing between them outside of such code
 * may suspend. Costs a few nanoseconds if nothing is called back. */
typedef struct marline_library_call {
  void* state[2];
} marline_library_call_t;
void marline_library_enter(marline_library_call_t* call);
void marline_library_leave(marline_library_call_t* call);

/* 1 inside of such a call, and in regions opened by code that was called back: there, a library that suspends tasks,
 * or polls in place of blocking, must block. Otherwise 0. */
int marline_is_called_back(void);

/* Progress hooks --------------------------------------------------------------------------------------------------- */

/* A function that moves asynchronous operations forward and fulfils the events of operations that have ended. The
 * scheduler calls it at task scheduling points and from idle threads, one thread of the process at a time, and only
 * while operations are pending (marline_progress_add). It runs as inside a library's call (marline_library_enter):
 * it may create tasks, wait for them and open parallel regions, but must not wait for what only a hook brings about,
 * and the shorter it is, the better. It may fulfil events and call marline_progress_add. Returns the number of
 * operations that it found finished: after 0 the next call comes later. */
typedef int (*marline_poll_fn)(void* arg);
typedef struct marline_hook marline_hook_t;

/* Registers `poll`, to be called with `arg`. `name` (not copied) appears in diagnostics. Returns NULL when the table of
 * 16 hooks is full. */
marline_hook_t* marline_progress_register(const char* name, marline_poll_fn poll, void* arg);

/* Removes the hook; no call of it is in progress when this returns. Must not be called inside a hook. */
void marline_progress_unregister(marline_hook_t* hook);

/* Adds n (negative: subtracts) to the number of operations that wait for this hook. While the number is positive the
 * hook is polled: one idle worker does nothing else, and a watchdog bounds the delay when all workers compute. */
void marline_progress_add(marline_hook_t* hook, int n);

/* Holds ------------------------------------------------------------------------------------------------------------ */

/* Stands for a hold; does not point to anything. */
typedef struct marline_task marline_task_t;

/* The current task does not complete before the hold is released: its body may end, but successors, taskwait,
 * taskgroup and barriers wait as if it still ran. It works like a `detach` clause, without one, and as often as you
 * like: each hold is released once. With a `detach` clause on the same task both count. The creator of an undeferred
 * or final task waits for the holds. An implicit task has no completion to wait for: the next barrier of its team
 * waits, at the latest the one at the end of the region. Returns NULL, and holds nothing, if there is no task to
 * hold: outside of parallel regions and explicit tasks, on threads that run none of Marline's tasks, and in progress
 * hooks. */
marline_task_t* marline_task_hold(void);

/* Releases a hold, from any thread, while the task runs or later; never runs a task itself. What was written before
 * the release is visible to every task or thread that waits for the task. Do not use `task` afterwards: a second
 * release of one hold is not noticed. */
void marline_task_release(marline_task_t* task);

/* Names ------------------------------------------------------------------------------------------------------------ */

/* Names the next task that the current task creates, for traces, `marline ps` and error messages. `label` is not
 * copied: a string literal, or storage that outlives the task. */
void marline_task_label(const char* label);

/* Colours the next task that the current task creates in charts: 0xRRGGBB. */
void marline_task_color(uint32_t rgb);

/* Priorities ------------------------------------------------------------------------------------------------------- */

/* Says that the current task sends messages. Tasks of the same kind (of one construct, with as much data and as many
 * dependences) that are created later then have the highest priority, if MARLINE_PRIORITY asks for that (FA);
 * otherwise, and outside of explicit tasks, the call does nothing. libmarline-mpi calls it where MPI sends. From any
 * thread, as often as you like; costs a few nanoseconds. */
void marline_task_sends(void);

/* Affinity --------------------------------------------------------------------------------------------------------- */

/* Says that the next task that the current task creates works mostly on the `length` bytes at `address`, like
 * OpenMP's affinity clause, which GCC 12 drops. When the task is ready, threads bound to the NUMA domain of these
 * bytes take it first. A hint: it has no effect if threads are not bound (OMP_PROC_BIND), or are all bound to one
 * domain, or if the system does not say where memory is. If there are several calls for one task, the longest range
 * decides. The memory is not read; pages that were never touched are in no domain. */
void marline_task_affinity(const void* address, size_t length);

/* Nodes ------------------------------------------------------------------------------------------------------------ */

/* If the nodes of a job are one device (MARLINE_DEVICES=cluster): the next target construct of the current task runs on
 * node `node` of that device, from 1 on, if the construct is for the cluster; a device(k) in the construct takes
 * precedence. If the next task that the current task creates is no target task, the hint is for all target regions that
 * this task runs. Call it right before the construct; constructs that only move data do not use it. Does nothing if the
 * program has no cluster. Ends the program if the cluster has no such node. A program that also runs without Marline
 * declares it weak:
 *
 *     #pragma weak marline_task_node
 *     if (marline_task_node) marline_task_node(2);
 */
void marline_task_node(int node);

/* Dependences ------------------------------------------------------------------------------------------------------ */

/* As in a depend clause. */
typedef enum marline_depend_type {
  MARLINE_IN = 1,
  MARLINE_OUT = 2, /* orders like MARLINE_INOUT */
  MARLINE_INOUT = 3,
  MARLINE_MUTEXINOUTSET = 4,
  MARLINE_INOUTSET = 5
} marline_depend_type_t;

/* One locator. A null address with MARLINE_OUT or MARLINE_INOUT is omp_all_memory; with another type it has no
 * effect. */
typedef struct marline_dependence {
  void* address;
  marline_depend_type_t type;
} marline_dependence_t;

/* Adds list[0 .. n-1] to the dependences of the next task that the current task creates; several calls, and the
 * depend clause of the construct, add up. An address that is named in several ways orders like MARLINE_INOUT. The
 * list is read before the call returns. For `task` constructs, and for a taskloop's tasks from inside the function
 * that marline_taskloop_depend was given; a `taskwait` neither uses nor drops them. An undeferred, included or final
 * task waits for these dependences as for its own. The construct follows in the same task, with no task scheduling
 * point in between. These end the program: a null list with n > 0, a type that is none of the above, a task that
 * suspends or ends without having created the task. */
void marline_task_depend(const marline_dependence_t* list, size_t n);

/* A list of dependences that is prepared once and used for any number of tasks, by any thread, at any time: what depobj
 * does for one locator. */
typedef struct marline_depend_object marline_depend_object_t;

/* Copies the list and keeps one entry for each address, with the types merged: one type stays, several become
 * MARLINE_INOUT. omp_all_memory replaces all other entries. The caller destroys the object. */
marline_depend_object_t* marline_depend_create(const marline_dependence_t* list, size_t n);

/* May be called after the last task construct that uses the object: tasks do not need it once they are created. NULL
 * is allowed. */
void marline_depend_destroy(marline_depend_object_t* object);

/* Like marline_task_depend, with the object's list. Costs less: nothing is checked, and nothing is copied if the
 * task has no other dependences. The object must live until the task is created. */
void marline_task_depend_object(const marline_depend_object_t* object);

/* Called by the task that encounters a taskloop, right before each of its tasks is created, for iterations `first`
 * to `first` + `count` - 1. The first iteration of the loop, or of the collapsed loops, is 0, whatever the start and
 * the direction of its variable. Calls marline_task_depend or marline_task_depend_object, any number of times, and
 * may name the task; it must not create tasks, wait or suspend. */
typedef void (*marline_chunk_depend_fn)(uint64_t first, uint64_t count, void* arg);

/* Gives dependences to each task of the next `taskloop` of the current task, for which OpenMP has no clause: calls
 * depend(first, count, arg) for each. The construct follows in the same task. It may have any clauses; most programs
 * want `nogroup`, because a taskloop waits for its tasks otherwise. The tasks are siblings of the current task's
 * other children and ordered with them. These end the program: a null function, a task that ends without having
 * reached the taskloop, and marline_task_depend right before a taskloop, because it does not say for which of the
 * tasks it is. */
void marline_taskloop_depend(marline_chunk_depend_fn depend, void* arg);

/* From this call on, the tasks that the current task creates, and their descendants, share its dependences: if any
 * of them creates a task, the dependences of that task are ordered with the dependences of all the others, as if the
 * current task had created it at that moment. So several tasks discover one graph in parallel. If the order in which
 * their tasks come matters, the program must settle it, by dependences or waits of the producers.
 *
 * A producer is never ordered before its descendants, even if it has dependences on their addresses itself: for
 * later tasks its descendants then take its place. `taskwait` and `taskgroup` wait for the same tasks as always; a
 * producer that waits for tasks of its own must not make them wait, over other producers' tasks, for itself. Lasts
 * as long as the current task and its descendants, for an implicit task until the end of the region. No effect if
 * the task shares already. Ends the program between marline_graph_iterate and marline_graph_end of a persistent
 * graph. */
void marline_depend_share(void);

/* Counters --------------------------------------------------------------------------------------------------------- */

/* What the discovery of dependences has done in this process so far (docs/guide/discovery.md). Later versions add
 * fields at the end. */
typedef struct marline_counters {
  uint64_t tasks;       /* tasks with dependences */
  uint64_t dependences; /* dependences of these tasks */
  uint64_t edges;       /* edges created */
  uint64_t pruned;      /* not created: the predecessor had completed */
  uint64_t duplicate;   /* not created: the two tasks already had one */
  uint64_t transitive;  /* not created: another predecessor of the task comes after this one */
  uint64_t nodes;       /* empty nodes between two sets of tasks on one address */
  uint64_t lookups;     /* lookups of addresses in dependence tables */
  uint64_t probes;      /* probes of these lookups beyond the first */
  uint64_t rebuilds;    /* rebuilds of dependence tables: they grow, or drop addresses of completed tasks */
} marline_counters_t;

/* Writes the counters to *out; `bytes` is its size, sizeof *out. A caller that was compiled for a later version than
 * the library's gets zeros for what the library does not count. Counts what happened before the call, and some of
 * the tasks that other threads create meanwhile. */
void marline_counters_read(marline_counters_t* out, size_t bytes);

/* How many suspended tasks were resumed that had to go on on their own thread (tied ones), and how long, in sum,
 * they were ready before that thread resumed them: what `untied` would save. Nothing is measured before the first
 * call, which starts the measurement and writes zeros. Call it before the tasks that count, and again when they have
 * ended: while tasks are being resumed the time may be wrong by any amount. */
void marline_tied_waits(uint64_t* resumptions, uint64_t* nanoseconds);

/* Cancelling the future -------------------------------------------------------------------------------------------- */

/* Called in a task of a taskgroup: tasks of that taskgroup that were created after the calling one, and have not
 * started, do not run any more. They complete as if their bodies were empty: tasks that depend on them go on, and
 * the event of a `detach` clause is not waited for (it may be fulfilled until the taskgroup ends, or never). Tasks
 * that were created before still run, and so do the caller's own descendants, and tasks that have started. If there
 * are several calls, the call of the task created first counts. If the task that opened the taskgroup calls this, it
 * cancels what this task creates from here on in the taskgroup.
 *
 * The order of creation is the order of the task that opened the taskgroup: tasks that other tasks create have the
 * place of their creator in it. The taskgroup is the innermost one that the calling task is in. Whole taskgroups
 * inside it are cancelled with the tasks that opened them, or, if the same task opened both, if they were begun
 * later. Undeferred and final tasks are skipped like others, except Clang's `if(0)`, which the compiler calls
 * itself.
 *
 * Private copies of C++ objects in tasks that do not run are destroyed with Clang. GCC's code destroys them at the
 * end of the body: with GCC, the copies of tasks that existed at the call are not destroyed, and later ones are not
 * made. Outside of taskgroups the call ends the program with one line, and so it does in what a taskgroup creates
 * after 4,294,967,293 tasks, because it does not know their order. */
void marline_taskgroup_cancel_later(void);

/* 1 if a task that the caller's taskgroup creates from now on would not run, so that its creator may stop; 0 if it
 * would, and outside of taskgroups. Costs a load as long as nothing is cancelled. */
int marline_taskgroup_cancelled(void);

/* 1 if the calling task, which has started, would not start any more, so that it may end early: no task that runs
 * needs its result. 0 if it would, and outside of taskgroups. Costs a load as long as nothing is cancelled. */
int marline_task_cancelled(void);

/* Persistent graphs ------------------------------------------------------------------------------------------------ */

/* For a task that creates the same tasks with the same dependences again and again (time steps, sweeps, solver
 * iterations). The first iteration is recorded; from then on creating a task of it costs the copy of its firstprivate
 * data and little else, as descriptors, edges and order are kept. The code stays as it is:
 *
 *     marline_graph_t *g = marline_graph_begin(MARLINE_GRAPH_BARRIER);
 *     for (int it = 0; it < n; ++it) {
 *       marline_graph_iterate(g);
 *       ... tasks with depend clauses ...
 *     }
 *     marline_graph_end(g);
 *
 * or `MARLINE_GRAPH_FOR(int it = 0, it < n, ++it, MARLINE_GRAPH_BARRIER) { ... }`.
 *
 * The graph's tasks are the tasks that the calling task itself creates between the first marline_graph_iterate and
 * marline_graph_end; tasks that these create are ordinary tasks. An iteration that differs from the record (another
 * task, another dependence, more or fewer tasks) is noticed at the first difference: it goes on correctly with ordinary
 * tasks, and the iteration after it is recorded anew. A task's data (its firstprivate copies) may differ from iteration
 * to iteration, and so may its priority. All calls for one graph come from the task that began it, and none from inside
 * a taskgroup that begins in the iteration: other calls, and a null graph, end the program. A task may have one graph
 * at a time. */
typedef struct marline_graph marline_graph_t;

enum {
  /* An iteration begins when all tasks of the previous one have ended. */
  MARLINE_GRAPH_BARRIER = 0,
  /* Iterations overlap, ordered by their dependences alone; an iteration begins when the last but one has ended. Two
   * iterations are recorded, and the third waits for them. */
  MARLINE_GRAPH_NOWAIT = 1,
  /* The first iteration's tasks are run again, with the data that they had then; the body is not run. Works like
   * MARLINE_GRAPH_BARRIER if replay is not possible: see marline_graph_iterate. */
  MARLINE_GRAPH_REPLAY = 2
};

/* Begins a graph; `mode` as above. Free it with marline_graph_end. Ends the program if the task is between
 * marline_graph_iterate and marline_graph_end of another graph. A task that shares its dependence table
 * (marline_depend_share) has no graphs: its first marline_graph_iterate ends the program, and so does a
 * marline_graph_iterate of a second graph before the end of the first. */
marline_graph_t* marline_graph_begin(int mode);

/* Begins the next iteration. Returns 1 if the body is to run. Returns 0, with MARLINE_GRAPH_REPLAY only, if the
 * iteration has been replayed and the body is to be skipped. That mode returns 1 throughout if a task has data that
 * cannot be copied byte by byte (C++ objects with copy constructors or destructors), is undeferred, or takes part in
 * a task reduction of a taskgroup in the body. */
int marline_graph_iterate(marline_graph_t* graph);

/* Waits for all tasks of the graph, and frees it: do not use it afterwards. */
void marline_graph_end(marline_graph_t* graph);

/* The next iteration is recorded anew: for a producer that knows that its tasks will differ from now on. */
void marline_graph_invalidate(marline_graph_t* graph);

/* The producer will not create the task that comes next in the record, in this iteration and in all later ones. The
 * order among the other tasks stays as if it were there. No effect in an iteration that is being recorded. */
void marline_graph_drop_task(marline_graph_t* graph);

/* A for loop with the iterations of a graph: `MARLINE_GRAPH_FOR(int i = 0, i < n, ++i, MARLINE_GRAPH_NOWAIT) body`.
 * `break` and `continue` work as in a for loop (leaving by `return` or `goto` would not end the graph). Inside, the
 * graph is `marline_graph_`. A declaration of several variables needs a line of its own before the loop. */
#define MARLINE_GRAPH_FOR(init, condition, step, mode)                              \
  for (marline_graph_t* marline_graph_ = marline_graph_begin(mode); marline_graph_; \
       marline_graph_end(marline_graph_), marline_graph_ = 0)                       \
    for (init; condition; step)                                                     \
      if (!marline_graph_iterate(marline_graph_)) {                                 \
      } else

#ifdef __cplusplus
}
#endif

#endif
