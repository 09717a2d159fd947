// SPDX-License-Identifier: Apache-2.0
//
// See the header. A static that is made at its first use has no guard here (-fno-threadsafe-statics): the first question
// about the job comes before main, or under the lock under which devices are listed.
#include "base/report.hpp"
#include "device/node.hpp"
#include "wire/job.hpp"
#include "wire/local.hpp"
#include "wire/mpi_loader.hpp"

namespace marline::target {

namespace {

NodeJob g_job;  // wire: null until this process has joined

}  // namespace

int worker_count() {
  const JobWords& words = job_words();
  if (g_job.wire != nullptr) return g_job.count - 1;
  return words.kind != JobKind::kNone && words.job.count > 1 ? words.job.count - 1 : 0;
}

bool is_worker() { return job_words().kind != JobKind::kNone && job_words().job.number != 0; }

const NodeJob& join_job(const WireUser& user) {
  if (g_job.wire != nullptr) return g_job;
  const JobWords& words = job_words();
  g_job.kind = words.kind == JobKind::kLocal ? &kLocalWire : load_mpi_wire();
  take_job_words_away();
  g_job.wire = g_job.kind->join(words.job, &user);
  g_job.number = g_job.kind->number(g_job.wire);
  g_job.count = g_job.kind->count(g_job.wire);
  note("process %d of %d of a job, by the wire %s", g_job.number, g_job.count, g_job.kind->name);
  return g_job;
}

}  // namespace marline::target
