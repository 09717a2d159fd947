/* SPDX-License-Identifier: Apache-2.0
 *
 * PMPI tools that stand between this library and MPI: linked to the program, or preloaded behind. Such a tool defines
 * MPI_X, does its work and calls PMPI_X. This library defines PMPI_X, too, and the loader finds it first. So next_mpi
 * leads to the tool's MPI_X (the tool sees the calls that this library makes), and a call from the tool is passed on to
 * mpi_itself. A call that seems to come from this library is passed on as well: this library never calls its own entry
 * points, but a tool that ends in a jump to PMPI_X leaves its caller's return address. Hence this library must not end
 * in jumps (-fno-optimize-sibling-calls).
 *
 * Written by library_resolve(), only read afterwards. Without such a tool the cost is one test per call.
 */
#ifndef MARLINE_MPI_TOOL_BEHIND_H
#define MARLINE_MPI_TOOL_BEHIND_H

#include <stdbool.h>
#include <stdint.h>

/* Where a shared object lies. */
typedef struct ObjectRange {
  uintptr_t begin;
  uintptr_t end;
} ObjectRange;

/* Of the one that holds `address`; empty if there is none. dladdr() would look for a symbol, too: it goes through all
 * of the object's, which MPI libraries have thousands of. */
ObjectRange object_range(const void* address);

static inline bool object_holds(const ObjectRange* object, const void* address) {
  return (uintptr_t)address >= object->begin && (uintptr_t)address < object->end;
}

extern int tool_behind_count;

/* The shared object that holds `address` is such a tool, or to be treated as one. */
void tool_behind_add(const void* address);

bool tool_behind_holds(const void* address);

static inline bool is_from_tool_behind(const void* return_address) {
  return __builtin_expect(tool_behind_count > 0, 0) && tool_behind_holds(return_address);
}

/* The beginning of each function that this library defines: `call` is its name in NextMpi, with its arguments. */
#define PASS_ON_FROM_TOOL(call)                                                   \
  do {                                                                            \
    if (is_from_tool_behind(__builtin_return_address(0))) return mpi_itself.call; \
  } while (0)

#endif
