// SPDX-License-Identifier: Apache-2.0
//
// Begins and ends the constructs that are reported to tools.
#include "base/reported_construct.hpp"

#include "base/report.hpp"

#include <cstdlib>

namespace marline::offload {

namespace {

constexpr int kNowait = 8;  // flag of ompt_target_t
constexpr uint32_t kNothing = 0;

}  // namespace

constinit const uint32_t* g_events = &kNothing;

namespace {

[[gnu::constructor]] void find_events() { g_events = marline_device_events(); }

}  // namespace

static ReportedConstruct* make_report(ConstructKind kind, bool nowait, int device, const void* code) {
  auto* reported = static_cast<ReportedConstruct*>(std::calloc(1, sizeof(ReportedConstruct)));
  if (reported == nullptr) fatal("no memory to tell a tool of a target construct");
  reported->construct.kind = static_cast<int>(kind) | (nowait ? kNowait : 0);
  reported->construct.device = device;
  reported->construct.code = code;
  return reported;
}

void ReportScope::begin(ConstructKind kind, bool nowait, int device, const void* code) {
  reported_ = make_report(kind, nowait, device, code);
  marline_construct_begin(&reported_->construct);
}

ReportedConstruct* begin_claimed_report(ConstructKind kind, int device, const void* code,
                                        const marline_claimed_t* task) {
  ReportedConstruct* reported = make_report(kind, true, device, code);
  marline_construct_begin_claimed(&reported->construct, task);
  return reported;
}

void leave_report(ReportedConstruct* reported) {
  if (reported != nullptr) marline_construct_leave(&reported->construct);
}

void end_report(ReportedConstruct* reported) {
  if (reported == nullptr) return;
  marline_construct_end(&reported->construct);
  std::free(reported);
}

}  // namespace marline::offload
