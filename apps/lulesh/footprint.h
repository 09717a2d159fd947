/* SPDX-License-Identifier: Apache-2.0
 *
 * Which memory each task of a cycle touches, in which order: --footprint. `marline reuse` reads it together with a
 * recorded run (docs/guide/reuse.md). Nothing is computed; each phase of each task is walked through by the table of
 * loops, over the mesh's own tables.
 *
 * The file: lines of text, then numbers. Byte order and width are the machine's, 8 bytes each.
 *
 *   marline-footprint 1
 *   granule BYTES             memory is reported in pieces of so many bytes, aligned
 *   task NAME PHASE COUNT     in the order of creation; tasks of the form `for` that have one phase run at one time, on
 *                             threads 0, 1, ...; COUNT numbers of the task follow below
 *   numbers
 *   ...                       address / BYTES, of all tasks; bit 63: written
 *
 * A piece that one access of a loop touches again at once is reported once.
 */
#ifndef LULESH_FOOTPRINT_H
#define LULESH_FOOTPRINT_H

#include "cut.h"
#include "failure.h"
#include "plan.h"

enum { kGranule = 64 }; /* a cache line */

/* Either `cut` is given, for the forms without tasks, or `plan`, for the forms with tasks. Main thread. */
void footprint_write(const char* path, Fields* fields, const Cut* cut, const Plan* plan, Failure* failure);

#endif
