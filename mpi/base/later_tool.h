/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises the calls of PMPI tools between this library and MPI: linked to the program, or preloaded after this
 * library. Such a tool defines MPI_X, does its work and calls PMPI_X. This library defines PMPI_X, too, and the loader
 * finds it first. So next_mpi leads to the tool's MPI_X (the tool sees the calls that this library makes), and a call
 * from the tool is passed on to mpi_itself. A call that seems to come from this library is passed on as well: this
 * library never calls its own entry points, but a tool that ends in a jump to PMPI_X leaves the return address of its
 * caller. Hence this library must not end in jumps (-fno-optimize-sibling-calls).
 *
 * Written by library_resolve(); later only read. Without such a tool the cost is one test per call.
 */
#ifndef MARLINE_MPI_LATER_TOOL_H
#define MARLINE_MPI_LATER_TOOL_H

#include <stdbool.h>
#include <stdint.h>

/* The addresses of a shared object. */
typedef struct ObjectRange {
  uintptr_t begin;
  uintptr_t end;
} ObjectRange;

/* The addresses of the object that holds `address`; empty if there is none. dladdr() would also look for a symbol in
 * all symbols of the object, and MPI libraries have thousands. */
ObjectRange object_range(const void* address);

static inline bool object_holds(const ObjectRange* object, const void* address) {
  return (uintptr_t)address >= object->begin && (uintptr_t)address < object->end;
}

extern __attribute__((visibility("hidden"))) int later_tool_count;

/* Notes that the shared object that holds `address` is such a tool, or is to be treated as one. */
void later_tool_add(const void* address);

bool later_tool_holds(const void* address);

static inline bool is_from_later_tool(const void* return_address) {
  return __builtin_expect(later_tool_count > 0, 0) && later_tool_holds(return_address);
}

/* The beginning of each function that this library defines. `call` is the function's name in NextMpi, with its
 * arguments. */
#define PASS_ON_FROM_TOOL(call)                                                  \
  do {                                                                           \
    if (is_from_later_tool(__builtin_return_address(0))) return mpi_itself.call; \
  } while (0)

#endif
