/* SPDX-License-Identifier: Apache-2.0
 *
 * Marline's public face for what OpenMP has no directive for: events that a task can wait for without holding a core,
 * progress hooks that the scheduler polls, names for tasks, dependences given by calls, counters of their discovery,
 * tasks that are cancelled before they run, and graphs that are recorded once and repeated. libmarline-mpi is written
 * on nothing else, so whatever it can do, a program or a library can do too. For Fortran: marline.f90; for C++ also
 * depend.hpp and graph.hpp.
 *
 * Conventions. All functions are thread-safe unless they say otherwise, never throw, and may be called from any thread
 * of the process, also one that the runtime has never seen. Nothing here allocates on the path of a wait. A misuse that
 * the runtime can see (waiting twice for one event, say) ends the program with one line that names it.
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

/* Something that happens once: a message arrives, a kernel ends, a callback fires. The caller owns the storage (on the
 * waiting task's stack, typically) and keeps it alive until the wait has returned. `state` is the runtime's. At most
 * one task waits for an event; it is fulfilled at most once after each initialisation. */
typedef struct marline_event {
  uintptr_t state;
} marline_event_t;

#define MARLINE_EVENT_INIT {0}

/* Makes *event pending. Not thread-safe for one event: call it before the event is shared. */
void marline_event_init(marline_event_t* event);

/* Suspends the current task until *event is fulfilled; returns at once if it already is. The thread runs other tasks in
 * the meantime. A tied task resumes on the same thread, an untied one on any thread of its team: after the call, do not
 * use thread-local addresses from before it. Everything written before the fulfilment is visible after the wait. From a
 * thread that runs no task of Marline's, the thread itself sleeps until the event is fulfilled. */
void marline_event_wait(marline_event_t* event);

/* What a wait is for, as `marline ps` shows it. `operation` is a string of static storage, e.g. "MPI_Recv"; `names` a
 * static list with one string for each value that is used, closed by NULL, e.g. {"peer", "tag", NULL}. A call that
 * waits for several things gives their ids, which the library's own part of the report explains
 * (marline_describe_register): an array of `id_count` signed integers of `id_bytes` bytes, 4 or 8, e.g. of MPI_Request;
 * the library may change it meanwhile. The storage of the record itself is the caller's, on the waiting task's stack
 * typically. */
#define MARLINE_WAIT_VALUES 6
typedef struct marline_wait {
  const char* operation;
  const char* const* names;
  int64_t values[MARLINE_WAIT_VALUES];
  const void* ids; /* or NULL */
  int id_count;
  int id_bytes;
} marline_wait_t;

/* marline_event_wait, and says what for. *wait stays as it is until the call returns. Costs a store more. */
void marline_event_wait_for(marline_event_t* event, const marline_wait_t* wait);

/* Between the two calls the calling thread, and the task that it runs, may block inside a library rather than suspend:
 * `marline ps` then does not take it for one that computes. *wait stays as it is, and the task is not suspended, in
 * between. They nest: the outermost one counts. Cheap; a thread that the runtime has not seen makes one system call at
 * its first time, and 64 of these are known at a time. */
void marline_block_begin(const marline_wait_t* wait);
void marline_block_end(void);

/* A library's own part of what `marline ps` reads: `describe` calls write(sink, text, length) any number of times, the
 * whole of which is one JSON value; `name` (not copied) is its key, and by what it is asked for. Called on a thread of
 * the runtime's own while others run or hang, one call at a time: it must not wait for locks that these may hold, nor
 * suspend. Returns 0, or -1 when the table of 8 is full. There is no way to take it out again. */
typedef void (*marline_describe_write_fn)(void* sink, const char* text, size_t length);
typedef void (*marline_describe_fn)(void* arg, marline_describe_write_fn write, void* sink);
int marline_describe_register(const char* name, marline_describe_fn describe, void* arg);

/* For libraries that span nodes: lets `marline ps` reach this process from other nodes. A thread listens at a TCP port,
 * which is the result, and connects clients that send `secret` (copied; 1 to 64 characters) with the process's local
 * socket. The first call counts. 0: that cannot be, or has been done, or MARLINE_INSPECT=false. */
