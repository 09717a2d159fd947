// SPDX-License-Identifier: Apache-2.0
//
// Gives the process's files the name that its rank says, once MPI has told it.
#include "base/rank.hpp"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/process.hpp"
#include "base/recorder.hpp"
#include "base/stream.hpp"

namespace marline::trace {
namespace {

// Called when the rank is known: the files that were named after the process get the rank's name. If an older trace has
// a file of that name, that file stays, and this trace is removed.
void rename_files(int rank) {
  char old_path[kPathBytes];
  char tag[kTagBytes];
  char old_tag[kTagBytes];
  trace_path(old_path, ".json");
  memcpy(old_tag, process.tag, sizeof old_tag);
  snprintf(tag, sizeof tag, "rank%04d", rank);
  memcpy(process.tag, tag, sizeof tag);
  const bool taken = trace_exists();
  memcpy(process.tag, old_tag, sizeof old_tag);
  if (taken) {
    store_state(kNever);
    switch_recording(true);
    Stream::unlink_all();
  } else {
    Stream::rename_all(process.tag, tag);
  }
  unlink(old_path);
}

}  // namespace

void set_mpi(int rank, int size, const char* library) {
  if (!recording()) {
    return;
  }
  pthread_mutex_lock(&process_lock);
  process.rank = rank;
  process.size = size;
  snprintf(process.mpi, sizeof process.mpi, "%s", library);
  if (!rank_known) {
    rename_files(rank);
    rank_known = true;
  }
  if (recording()) {
    write_locked();
  }
  pthread_mutex_unlock(&process_lock);
}

}  // namespace marline::trace
