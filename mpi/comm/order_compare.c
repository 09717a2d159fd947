/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares collective calls. The reasons of the rules are in docs/design/collective-order.md.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "comm/order_compare.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "comm/comm.h"

/* Two calls that are alike, but come from different places in the program. There is room for all that overlap. */
typedef struct Pair {
  OrderCall theirs;
  OrderCall ours;
} Pair;

enum { kPairs = kLogEntries };
static Pair pairs[kPairs]; /* a ring */
static unsigned next_pair;

static void describe_site(const void* address, char* site) {
  Dl_info info;
  if (address == NULL || dladdr(address, &info) == 0) {
    snprintf(site, kOrderSiteBytes, "an unknown place");
    return;
  }
  const char* slash = strrchr(info.dli_fname, '/');
  snprintf(site, kOrderSiteBytes, "%.*s+0x%zx", kOrderSiteBytes - 20, slash != NULL ? slash + 1 : info.dli_fname,
           (size_t)((const char*)address - (const char*)info.dli_fbase));
}

OrderCall order_call(uint64_t identity, const LoggedCollective* record, int rank) {
  OrderCall call = {.identity = identity,
                    .number = record->number,
                    .oldest = record->oldest,
                    .bytes = record->bytes,
                    .root = record->root,
                    .rank = rank};
  snprintf(call.name, sizeof call.name, "%s", record->name);
  const size_t length = strlen(call.name);
  if (length > 2 && strcmp(call.name + length - 2, "_c") == 0) /* matches the call with small counts */
    call.name[length - 2] = '\0';
  describe_site(record->site, call.site);
  return call;
}

/* Text on one call: "MPI_Bcast (root 0, 8 bytes) at program+0x1234 on rank 1". */
static void describe(const OrderCall* call, char* text, size_t capacity) {
  char root[32] = "";
  char bytes[40] = "";
  if (call->root != kNoPeer) snprintf(root, sizeof root, "root %d", (int)call->root);
  if (call->bytes >= 0) snprintf(bytes, sizeof bytes, "%s%" PRId64 " bytes", root[0] != '\0' ? ", " : "", call->bytes);
  const bool has_more = root[0] != '\0' || bytes[0] != '\0';
  snprintf(text, capacity, "%s%s%s%s%s at %s on rank %d", call->name, has_more ? " (" : "", root, bytes,
           has_more ? ")" : "", call->site, (int)call->rank);
}

static _Noreturn void end_job(const OrderCall* theirs, const OrderCall* ours) {
  char name[kCommNameBytes] = "";
  char first[256];
  char second[256];
  int size = 0;
  free(comm_members(ours->identity, &size, name));
  if (name[0] == '\0') snprintf(name, sizeof name, "the communicator %016" PRIx64 " of %d", ours->identity, size);
  describe(theirs, first, sizeof first);
  describe(ours, second, sizeof second);
  report_error("collectives on %s are not begun in one order: number %" PRIu64
               " is %s, but %s; order the tasks that "
               "call them by dependences, or give each a communicator of its own",
               name, ours->number, first, second);
  next_mpi.abort(MPI_COMM_WORLD, 1);
  _Exit(1);
}

/* Whether the calls agree in what MPI demands of calls that belong together. */
static bool are_alike(const OrderCall* a, const OrderCall* b) {
  return strcmp(a->name, b->name) == 0 && a->root == b->root && (a->bytes < 0 || b->bytes < 0 || a->bytes == b->bytes);
}

static bool are_same(const OrderCall* a, const OrderCall* b) {
  return a->identity == b->identity && are_alike(a, b) && strcmp(a->site, b->site) == 0;
}

/* Whether the later pair's call began, on one of the two processes, while the earlier pair's call was in progress. */
static bool overlap(const Pair* a, const Pair* b) {
  const Pair* earlier = a->ours.number < b->ours.number ? a : b;
  const Pair* later = earlier == a ? b : a;
  return later->ours.oldest <= earlier->ours.number || later->theirs.oldest <= earlier->ours.number;
}

/* A pair of calls from different places proves nothing: a root often calls from another line, and the lines may take
 * turns. But the calls were exchanged if, among the calls that overlap, the other process makes another call from
 * the place of our call, and this process makes another call from the place of their call. */
static void compare_places(const Pair* pair) {
  pairs[next_pair++ % kPairs] = *pair;
  bool ours_is_theirs = false;
  bool theirs_is_ours = false;
  for (int i = 0; i < kPairs; ++i) {
    if (pairs[i].ours.identity != pair->ours.identity || pairs[i].theirs.rank != pair->theirs.rank ||
        !overlap(&pairs[i], pair))
      continue;
    ours_is_theirs |= are_same(&pairs[i].theirs, &pair->ours);
    theirs_is_ours |= are_same(&pairs[i].ours, &pair->theirs);
  }
  if (ours_is_theirs && theirs_is_ours) end_job(&pair->theirs, &pair->ours);
}

void order_compare(const OrderCall* theirs, const OrderCall* ours) {
  if (!are_alike(theirs, ours)) end_job(theirs, ours);
  if (strcmp(theirs->site, ours->site) != 0) compare_places(&(const Pair){.theirs = *theirs, .ours = *ours});
}