int marline_describe_relay(const char* secret);

/* Fulfils *event and makes its waiter ready; never runs a task itself. The storage may be gone when the call returns.
 * Accepts the handle of a `detach` clause too, and `omp_fulfill_event` accepts an event's address: they are one thing.
 */
void marline_event_fulfill(marline_event_t* event);

/* 1 if *event has been fulfilled, 0 if not; never blocks. What was written before a fulfilment that it saw is visible.
 */
int marline_event_test(const marline_event_t* event);

/* 1 if the caller may usefully suspend: it runs inside a parallel region or an explicit task of Marline's, and not
 * inside a progress hook. A library that offers a blocking call asks this first, and blocks as ever where it is 0. */
int marline_can_suspend(void);

/* For tools: called by every task that is about to leave its thread, on the task's own stack, before anything else runs
 * on the thread. OMPT alone does not tell: it announces changes of tasks, also where one is called over a frame that
 * stays, and is silent where an implicit task leaves. The observer must not suspend, create tasks or wait for other
 * threads' tasks; it may ask OMPT for the current task. */
typedef void (*marline_suspend_fn)(void);

/* Installs the process's only such observer; NULL takes it out. It may still be called for a moment then. */
void marline_suspend_observe(marline_suspend_fn observer);

/* Calls of libraries ----------------------------------------------------------------------------------------------- */

/* Around a call of a library that may call code of the program's back, as MPI calls a reduction's operation or an error
 * handler. The library then is in the middle of something, perhaps with its own locks held: no task may be suspended
 * over its frames, and no other task run on the thread meanwhile. Between the two calls the thread is none of the
 * runtime's. If code that is called back uses OpenMP, it does so in an initial task of its own: its tasks are run by
 * this thread and by the threads of its own parallel regions, they have ended when marline_library_leave returns, and
 * no progress hook is called for it. Calls nest. *call, on the caller's stack, is the runtime's in between; both are
 * called on one thread, and nothing between them outside of such code may suspend. A few nanoseconds where nothing is
 * called back. */
typedef struct marline_library_call {
  void* state[2];
} marline_library_call_t;
void marline_library_enter(marline_library_call_t* call);
void marline_library_leave(marline_library_call_t* call);

/* 1 inside of such a call, and in regions that code which was called back has opened: there, a library that suspends
 * tasks, or polls in place of blocking, must block. Else 0. */
int marline_is_called_back(void);

/* Progress hooks --------------------------------------------------------------------------------------------------- */

/* A function that moves asynchronous operations forward and fulfils the events of those that ended. The scheduler calls
 * it at task scheduling points and from idle threads, one thread of the process at a time, and only while operations
 * are pending (marline_progress_add). It is called as a library's code is (marline_library_enter): it may create tasks,
 * wait for them and open parallel regions, but must not wait for what only a hook brings about, and the shorter it is,
 * the better. It may fulfil events and call marline_progress_add. Returns the number of operations that it found
 * finished: 0 makes the next call come later. */
typedef int (*marline_poll_fn)(void* arg);
typedef struct marline_hook marline_hook_t;

/* Registers `poll`, to be called with `arg`. `name` (not copied) appears in diagnostics. Returns NULL when the table of
 * 16 hooks is full. */
marline_hook_t* marline_progress_register(const char* name, marline_poll_fn poll, void* arg);

/* Takes the hook out; no call of it is under way when this returns. Not from inside a hook. */
void marline_progress_unregister(marline_hook_t* hook);

/* Adds n (negative: subtracts) to the number of operations that wait for this hook. While the sum is positive the hook
 * is polled: one idle worker does nothing else, and a watchdog bounds the delay when all workers are busy. */
void marline_progress_add(marline_hook_t* hook, int n);

/* Holds ------------------------------------------------------------------------------------------------------------ */

/* What a task is held by; not a pointer to anything. */
typedef struct marline_task marline_task_t;

