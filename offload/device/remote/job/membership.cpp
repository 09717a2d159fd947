// SPDX-License-Identifier: Apache-2.0
//
// Reads from the environment which job this process belongs to. The static in membership() has no guard
// (-fno-threadsafe-statics): the first call comes before main, or under the lock under which devices are listed.
#include "device/remote/job/membership.hpp"

#include "../common/environment.h"
#include "base/report.hpp"
#include "wire/base/job.hpp"
#include "wire/mpi/mpi_loader.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

namespace {

// Set for programs that a process of the job starts: they inherit the job's variables, but are no part of the job.
constexpr const char* kTaken = "MARLINE_JOB_TAKEN";

// Whether the program's file needs an MPI library: libmpi, libmpich, libmpi_mpifh, ... A library that the program loads
// itself, or that is preloaded, does not count.
bool is_linked_with_mpi() {
  link_map* program = nullptr;
  void* self = dlopen(nullptr, RTLD_LAZY);
  if (self == nullptr || dlinfo(self, RTLD_DI_LINKMAP, &program) != 0) return false;
  const char* names = nullptr;
  for (const ElfW(Dyn)* entry = program->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
  constexpr char kMpi[] = "libmpi";
  bool found = false;
  for (const ElfW(Dyn)* entry = program->l_ld; names != nullptr && entry->d_tag != DT_NULL; ++entry) {
    found = found || (entry->d_tag == DT_NEEDED && std::strncmp(names + entry->d_un.d_val, kMpi, sizeof kMpi - 1) == 0);
  }
  return found;
}

Membership read_membership() {
  Membership found = {};
  if (trusted_variable(kTaken) != nullptr) return found;
  WireChoice wire = chosen_wire();
  bool has_words = read_job(found.job);
  if (has_words && wire != WireChoice::kMpi) {
    found.kind = JobKind::kLocal;
  } else if (launched_by_mpi(found.job.number, found.job.count)) {
    bool is_rank = is_linked_with_mpi();
    if (is_rank || wire != WireChoice::kLocal) found.kind = is_rank ? JobKind::kRanks : JobKind::kMpi;
  }
  return found;
}

int g_served = -1;  // the rank that this process is a worker of; -1: none

}  // namespace

Membership& membership() {
  static Membership known = read_membership();
  return known;
}

bool is_started_by_a_job() { return membership().kind == JobKind::kNone && trusted_variable(kTaken) != nullptr; }

bool is_serving_rank() { return membership().kind == JobKind::kRanks; }
int number_of_rank() { return membership().job.number; }
int count_of_ranks() { return membership().job.count; }

void take_membership() { setenv(kTaken, "yes", 1); }

void become_worker_of(int rank, const Job& job) {
  membership() = {JobKind::kLocal, job};
  g_served = rank;
}

const char* words_for_process(int peer) {
  static char text[64];
  if (peer == 0) {
    std::snprintf(text, sizeof text, g_served >= 0 ? "rank %d" : "process %d of the job", g_served >= 0 ? g_served : 0);
  } else if (is_serving_rank() || g_served >= 0) {
    int served = g_served >= 0 ? g_served : number_of_rank();
    std::snprintf(text, sizeof text, "beside rank %d for rank %d,", peer - 1, served);
  } else {
    std::snprintf(text, sizeof text, "process %d of the job", peer);
  }
  return text;
}

}  // namespace marline::offload::device
