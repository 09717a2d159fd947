/* SPDX-License-Identifier: Apache-2.0
 *
 * Classifies callers by shared object, with a direct-mapped table of call sites. A slot is one word that holds a site
 * and its answer, so a reader sees both or neither. If a library is loaded at the addresses of a closed one, the old
 * answers stay.
 */
#include "ignored.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { kSlots = 4096 }; /* a call site that has lost its slot to another is classified again */

/* call site << 1 | answer. Written and read by any caller; relaxed, as an entry is complete in itself. */
static _Atomic uintptr_t call_sites[kSlots];

/* Beginnings of file names: Marline's libraries, the parts of MPI implementations and the libraries by which they
 * communicate, and libc. */
static const char* const kIgnored[] = {
    "libmarline", "libmpi",   "mca_",     "libopen-",    "libmca_common", "libpmix",    "libpmi",
    "libmpl.",    "libopa.",  "libromio", "libucp.",     "libucs.",       "libuct.",    "libucm.",
    "libuct_",    "libucs_",  "libucx_",  "libfabric.",  "libpsm",        "libibverbs", "librdma",
    "libhwloc.",  "libevent", "libc.so.", "libpthread.", "libgcc_s.",     "ld-linux"};

static bool find(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == NULL) return false; /* code made at run time */
  const char* slash = strrchr(info.dli_fname, '/');
  const char* name = slash != NULL ? slash + 1 : info.dli_fname;
  for (unsigned i = 0; i < sizeof kIgnored / sizeof kIgnored[0]; ++i) {
    if (strncmp(name, kIgnored[i], strlen(kIgnored[i])) == 0) return true;
  }
  return false;
}

bool is_ignored(const void* address) {
  const uintptr_t site = (uintptr_t)address;
  _Atomic uintptr_t* slot = &call_sites[site % kSlots];
  const uintptr_t entry = atomic_load_explicit(slot, memory_order_relaxed);
  if (entry >> 1 == site) return (entry & 1) != 0;
  const bool answer = find(address);
  atomic_store_explicit(slot, site << 1 | (uintptr_t)answer, memory_order_relaxed);
  return answer;
}
