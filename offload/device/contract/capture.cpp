// SPDX-License-Identifier: Apache-2.0
//
// Connects the kinds of devices with the layer that captures tasks, which they do not include. The last of
// set_capture_start and a kind's call (capture_to or capture_names) starts that layer.
#include "device/contract/capture.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"
#include "device/contract/named.hpp"

#include <atomic>
#include <cstdlib>

namespace marline::offload::device {

namespace {

// Held while the sink or the start function is set, which happens before there are tasks.
Lock g_lock;
std::atomic<const CaptureSink*> g_sink{nullptr};
void (*g_start)() = nullptr;
const SubmissionLayer* g_submission = nullptr;  // constant once the library is loaded
bool g_is_wanted = false, g_is_started = false;

// The caller holds the lock.
void start_if_wanted() {
  if (g_start == nullptr || !g_is_wanted || g_is_started) return;
  g_is_started = true;
  g_start();
}

}  // namespace

void free_captured(CapturedTask* task) {
  std::free(task->reduced);
  std::free(task);
}

void capture_to(const CaptureSink* sink) {
  Guard guard(g_lock);
  bool is_second = g_sink.load(std::memory_order_relaxed) != nullptr;
  if (is_second) fatal("two kinds of devices want target tasks as they are created");
  g_sink.store(sink, std::memory_order_release);  // pairs with capture_sink
  g_is_wanted = true;
  start_if_wanted();
}

void capture_names() {
  Guard guard(g_lock);
  keep_names();
  g_is_wanted = true;
  start_if_wanted();
}

void set_capture_start(void (*start)()) {
  Guard guard(g_lock);
  g_start = start;
  start_if_wanted();
}

void set_submission_layer(const SubmissionLayer* room) { g_submission = room; }
void start_submission() { g_submission->start(); }
void forget_submission() { g_submission->forget(); }

const CaptureSink* capture_sink() { return g_sink.load(std::memory_order_acquire); }  // pairs with capture_to

}  // namespace marline::offload::device
