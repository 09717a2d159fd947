// SPDX-License-Identifier: Apache-2.0
//
// The CPUs of this process in parts, for devices that are a part of a machine. No state.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

inline constexpr int kMostCpuParts = 63;
inline constexpr int kMostCpus = 1024;  // that the C library's fixed mask has
inline constexpr size_t kCpuWords = kMostCpus / (8 * sizeof(unsigned long));

struct CpuPart {
  unsigned long cpus[kCpuWords];  // bit i: CPU i
  int count;                      // of them
  int of;                         // the same for all parts together
  int socket;                     // that all of them are in, by the system's number; -1: not known, or several
  int domain;                     // likewise for NUMA
  bool has_own_domain;            // other parts, or other CPUs of this process, are in other domains
};

// By what the CPUs are divided. kShares: into a number of parts with as many cores each, or one more; cores that are
// near each other stay together. If there are fewer cores than parts, several parts have the same core.
enum class PartsBy : uint8_t { kMachine, kSockets, kDomains, kShares };

// Writes the parts of those CPUs that the process may use, and returns how many they are. `shares`: of kShares, from 1
// to kMostCpuParts. CPUs of which the system says no socket or domain are one part. Ends the process if there are more
// parts than that.
[[nodiscard]] int divide_cpus(PartsBy by, int shares, CpuPart (&parts)[kMostCpuParts]);

// Where a CPU is, by the system's numbers; -1: not known. CPUs whose core is not known count as cores.
struct CpuPlace {
  int number, socket, domain, core;
};

// As divide_cpus, of these CPUs, at least one, whose order changes.
[[nodiscard]] int divide_places(PartsBy by, int shares, CpuPlace* cpus, int count, CpuPart (&parts)[kMostCpuParts]);

}  // namespace marline::offload::device