/* The current task does not complete before the hold is released: its body may end, but successors, taskwait, taskgroup
 * and barriers wait as if it still ran. Like a `detach` clause, without one, and as often as you like: each hold is
 * released once. With a `detach` clause on the same task both count. An undeferred or final task's creator waits for
 * the holds. In an implicit task, where there is no completion to wait for, the next barrier of its team does, the one
 * at the end of the region at the latest. Returns NULL, and holds nothing, where no task is there to be held: outside
 * of parallel regions and explicit tasks, on threads that run none of Marline's tasks, and in progress hooks. */
marline_task_t* marline_task_hold(void);

/* Releases a hold, from any thread, while the task runs or later; never runs a task itself. What was written before it
 * is visible to whoever waits for the task. Do not use `task` afterwards: a second release of one hold is not noticed.
 */
void marline_task_release(marline_task_t* task);

/* Names ------------------------------------------------------------------------------------------------------------ */

/* Names the next task that the current task creates, for traces, `marline ps` and error messages. `label` is not
 * copied: a string literal, or storage that outlives the task. */
void marline_task_label(const char* label);

/* Colours the next task that the current task creates in charts: 0xRRGGBB. */
void marline_task_color(uint32_t rgb);

/* Priorities ------------------------------------------------------------------------------------------------------- */

/* Tells Marline that the current task sends messages. Tasks of the same kind (of one construct, with as much data and
 * as many dependences) that are created later then have the highest priority, if MARLINE_PRIORITY asks for that (FA);
 * otherwise, and outside of explicit tasks, the call does nothing. libmarline-mpi calls it where MPI sends. From any
 * thread, as often as you like; costs a few nanoseconds. */
void marline_task_sends(void);

/* Affinity --------------------------------------------------------------------------------------------------------- */

/* Says that the next task that the current task creates works mostly on the `length` bytes at `address`, like OpenMP's
 * affinity clause, which GCC 12 drops. When the task is ready, threads bound to the NUMA domain where these bytes lie
 * take it first. A hint: it has no effect where threads are not bound (OMP_PROC_BIND), or all to one domain, or where
 * the system does not say where memory lies. Of several calls for one task the longest piece decides. The memory is not
 * read; pages that nobody has touched yet lie nowhere. */
void marline_task_affinity(const void* address, size_t length);

/* Nodes ------------------------------------------------------------------------------------------------------------ */

/* With the nodes of a job as one device (MARLINE_DEVICES=cluster): the next target construct of the current task runs
 * on node `node` of it, from 1 on, if it is for the cluster; device(k) in the construct decides where it is given. If
 * the next task that the current task creates is no target task, the hint is for all target regions that this task
 * runs. Call it right before the construct; constructs that only move data do not use it. Does nothing where the
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

/* One locator. A null address with MARLINE_OUT or MARLINE_INOUT is omp_all_memory; with another type it means nothing.
 */
typedef struct marline_dependence {
  void* address;
  marline_depend_type_t type;
} marline_dependence_t;

/* Adds list[0 .. n-1] to the dependences of the next task that the current task creates; several calls, and the depend
 * clause of the construct, add up. An address that is named in several ways orders like MARLINE_INOUT. The list is read
 * before the call returns. For `task` constructs, and for a taskloop's tasks from inside the function that
 * marline_taskloop_depend was given; a `taskwait` neither uses nor drops them. A task that is undeferred, included or
 * final waits for these dependences as for its own. The construct follows in the same task, with no task scheduling
 * point in between. Ends the program: a null list with n > 0, a type that is none of the above, a task that suspends or
 * ends without having created the task. */
void marline_task_depend(const marline_dependence_t* list, size_t n);

/* A list of dependences that is prepared once and used for any number of tasks, by any thread, at any time: what depobj
 * does for one locator. */
typedef struct marline_depend_object marline_depend_object_t;

/* Copies the list and keeps one entry for each address, with the types merged: one type stays what it is, several
 * become MARLINE_INOUT. omp_all_memory stands for all other entries. The caller destroys it. */
marline_depend_object_t* marline_depend_create(const marline_dependence_t* list, size_t n);

/* Any time after the last task construct that uses it: tasks do not need it once they are created. NULL is allowed. */
void marline_depend_destroy(marline_depend_object_t* object);

