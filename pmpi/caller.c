/* SPDX-License-Identifier: Apache-2.0
 *
 * Classifies callers by shared object, with a table of call sites.
 *
 * The table is direct-mapped. A slot is one word that holds a call site and its answer together, so a reader sees both
 * or neither, and two threads that fill a slot at once leave one valid entry. If a library is unloaded and another one
 * is loaded at its addresses, the old answer stays. That does no harm: MPI libraries are not unloaded in practice, and
 * nearly all other libraries count as user code.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "caller.h"

#include "../common/environment.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A call site that has lost its slot to another is looked up again, by dladdr(), for some hundred nanoseconds. */
enum { kSlots = 1024, kAnswerBits = 2, kSiteShift = 1 };

/* call site << kAnswerBits | answer; user-space addresses leave these bits free. Written and read by any caller;
 * relaxed, as an entry is complete in itself. */
static _Atomic uintptr_t call_sites[kSlots];

/* File name prefixes of the parts of MPI implementations that live outside the library proper. Open MPI's components
 * are opened when first needed, so the set of objects cannot be taken once at the start. */
static const char kMpiParts[] = "mca_,libopen-pal.,libopen-rte.,libmca_common,libmpl.,libopa.,libromio";

/* Libraries that keep global state across MPI calls: input and output. MARLINE_MPI_NEVER_SUSPEND adds to them. */
static const char kNeverSuspend[] =
    "libhdf5,libnetcdf,libpnetcdf,libadios,libcgns,libsilo,libmedC,libsion,libpioc,libpiof";
static const char kMoreOption[] = "MARLINE_MPI_NEVER_SUSPEND";

/* Defined by a library that stands in front of libmarline-mpi and passes calls on, if one is loaded: the return address
 * of the call in this thread. */
__attribute__((weak, visibility("default"))) const void* marline_trace_caller(void);
static const char kRecorders[] = "libmarline-trace.,libmarline-accesses-mpi.";

/* `prefixes` is a list separated by commas or colons; true if `name` begins with one of them. */
static bool begins_with_any(const char* name, const char* prefixes) {
  while (*prefixes != '\0') {
    const size_t length = strcspn(prefixes, ",:");
    if (length > 0 && strncmp(name, prefixes, length) == 0) return true;
    prefixes += length;
    prefixes += *prefixes != '\0';
  }
  return false;
}

static Caller find_caller(const void* return_address) {
  Dl_info caller;
  Dl_info mpi;
  if (dladdr(return_address, &caller) == 0) return kCallerUser; /* code made at run time */
  if (dladdr(library_address(), &mpi) != 0 && caller.dli_fbase == mpi.dli_fbase) return kCallerMpi;
  const char* slash = strrchr(caller.dli_fname, '/');
  const char* name = slash != NULL ? slash + 1 : caller.dli_fname;
  if (begins_with_any(name, kMpiParts)) return kCallerMpi;
  if (begins_with_any(name, kRecorders) && marline_trace_caller != NULL) return kCallerRecorder;
  const char* more = trusted_variable(kMoreOption);
  if (begins_with_any(name, kNeverSuspend) || (more != NULL && begins_with_any(name, more)))
    return kCallerNeverSuspends;
  return kCallerUser;
}

static Caller look_up(const void* return_address) {
  const uintptr_t site = (uintptr_t)return_address;
  _Atomic uintptr_t* slot = &call_sites[(site >> kSiteShift) % kSlots];
  const uintptr_t entry = atomic_load_explicit(slot, memory_order_relaxed);
  if (entry >> kAnswerBits == site) return (Caller)(entry & ((1U << kAnswerBits) - 1));
  const Caller answer = find_caller(return_address);
  atomic_store_explicit(slot, site << kAnswerBits | (uintptr_t)answer, memory_order_relaxed);
  return answer;
}

const char* caller_option_fault(size_t* length) {
  const char* entry = trusted_variable(kMoreOption);
  while (entry != NULL && *entry != '\0') {
    *length = strcspn(entry, ",:");
    if (strcspn(entry, "/ \t\n") < *length) return entry;
    entry += *length;
    entry += *entry != '\0';
  }
  return NULL;
}

Caller caller_of(const void* return_address) {
  const Caller caller = look_up(return_address);
  return caller == kCallerRecorder ? look_up(marline_trace_caller()) : caller;
}
