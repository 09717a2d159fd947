// SPDX-License-Identifier: Apache-2.0
//
// Gives the process's description the name that its rank says, once MPI has told it.
#include "base/rank.hpp"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/process.hpp"
#include "base/recorder.hpp"
#include "base/ring.hpp"
#include "file/no_cancel.hpp"

namespace marline::trace {
namespace {

// Called when the rank is known: the description that was named after the process gets the rank's name. If an older
// trace has one of that name, that stays, and this trace is given up: no description names its records.
void rename_description(int rank) {
  char old_path[kPathBytes];
  char old_ring[kPathBytes];
  trace_path(old_path, ".json");
  trace_path(old_ring, ".ring");
  snprintf(process.tag, sizeof process.tag, "rank%04d", rank);
  if (trace_exists()) {
    store_state(kNever);
    switch_recording(true);
    if (has_ring()) unlink(old_ring);
  } else if (has_ring()) {
    char ring[kPathBytes];
    trace_path(ring, ".ring");
    if (rename(old_ring, ring) != 0) {
      fprintf(stderr, "marline-trace: cannot rename %s to %s: %s\n", old_ring, ring, strerror(errno));
    }
  }
  unlink(old_path);
}

}  // namespace

void set_mpi(int rank, int size, const char* library) {
  if (!described()) {
    return;
  }
  const NoCancel no_cancel;
  pthread_mutex_lock(&process_lock);
  process.rank = rank;
  process.size = size;
  snprintf(process.mpi, sizeof process.mpi, "%s", library);
  if (!rank_known) {
    rename_description(rank);
    rank_known = true;
  }
  if ((recording() || aggregating()) && !process.options.ranks.contains(rank)) {
    process.left_out = true;  // the reader passes over what has been recorded
    store_state(kDescribed);
    switch_recording(true);
  }
  if (described()) {
    write_locked(false);
  }
  pthread_mutex_unlock(&process_lock);
}

}  // namespace marline::trace
