// SPDX-License-Identifier: Apache-2.0
//
// See the header. A static that is made at its first use has no guard here (-fno-threadsafe-statics): the first question
// about the job comes before main, or under the lock under which devices are listed.
#include "base/report.hpp"
#include "device/node/node.hpp"
#include "wire/base/job.hpp"
#include "wire/local/local.hpp"
#include "wire/model/link_model.hpp"
#include "wire/mpi/mpi_loader.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>

namespace marline::target {

namespace {

// Programs that a process of the job starts have the same variables, and are no part of the job.
constexpr const char* kTaken = "MARLINE_JOB_TAKEN";

enum class JobKind : uint8_t { kNone, kLocal, kMpi };

struct Membership {
  JobKind kind;
  Job job;
};

NodeJob g_job;  // wire: null until this process has joined

Membership read_membership() {
  Membership found = {};
  if (std::getenv(kTaken) != nullptr) return found;
  WireChoice wire = chosen_wire();
  bool has_words = read_job(found.job);
  if (has_words && wire != WireChoice::kMpi) {
    found.kind = JobKind::kLocal;
  } else if (wire != WireChoice::kLocal && launched_by_mpi(found.job.number, found.job.count)) {
    found.kind = JobKind::kMpi;
  }
  return found;
}

// Whether the program file asks for an MPI library: libmpi, libmpich, libmpi_mpifh, ... What it has loaded itself, or what
// is preloaded, does not count.
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

// The wire starts MPI before `main`, so the program's MPI_Init would be the second one.
void refuse_ranks() {
  if (!is_linked_with_mpi()) return;
  fatal("MARLINE_DEVICES names nodes, but this program uses MPI, whose processes cannot be its devices as well: start it by "
        "`mpirun -n N marline run --devices nodes:K`, which gives each rank K workers of its own");
}

const Membership& membership() {
  static const Membership known = read_membership();
  return known;
}

}  // namespace

int worker_count() {
  if (g_job.wire != nullptr) return g_job.count - 1;
  const Membership& own = membership();
  return own.kind != JobKind::kNone && own.job.count > 1 ? own.job.count - 1 : 0;
}

bool is_started_by_a_job() { return membership().kind == JobKind::kNone && std::getenv(kTaken) != nullptr; }

bool is_worker() { return membership().kind != JobKind::kNone && membership().job.number != 0; }

const NodeJob& join_job(const WireUser& user) {
  if (g_job.wire != nullptr) return g_job;
  const Membership& own = membership();
  if (own.kind == JobKind::kMpi) refuse_ranks();
  g_job.kind = with_link_model(own.kind == JobKind::kLocal ? &kLocalWire : load_mpi_wire());
  setenv(kTaken, "yes", 1);
  g_job.wire = g_job.kind->join(own.job, &user);
  g_job.number = g_job.kind->number(g_job.wire);
  g_job.count = g_job.kind->count(g_job.wire);
  note("process %d of %d of a job, by the wire %s", g_job.number, g_job.count, g_job.kind->name);
  return g_job;
}

}  // namespace marline::target
