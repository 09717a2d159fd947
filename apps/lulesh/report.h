/* SPDX-License-Identifier: Apache-2.0
 *
 * The output of a run on standard output: remarks, `# KEY VALUE`, and figures, `NAME VALUE UNIT`, with the reference's
 * quantities, and a hash of all fields by which forms are compared. Rank 0, main thread.
 */
#ifndef LULESH_REPORT_H
#define LULESH_REPORT_H

#include <stdint.h>

#include "fields.h"
#include "options.h"
#include "tasks.h"

typedef struct {
  const Options* options;
  int ranks, threads;
  double seconds;       /* of the slowest process, without start and end */
  uint64_t hash;        /* of all processes' fields */
  double bytes;         /* memory that each process will need, at least */
  const TaskRun* tasks; /* of rank 0; NULL: none */
} Report;

/* A hash of the values of this process's nodes and elements at the end: equal only if all bits are. */
uint64_t report_hash(const Fields* fields);

/* Called before memory is allocated, before the run, and after it. The figure of merit is in thousands of elements
 * and cycles per second, as the reference has it, which calls its unit z/s all the same. */
void report_memory(const Report* report);
void report_begin(const Report* report);
void report_end(const Report* report, const Fields* fields);

#endif
