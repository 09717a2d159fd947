// SPDX-License-Identifier: Apache-2.0
//
// See the header. Kinds of devices do not see the room that captures: the second of the two calls, capture_to
// and set_capture_start, starts it.
#include "device/base/capture.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"

#include <atomic>
#include <cstdlib>

namespace marline::target {

namespace {

Lock g_lock;  // while either is set, before there are tasks
std::atomic<const CaptureSink*> g_sink{nullptr};
void (*g_start)(const CaptureSink* sink) = nullptr;
const AheadRoom* g_ahead = nullptr;  // constant once the library is loaded

}  // namespace

void free_captured(CapturedTask* task) { std::free(task); }

void capture_to(const CaptureSink* sink) {
  Guard guard(g_lock);
  bool is_second = g_sink.load(std::memory_order_relaxed) != nullptr;
  if (is_second) fatal("two kinds of devices want target tasks as they are created");
  g_sink.store(sink, std::memory_order_release);  // pairs with capture_sink
  if (g_start != nullptr) g_start(sink);
}

void set_capture_start(void (*start)(const CaptureSink* sink)) {
  Guard guard(g_lock);
  g_start = start;
  if (const CaptureSink* sink = g_sink.load(std::memory_order_relaxed)) start(sink);
}

void set_ahead(const AheadRoom* room) { g_ahead = room; }
void start_ahead() { g_ahead->start(); }
void forget_ahead() { g_ahead->forget(); }

const CaptureSink* capture_sink() { return g_sink.load(std::memory_order_acquire); }  // pairs with capture_to

}  // namespace marline::target
