// SPDX-License-Identifier: Apache-2.0
//
// Begins and ends the constructs that are reported to tools.
#include "base/told.hpp"

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

static Told* make_told(ConstructKind kind, bool nowait, int device, const void* code) {
  auto* told = static_cast<Told*>(std::calloc(1, sizeof(Told)));
  if (told == nullptr) fatal("no memory to tell a tool of a target construct");
  told->construct.kind = static_cast<int>(kind) | (nowait ? kNowait : 0);
  told->construct.device = device;
  told->construct.code = code;
  return told;
}

void ToldScope::begin(ConstructKind kind, bool nowait, int device, const void* code) {
  told_ = make_told(kind, nowait, device, code);
  marline_construct_begin(&told_->construct);
}

Told* begin_claimed_told(ConstructKind kind, int device, const void* code, const marline_claimed_t* task) {
  Told* told = make_told(kind, true, device, code);
  marline_construct_begin_claimed(&told->construct, task);
  return told;
}

void leave_told(Told* told) {
  if (told != nullptr) marline_construct_leave(&told->construct);
}

void end_told(Told* told) {
  if (told == nullptr) return;
  marline_construct_end(&told->construct);
  std::free(told);
}

}  // namespace marline::offload
