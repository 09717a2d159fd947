/* SPDX-License-Identifier: Apache-2.0
 *
 * The collective calls of this process on one communicator, numbered in the order in which they began: the last
 * kLogEntries calls, and how many are in progress. MPI demands that all processes of a communicator begin its
 * collectives in one order (MPI 3.1, 5.13); order.h compares the logs if the order depends on timing.
 *
 * The calling thread writes an entry (a seqlock: `number` last); any thread may read it. Two threads that begin at the
 * same time get two numbers. Then it is not known which call MPI saw first, but MPI forbids such calls anyway.
 */
#ifndef MARLINE_MPI_COLLECTIVE_LOG_H
#define MARLINE_MPI_COLLECTIVE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/call.h"

enum { kLogEntries = 64 };

/* What processes compare of a call, and what a report says of it. */
typedef struct LoggedCollective {
  uint64_t number;  /* from 1 */
  const char* name; /* "MPI_Bcast" */
  int root;         /* kNoPeer: the operation has none */
  int64_t bytes;    /* -1: not known, or not the same on all processes */
  const void* site; /* the return address */
  uint64_t oldest;  /* number of the oldest call in progress when this one began, or its own */
  bool in_progress;
} LoggedCollective;

typedef struct CollectiveEntry {
  _Atomic uint64_t number; /* 0: being written */
  _Atomic(const char*) name;
  _Atomic int64_t bytes;
  _Atomic uint64_t oldest;
  _Atomic(const void*) site;
  _Atomic int root;
  atomic_bool in_progress;
} CollectiveEntry;

typedef struct CollectiveLog {
  _Atomic uint64_t begun_and_open; /* calls begun << kOpenBits | calls in progress. Written by callers. */
  CollectiveEntry entries[kLogEntries];
} CollectiveLog;

/* At most 2^24 calls are in progress: the stacks of so many suspended tasks take 64 GiB at least. At most 2^40 calls
 * begin: one per microsecond for twelve days. */
enum { kOpenBits = 24 };

/* A call begins. Returns its number. *oldest: the number of the oldest call in progress, which is this one if there
 * is no other. */
uint64_t collective_log_begin(CollectiveLog* log, const MpiCall* call, const void* site, uint64_t* oldest);

/* MPI has accepted the call: `bytes` is as in LoggedCollective. */
void collective_log_sized(CollectiveLog* log, uint64_t number, int64_t bytes);

void collective_log_end(CollectiveLog* log, uint64_t number);

/* How many calls have begun. */
uint64_t collective_log_begun(const CollectiveLog* log);

/* Copies entry `number`. Returns false if the call has not begun, or its entry has been used again. */
bool collective_log_read(const CollectiveLog* log, uint64_t number, LoggedCollective* record);

#endif
