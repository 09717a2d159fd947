// SPDX-License-Identifier: Apache-2.0
//
// Writes the list of pending constructs. It copies the list under the lock and writes it after releasing the lock,
// because the reader may be slow.
#include "device/contract/pending_constructs.hpp"

#include "base/forks.hpp"
#include "base/intrusive_list.hpp"
#include "device/contract/json.hpp"
#include "base/lock.hpp"
#include "device/contract/place.hpp"
#include "image/images.hpp"

#include <cstdio>
#include <cstring>

namespace marline::offload::device {

using namespace image;

namespace {

constexpr int kMostReported = 256;

struct Line {
  int device;
  const char* what;
  const Entry* kernel;
  const char* place;
};

struct Copy {
  int count;
  int left_out;
  Line lines[kMostReported];
};

Lock g_lock;  // protects the list
const HeldAcrossForks g_held(g_lock, ForkOrder::kPendingConstructs);
IntrusiveList<PendingConstruct> g_pending;  // as many as held constructs; a reader copies kMostReported of them

bool copy_list(Copy& to) {
  if (!take_soon(g_lock)) return false;
  for (const PendingConstruct* pending : g_pending) {
    if (to.count == kMostReported) {
      ++to.left_out;
      continue;
    }
    to.lines[to.count++] = {pending->device->number, pending->what.load(std::memory_order_relaxed), pending->kernel,
                            pending->place};
  }
  g_lock.release();
  return true;
}

// {"asides": [{"device": 1, "what": "kernel", "where": "the target region at app.c:12"}], "left_out": 0}
void describe(void*, marline_describe_write_fn write, void* sink) {
  static Copy copy;  // static, because only one call runs at a time
  copy.count = copy.left_out = 0;
  if (!copy_list(copy)) return write(sink, "{}", 2);
  char text[768], where[512];
  write(sink, "{\"asides\": [", 12);
  for (int i = 0; i < copy.count; ++i) {
    const Line& reported = copy.lines[i];
    where[0] = '\0';
    if (reported.kernel != nullptr) describe_place(reported.kernel->name, reported.place, where, sizeof where);
    make_plain(where);
    int length = std::snprintf(text, sizeof text, "%s{\"device\": %d, \"what\": \"%s\", \"where\": \"%s\"}",
                               i != 0 ? ", " : "", reported.device, reported.what, where);
    write(sink, text, static_cast<size_t>(length));
  }
  int length = std::snprintf(text, sizeof text, "], \"left_out\": %d}", copy.left_out);
  write(sink, text, static_cast<size_t>(length));
}

}  // namespace

void add_pending(PendingConstruct* pending) {
  Guard guard(g_lock);
  g_pending.push_first(pending);
}

void remove_pending(PendingConstruct* pending) {
  Guard guard(g_lock);
  g_pending.remove(pending);
}

void show_pending() {
  static std::atomic<bool> shown{false};
  if (!shown.exchange(true, std::memory_order_relaxed)) (void)marline_describe_register("devices", describe, nullptr);
}

}  // namespace marline::offload::device
