// SPDX-License-Identifier: Apache-2.0
//
// Measures kernels, and decides which ones run with one thread.
#include "construct/device/short_kernels.hpp"

#include "base/hash.hpp"

#include <algorithm>

namespace marline {

namespace {

// Two kernels may share a place of the table. If they alternate, each resets the place, and both keep their threads.
constexpr uint64_t kPlaces = 256;

KernelTimes g_times[kPlaces];

void add_to_average(Atomic<uint64_t>& average, uint64_t nanoseconds, bool is_first) {
  const uint64_t before = average.load(relaxed);
  average.store(is_first ? nanoseconds : (7 * before + nanoseconds) / 8, relaxed);
}

}  // namespace

KernelTimes& times_of_kernel(uint64_t kernel) { return g_times[mix64(kernel) % kPlaces]; }

void KernelTimes::begin_anew(uint32_t needed) {
  needed_.store(needed, relaxed);
  short_runs_.store(0, relaxed);
  runs_alone_.store(0, relaxed);
}

bool KernelTimes::begin(uint64_t kernel) {
  if (kernel_.load(relaxed) != kernel) {
    kernel_.store(kernel, relaxed);
    begin_anew(kFirstRuns);
  }
  return short_runs_.load(relaxed) >= needed_.load(relaxed);
}

void KernelTimes::note_with_threads(uint64_t nanoseconds) {
  if (nanoseconds > kShort) return short_runs_.store(0, relaxed);
  const uint32_t before = short_runs_.load(relaxed);
  add_to_average(with_threads_, nanoseconds, before == 0);
  short_runs_.store(before + 1, relaxed);
}

void KernelTimes::note_alone(uint64_t nanoseconds) {
  if (nanoseconds > kShort) return begin_anew(needed_.load(relaxed));
  const uint32_t before = runs_alone_.load(relaxed);
  add_to_average(alone_, nanoseconds, before == 0);
  runs_alone_.store(before + 1, relaxed);
  if (before + 1 == kMostRuns) return begin_anew(kFirstRuns);  // try threads again: cores may be free now
  if ((before + 1) % kTrial != 0 || alone_.load(relaxed) <= with_threads_.load(relaxed)) return;
  begin_anew(std::min(4 * needed_.load(relaxed), kMostRuns));
}

void KernelTimes::end(bool alone, uint64_t nanoseconds) {
  alone ? note_alone(nanoseconds) : note_with_threads(nanoseconds);
}

}  // namespace marline