/* Like marline_task_depend, with the object's list. Costs less: nothing is checked, and nothing copied where it is all
 * that the task depends on. The object must live until the task is created. */
void marline_task_depend_object(const marline_depend_object_t* object);

/* Called by the task that encounters a taskloop, right before each of its tasks is created, for iterations `first` to
 * `first` + `count` - 1. The first iteration of the loop, or of the collapsed loops, is 0, whatever its variable starts
 * from and whichever way it goes. Calls marline_task_depend or marline_task_depend_object, any number of times, and may
 * name the task; it must not create tasks, wait or suspend. */
typedef void (*marline_chunk_depend_fn)(uint64_t first, uint64_t count, void* arg);

/* Gives dependences to each task of the next `taskloop` of the current task, which OpenMP has no clause for:
 * depend(first, count, arg) is called for each. The construct follows in the same task. With any clauses; `nogroup` is
 * what most want, as a taskloop waits for its tasks otherwise. The tasks are siblings of the current task's other
 * children and ordered with them. Ends the program: a null function, a task that ends without having reached the
 * taskloop, and marline_task_depend right before a taskloop, which would not say of which of its tasks it speaks. */
void marline_taskloop_depend(marline_chunk_depend_fn depend, void* arg);

/* From this call on, the tasks that the current task creates, and their descendants, share its dependences: whatever
 * task of them creates a task, its dependences are ordered with those of all the others, as if the current task had
 * created it at that moment. So several tasks discover one graph in parallel; in which order their tasks come is the
 * program's to settle where it matters, by dependences or waits of the producers.
 *
 * A producer never stands before its descendants, also where it has dependences on their addresses itself: to later
 * tasks its descendants then stand for it. `taskwait` and `taskgroup` wait for whom they always wait; a producer that
 * waits for tasks of its own must not have them wait, over other producers' tasks, for itself. Lasts as long as the
 * current task and its descendants, of an implicit task: until the end of the region. No effect when the task shares
 * already. Ends the program between marline_graph_iterate and marline_graph_end of a persistent graph. */
void marline_depend_share(void);

/* Counters --------------------------------------------------------------------------------------------------------- */

/* What the discovery of dependences has done in this process so far (docs/guide/discovery.md). Later versions add
 * fields at the end. */
typedef struct marline_counters {
  uint64_t tasks;       /* with dependences */
  uint64_t dependences; /* of them */
  uint64_t edges;       /* created */
  uint64_t pruned;      /* not created: the predecessor had completed */
  uint64_t duplicate;   /* not created: there was one between the two tasks */
  uint64_t transitive;  /* not created: another predecessor of the task comes after that one */
  uint64_t nodes;       /* empty nodes between two sets of tasks on one address */
  uint64_t lookups;     /* of addresses in dependence tables */
  uint64_t probes;      /* of those lookups beyond the first */
  uint64_t rebuilds;    /* of dependence tables: they grow, or drop addresses whose tasks have completed */
} marline_counters_t;

/* Writes the counters to *out, of which `bytes` is the size: sizeof *out. A caller that was compiled for a later
 * version than the library's gets zeros for what the library does not count. Counts what happened before the call; of
 * tasks that other threads create meanwhile, some. */
void marline_counters_read(marline_counters_t* out, size_t bytes);

/* How many suspended tasks were resumed that had to go on on their own thread (tied ones), and for how long, in sum,
 * they were ready before it took them up: what `untied` would save. Nothing is measured before the first call, which
 * starts it and writes zeros; call it before the tasks that count, and again when they have ended: while tasks are
 * being resumed the time may be wrong by any amount. */
void marline_tied_waits(uint64_t* resumptions, uint64_t* nanoseconds);

/* Cancelling the future -------------------------------------------------------------------------------------------- */

