// SPDX-License-Identifier: Apache-2.0
//
// Joins the job, and calls the protocol extension where there is one. What this process knows of its job is in
// membership.cpp.
#include "base/report.hpp"
#include "device/remote/job/membership.hpp"
#include "device/remote/program/remote_device.hpp"
#include "device/remote/job/protocol_extension.hpp"
#include "device/remote/job/ranks.hpp"
#include "wire/local/local.hpp"
#include "wire/model/link_model.hpp"
#include "wire/mpi/mpi_loader.hpp"

#include <marline/devices.h>

namespace marline::offload::device {

using namespace wire;

namespace {

NodeJob g_job;                                 // wire: null until this process has joined
const ExtensionFrames* g_extension = nullptr;  // written before this process joins

const WireKind* mpi_wire() {
  marline_mpi_is_served();  // the wire's own calls of MPI hold no task
  return load_mpi_wire();
}

}  // namespace

void take_extension_frames(const ExtensionFrames& extension) { g_extension = &extension; }

void* place_newcomer(int peer, const Frame& frame, const uint64_t* words) {
  if (g_extension == nullptr)
    fatal("process %d has sent data of kind %u, which this one does not understand", peer, frame.kind);
  return g_extension->place(peer, frame, words);
}

void deliver_extension(int peer, const Frame& frame, const uint64_t* words) {
  if (g_extension == nullptr)
    fatal("process %d has sent a frame of kind %u, which this one does not understand", peer, frame.kind);
  g_extension->deliver(peer, frame, words);
}

bool look_newcomer() { return g_extension != nullptr && g_extension->look != nullptr && g_extension->look(); }
void report_extension_polled() {
  if (g_extension != nullptr && g_extension->polled != nullptr) g_extension->polled();
}

void report_lost_extension(int peer, char* to, size_t bytes) {
  *to = '\0';
  if (g_extension != nullptr && g_extension->report_lost != nullptr) g_extension->report_lost(peer, to, bytes);
}

int worker_count() {
  if (g_job.wire != nullptr) return g_job.count - 1;
  const Membership& own = membership();
  if (own.kind == JobKind::kRanks) return own.job.count;
  return own.kind != JobKind::kNone && own.job.count > 1 ? own.job.count - 1 : 0;
}

bool is_worker() {
  const Membership& own = membership();
  return own.kind != JobKind::kNone && own.kind != JobKind::kRanks && own.job.number != 0;
}

const NodeJob& join_job(const WireUser& user) {
  if (g_job.wire != nullptr) return g_job;
  const Membership& own = membership();
  Job job = own.job;
  if (own.kind == JobKind::kRanks) call_workers(job);
  g_job.kind = with_link_model(own.kind == JobKind::kMpi ? mpi_wire() : &kLocalWire);
  take_membership();
  g_job.wire = g_job.kind->join(job, &user);
  g_job.number = g_job.kind->number(g_job.wire);
  g_job.count = g_job.kind->count(g_job.wire);
  note("process %d of %d of a job, by the wire %s", g_job.number, g_job.count, g_job.kind->name);
  return g_job;
}

}  // namespace marline::offload::device
