// SPDX-License-Identifier: Apache-2.0
//
// Keeps the list of kernels, and writes the report. The report's kernels are copied under the lock and written without
// it, as the reader of the report may be slow.
#include "device/remote/worker/statistics.hpp"

#include "base/intrusive_list.hpp"
#include "device/contract/json.hpp"
#include "base/lock.hpp"
#include "device/contract/place.hpp"
#include "base/now.hpp"
#include "image/program.hpp"

namespace marline::offload::device {

using namespace image;

namespace {

constexpr int kMostReported = 256;  // kernels in a report, in the order of their arrival; the others are only counted

struct Copies {
  std::atomic<int64_t> count{0}, bytes{0};

  void add(int64_t copies, int64_t more) {
    count.fetch_add(copies, std::memory_order_relaxed);
    bytes.fetch_add(more, std::memory_order_relaxed);
  }
};

struct Line {
  const char* region;
  uint64_t place;
  uint64_t since;
  bool runs;
};

struct Snapshot {
  int count = 0, left_out = 0;
  uint64_t idle_since = 0;
  Line lines[kMostReported];
};

Lock g_lock;                                // guards the next two
IntrusiveList<KernelStatistics> g_kernels;  // in the order of their arrival
uint64_t g_idle_since = 0;                  // when the last kernel has ended
Copies g_sending, g_arriving;
int (*g_device)();

bool take_snapshot(Snapshot& to) {
  if (!take_soon(g_lock)) return false;
  for (const KernelStatistics* one : g_kernels) {
    if (to.count == kMostReported) {
      ++to.left_out;
      continue;
    }
    uint64_t begun = one->begun.load(std::memory_order_relaxed);
    to.lines[to.count++] = {one->region, one->place, begun != 0 ? begun : one->arrived, begun != 0};
  }
  to.idle_since = g_idle_since;
  g_lock.release();
  return true;
}

void describe_kernel(const JsonSink& out, const Line& line, bool is_first) {
  char where[512];
  describe_place(line.region, line.place != 0 ? text_in_program(line.place) : nullptr, where, sizeof where);
  make_plain(where);
  out.print("%s{\"where\": \"%s\", \"runs\": %s, \"since\": %lu}", is_first ? "" : ", ", where,
            line.runs ? "true" : "false", line.since);
}

void describe_copies(const JsonSink& out, const char* name, const Copies& copies) {
  out.print(", \"%s\": {\"count\": %ld, \"bytes\": %ld}", name, copies.count.load(std::memory_order_relaxed),
            copies.bytes.load(std::memory_order_relaxed));
}

// {"device": 0, "kernels": [{"where": "the target region at app.c:12", "runs": true, "since": 123}], "left_out": 0,
//  "idle_since": 0, "sending": {"count": 0, "bytes": 0}, "arriving": {"count": 1, "bytes": 4096}}
void describe(void*, marline_describe_write_fn write, void* sink) {
  static Snapshot snapshot;  // one call at a time
  snapshot.count = snapshot.left_out = 0;
  JsonSink out(write, sink);
  if (!take_snapshot(snapshot)) return out.print("{}");
  out.print("{\"device\": %d, \"kernels\": [", g_device());
  for (int i = 0; i < snapshot.count; ++i) describe_kernel(out, snapshot.lines[i], i == 0);
  out.print("], \"left_out\": %d, \"idle_since\": %lu", snapshot.left_out, snapshot.idle_since);
  describe_copies(out, "sending", g_sending);
  describe_copies(out, "arriving", g_arriving);
  out.print("}");
}

}  // namespace

void see_arrival(KernelStatistics* kernel, const char* region, uint64_t place) {
  kernel->region = region;
  kernel->place = place;
  kernel->arrived = now();
  kernel->begun.store(0, std::memory_order_relaxed);
  Guard guard(g_lock);
  g_kernels.push(kernel);
}

void see_begin(KernelStatistics* kernel) { kernel->begun.store(now(), std::memory_order_relaxed); }

void see_end(KernelStatistics* kernel) {
  Guard guard(g_lock);
  g_kernels.remove(kernel);
  if (g_kernels.is_empty()) g_idle_since = now();
}

void see_sending(int64_t copies, int64_t bytes) { g_sending.add(copies, bytes); }
void see_arriving(int64_t copies, int64_t bytes) { g_arriving.add(copies, bytes); }

void show_work(int (*device)()) {
  g_device = device;
  g_idle_since = now();
  (void)marline_describe_register("worker", describe, nullptr);
}

}  // namespace marline::offload::device