/* Called in a task of a taskgroup: tasks of that taskgroup that were created after the calling one, and have not
 * started, do not run any more. They complete as if their bodies were empty: what depends on them goes on, and the
 * event of a `detach` clause is not waited for (it may be fulfilled until the taskgroup ends, or never). Tasks that
 * were created before run, and so do the caller's own descendants, and tasks that have started. Of several calls, that
 * of the task created first counts. Called by the task that opened the taskgroup: whatever it creates from here on in
 * the taskgroup.
 *
 * The order of creation is that of the task which opened the taskgroup: what other tasks create belongs to their place
 * in it. The taskgroup is the innermost one that the calling task is in; whole taskgroups inside it are cancelled with
 * the tasks that opened them, or, where the same task opened both, if they were begun later. Undeferred and final tasks
 * are skipped as others are, but for Clang's `if(0)`, which the compiler calls itself.
 *
 * Private copies of C++ objects in tasks that do not run are destroyed with Clang. With GCC, whose code destroys them
 * at the end of the body, those of tasks that existed at the call are not, and later ones are not made. Outside of
 * taskgroups the call ends the program with one line, and so it does in what a taskgroup creates after 4,294,967,293
 * tasks: it does not know their order. */
void marline_taskgroup_cancel_later(void);

/* 1 if a task that the caller's taskgroup creates from now on would not run, so that the one who creates them may stop;
 * 0 if it would, and outside of taskgroups. Costs a load as long as nothing is cancelled. */
int marline_taskgroup_cancelled(void);

/* 1 if the calling task, which has started, would not start any more, so that it may end early: nobody who runs needs
 * its result. 0 if it would, and outside of taskgroups. Costs a load as long as nothing is cancelled. */
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
 * The graph's tasks are those that the calling task itself creates between the first marline_graph_iterate and
 * marline_graph_end; tasks that these create are as ever. An iteration that differs from the record (another task,
 * another dependence, more or fewer tasks) is noticed where it does: it goes on correctly with ordinary tasks, and the
 * iteration after it is recorded anew. A task's data (its firstprivate copies) may differ from iteration to iteration,
 * and so may its priority. All calls for one graph come from the task that began it, and none from inside a taskgroup
 * that begins in the iteration: other calls, and a null graph, end the program. A task may have one graph at a time. */
typedef struct marline_graph marline_graph_t;

enum {
  /* An iteration begins when all tasks of the one before have ended. */
  MARLINE_GRAPH_BARRIER = 0,
  /* Iterations overlap, ordered by their dependences alone; an iteration begins when the last but one has ended. Two
   * iterations are recorded, and waited for before the third. */
  MARLINE_GRAPH_NOWAIT = 1,
  /* The first iteration's tasks are run again, with the data they had then; the body is not. As MARLINE_GRAPH_BARRIER
   * where that cannot be: see marline_graph_iterate. */
  MARLINE_GRAPH_REPLAY = 2
};

/* Begins a graph; `mode` as above. Free it with marline_graph_end. Ends the program if the task is between
 * marline_graph_iterate and marline_graph_end of another graph. A task that shares its dependence table
 * (marline_depend_share) has no graphs: its first marline_graph_iterate ends the program, as does one of a second graph
 * before the end of the first. */
marline_graph_t* marline_graph_begin(int mode);

/* Begins the next iteration. 1: run the body. 0, with MARLINE_GRAPH_REPLAY only: the iteration has been replayed, skip
 * the body. That mode returns 1 throughout if a task has data that cannot be copied byte by byte (C++ objects with
 * copy constructors or destructors), is undeferred, or takes part in a task reduction of a taskgroup in the body. */
int marline_graph_iterate(marline_graph_t* graph);

/* Waits for all tasks of the graph, and frees it: not to be used afterwards. */
void marline_graph_end(marline_graph_t* graph);

/* The next iteration is recorded anew: for a producer that knows that its tasks will be others from now on. */
void marline_graph_invalidate(marline_graph_t* graph);

/* The producer will not create the task that comes next in the record, in this iteration and in all later ones. The
 * order among the others stays as if it were there. Without effect in an iteration that is being recorded. */
void marline_graph_drop_task(marline_graph_t* graph);

/* A for loop whose iterations are those of a graph: `MARLINE_GRAPH_FOR(int i = 0, i < n, ++i, MARLINE_GRAPH_NOWAIT)
 * body`. `break` and `continue` mean what they mean in a for loop (leaving by `return` or `goto` would not end the
 * graph); the graph is `marline_graph_` inside. A declaration of several variables needs a line of its own in front. */
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
