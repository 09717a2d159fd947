// SPDX-License-Identifier: Apache-2.0
//
// The process's side of the recorder. All state stands in one Process, guarded by process_lock except `state`, which
// every thread reads. Nothing here is on the path of an event.
#include "recorder.hpp"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <initializer_list>

#include "clock.hpp"
#include "metadata.hpp"
#include "stream.hpp"

namespace marline::trace {
namespace {

enum State { kIdle, kRecording, kStopped };

pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
State state = kIdle;  // written under process_lock, read by any thread
Metadata process;     // process_lock
char directory[kPathBytes - 64];
bool rank_known;

// The launchers' ways to say the rank before MPI_Init: Open MPI, PMI (MPICH, Intel), PMIx, Slurm.
bool rank_from_environment(int &rank) {
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    const char *value = getenv(name);
    if (value != nullptr && *value != '\0') {
      rank = atoi(value);
      return true;
    }
  }
  return false;
}

State load_state() { return __atomic_load_n(&state, __ATOMIC_RELAXED); }
void store_state(State value) { __atomic_store_n(&state, value, __ATOMIC_RELAXED); }

void forget_after_fork() {
  store_state(kStopped);
  pthread_mutex_init(&process_lock, nullptr);
  Stream::abandon_all();
}

bool open_trace() {
  const char *wanted = getenv("MARLINE_TRACE_DIR");
  if (wanted == nullptr || *wanted == '\0') {
    return false;
  }
  // Absolute: the program may change its folder. The folder itself is made; its parent must be there.
  if (mkdir(wanted, 0777) != 0 && errno != EEXIST) {
    fprintf(stderr, "marline-trace: cannot make MARLINE_TRACE_DIR=%s: %s; nothing is recorded\n", wanted,
            strerror(errno));
    return false;
  }
  char *absolute = realpath(wanted, nullptr);
  if (absolute == nullptr || strlen(absolute) >= sizeof directory) {
    fprintf(stderr, "marline-trace: MARLINE_TRACE_DIR=%s cannot be used: %s; nothing is recorded\n", wanted,
            absolute == nullptr ? strerror(errno) : "the path is too long");
    free(absolute);
    return false;
  }
  strcpy(directory, absolute);
  free(absolute);
  rank_known = rank_from_environment(process.rank);
#ifdef MARLINE_TRACE_MPI
  if (!rank_known) {
    snprintf(process.tag, sizeof process.tag, "pid%d", getpid());
    return true;
  }
#endif
  snprintf(process.tag, sizeof process.tag, "rank%04d", process.rank);
  return true;
}

void write_locked() {
  char path[kPathBytes];
  trace_path(path, ".json");
  process.clock_end = read_clock_pair();
  if (!process.write(path)) {
    fprintf(stderr, "marline-trace: cannot write %s: %s\n", path, strerror(errno));
  }
}

}  // namespace

bool recording() { return load_state() == kRecording; }

bool start_recording() {
  if (load_state() != kIdle) {
    return recording();
  }
  pthread_mutex_lock(&process_lock);
  if (state == kIdle) {
    if (open_trace()) {
      process.clock_begin = read_clock_pair();
      usleep(2000);  // so that also the first metadata file, all that a killed program leaves, knows the frequency
      write_locked();
      pthread_atfork(nullptr, nullptr, forget_after_fork);
      store_state(kRecording);
    } else {
      store_state(kStopped);
    }
  }
  pthread_mutex_unlock(&process_lock);
  return recording();
}

void stop_recording(const char *what, const char *value, const char *advice) {
  if (__atomic_exchange_n(&state, kStopped, __ATOMIC_RELAXED) == kRecording) {
    fprintf(stderr, "marline-trace: %s: %s; recording stops: %s\n", what, value, advice);
  }
}

void trace_path(char (&path)[kPathBytes], const char *suffix) {
  snprintf(path, sizeof path, "%s/%s%s", directory, process.tag, suffix);
}

void set_runtime(const char *version, unsigned omp_version) {
  pthread_mutex_lock(&process_lock);
  snprintf(process.runtime, sizeof process.runtime, "%s", version);
  process.omp_version = omp_version;
  pthread_mutex_unlock(&process_lock);
}

void set_mpi(int rank, int size, const char *library) {
  if (!recording()) {
    return;
  }
  pthread_mutex_lock(&process_lock);
  process.rank = rank;
  process.size = size;
  snprintf(process.mpi, sizeof process.mpi, "%s", library);
  if (!rank_known) {
    char old_path[kPathBytes];
    trace_path(old_path, ".json");
    char tag[kTagBytes];
    snprintf(tag, sizeof tag, "rank%04d", rank);
    Stream::rename_all(process.tag, tag);
    unlink(old_path);
    rank_known = true;
  }
  write_locked();
  pthread_mutex_unlock(&process_lock);
}

void add_clock_sample(const ClockSample &sample) {
  pthread_mutex_lock(&process_lock);
  if (process.sample_count < Metadata::kMostSamples) {
    process.samples[process.sample_count++] = sample;
  }
  pthread_mutex_unlock(&process_lock);
}

void write_metadata() {
  if (!recording()) {
    return;
  }
  pthread_mutex_lock(&process_lock);
  write_locked();
  pthread_mutex_unlock(&process_lock);
}

namespace {
__attribute__((destructor)) void write_metadata_at_exit() { write_metadata(); }
}  // namespace

}  // namespace marline::trace
