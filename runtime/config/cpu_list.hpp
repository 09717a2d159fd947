// SPDX-License-Identifier: Apache-2.0
//
// Lists of CPUs in the syntax of GOMP_CPU_AFFINITY and of KMP_AFFINITY's proclist: numbers and ranges A-B or
// A-B:STRIDE, with commas or blanks in between. Each CPU is a place of its own; {...} around several CPUs makes them
// one place. Stateless.
#pragma once

#include "../common/text.hpp"

namespace marline {

inline constexpr int kMostCpus = 4096;  // CPU numbers stay below

// Reads one number or range and calls take(cpu) for each CPU.
template <class Take>
bool read_cpu_range(Cursor& in, Take take) {
  int64_t low, high, stride = 1;
  if (!in.accept_number(0, kMostCpus - 1, low)) return false;
  high = low;
  if (in.accept('-')) {
    if (!in.accept_number(low, kMostCpus - 1, high)) return false;
    if (in.accept(':') && !in.accept_number(1, kMostCpus, stride)) return false;
  }
  for (int64_t cpu = low; cpu <= high; cpu += stride) take(static_cast<int>(cpu));
  return true;
}

// Reads a list up to the end of the text or to `end`, which is not read, and calls take(cpu, begins). `begins`: a place
// begins with this CPU. False: the list is malformed or empty.
template <class Take>
bool read_cpu_list(Cursor& in, char end, Take take) {
  do {
    if (in.accept('{')) {
      bool begins = true;
      do {
        const bool good = read_cpu_range(in, [&](int cpu) {
          take(cpu, begins);
          begins = false;
        });
        if (!good) return false;
        in.accept(',');
      } while (!in.accept('}'));
    } else if (!read_cpu_range(in, [&](int cpu) { take(cpu, true); })) {
      return false;
    }
    in.accept(',');
  } while (!in.at_end() && *in.rest() != end);
  return true;
}

}  // namespace marline
