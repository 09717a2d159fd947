/* SPDX-License-Identifier: Apache-2.0
 *
 * The record of `marline check --dependences`: which task accessed which addresses, and what the program says about the
 * order of its tasks. One file for each process, `accesses.PID`, written by libmarline-accesses.so (or by another
 * instrumentation) and read by analysis/dependences.
 *
 * A file is a sequence of records of 64-bit words in the machine's byte order. The first word of a record is
 * kind | words << 8, and `words` further words follow. The file begins with kHead. An unknown kind is passed over.
 *
 * The order of the records is the order of time, as one observer sees it who takes a lock for each record. Therefore:
 *   - kAccesses of a task stand before the record that ends the segment in which they were made. A segment ends at
 *     each of kTask (of the parent), kEnd, kParallel, kParallelEnd, kWaitBegin, kWaitEnd, kAcquired, kReleased,
 *     kOperation and kOperationEnd. An operation has one segment.
 *   - a record that says that addresses get another meaning (kAllocated, kReused, kStack) stands before all accesses to
 *     the new object and after all accesses to the old one, if the program is right.
 *
 * Tasks, regions and texts are numbers from 1, each given once in a process. A task is explicit, implicit or initial,
 * or stands for an operation of MPI.
 */
#ifndef MARLINE_COMMON_ACCESSES_FORMAT_H
#define MARLINE_COMMON_ACCESSES_FORMAT_H

#include <stdint.h>

#define MARLINE_ACCESSES_MAGIC UINT64_C(0x31535345434341) /* "ACCESS1" */

typedef enum AccessRecord {
  kHead = 1, /* magic */
  kTask = 2, /* task, parent, OMPT's flags (ompt_task_flag_t), code after the construct, text of its label or 0 */
  kDependences = 3,  /* task, then pairs: address, OMPT's type (ompt_dependence_type_t). Between kTask and kBegin */
  kBegin = 4,        /* task: its code begins */
  kEnd = 5,          /* task: its code has ended (also: was cancelled). It is complete unless kDetached precedes */
  kDetached = 6,     /* task: it is complete only when its event is fulfilled */
  kFulfilled = 7,    /* task, task that fulfilled its event or 0; before kEnd if there was no kDetached */
  kParallel = 8,     /* region, encountering task, code after the construct */
  kParallelEnd = 9,  /* region, encountering task */
  kImplicit = 10,    /* task, region (0: an initial task), its number in the team */
  kImplicitEnd = 11, /* task */
  kWaitBegin = 12,   /* task, OMPT's kind (ompt_sync_region_t): barriers, taskwait, taskgroup */
  kWaitEnd = 13,     /* task, kind */
  kAcquired = 14,    /* task, mutex (any number that names it): critical, lock, ordered, a mutex of pthreads */
  kReleased = 15,    /* task, mutex */
  kAccesses = 16,    /* task, then triples: address, size << 2 | AccessFlags, code of the first such access */
  kAllocated = 17,   /* task or 0, address, size, code after the call */
  kFreed = 18,       /* task or 0, address, code after the call: counts as a write of the whole block */
  kReused = 19,      /* low, high: what lay there is no more, without the program's doing (memory of tasks) */
  kStack = 20,    /* task, low, high: the task's own frames lie there until its kEnd. Also ends older objects there */
  kPrivate = 21,  /* low, high: thread-local storage, or a thread's copies of task reduction variables; accesses are not
                     compared, up to a kAllocated there */
  kText = 22,     /* text, its length in bytes, its bytes filled up to whole words */
  kModule = 23,   /* load address (what to subtract for an address as linked), low, high, text of its path */
  kComplete = 24, /* the process came to its end in order */
  kInstrumented = 25, /* accesses of (some) code are seen; anywhere */
  kOperation = 26, /* task that stands for it, task that started it, code after the call, text of its name. MPI goes on
                      with the operation while the program does something else; no wait of OpenMP's joins it */
  kOperationEnd = 27, /* operation, task: what follows in the task comes after the operation. 0 for the task: what
                        threads without tasks do from here on, to fulfil events, comes after it */
  kOnDevice = 28      /* task: a target region of it runs on a device, where its accesses are not seen */
} AccessRecord;

/* A read is listed only for bytes that the segment has not written before. */
typedef enum AccessFlags { kWrite = 1, kAtomic = 2 } AccessFlags;

#endif
