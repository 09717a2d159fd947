/* SPDX-License-Identifier: Apache-2.0
 *
 * The failure of a process. Any error in a process (a file, memory) is noted in a Failure. At the next agreement
 * (job.h) all processes learn of it, one of them prints one line, and all leave with the same exit status. Used by the
 * main thread only.
 */
#ifndef APPS_COMMON_FAILURE_H
#define APPS_COMMON_FAILURE_H

/* Exit statuses. */
enum {
  kExitWrong = 1, /* the result is wrong, or the problem has none */
  kExitInput = 2, /* error in options, file, memory, or libraries */
};

typedef struct {
  int code; /* 0: nothing happened */
  char text[512];
} Failure;

/* Notes what happened; the first note stays. */
__attribute__((format(printf, 3, 4))) void failure_note(Failure* failure, int code, const char* format, ...);

#endif
