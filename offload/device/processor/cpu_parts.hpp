// SPDX-License-Identifier: Apache-2.0
//
// Divides the CPUs of this process into parts, for devices that are a part of a machine. Keeps no state.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

inline constexpr int kMostCpuParts = 63;
inline constexpr int kMostCpus = 1024;  // bits of the C library's cpu_set_t
inline constexpr size_t kCpuWords = kMostCpus / (8 * sizeof(unsigned long));

struct CpuPart {
  unsigned long cpus[kCpuWords];  // bit i: CPU i
  int count;                      // CPUs in this part
  int of;                         // the sum of `count` over all parts
  int socket;                     // the system's number of the socket of all these CPUs; -1: not known, or several
  int domain;                     // the same for the NUMA domain
  bool has_own_domain;            // `domain` is known, and other CPUs of this process are in other domains
};

// How the CPUs are divided. kMachine: they are one part. kShares: into a given number of parts, which have the same
// number of cores, or one more; cores that are near each other stay together. If there are fewer cores than parts,
// several parts have the same core.
enum class PartsBy : uint8_t { kMachine, kSockets, kDomains, kShares };

// Divides the CPUs that the process may use, writes the parts, and returns how many there are. `shares`: the number of
// parts for kShares, from 1 to kMostCpuParts. CPUs with an unknown socket or domain are one part. Ends the process if
// there are more than kMostCpuParts parts.
[[nodiscard]] int divide_cpus(PartsBy by, int shares, CpuPart (&parts)[kMostCpuParts]);

// Where a CPU is, by the system's numbers; -1: not known. A CPU with an unknown core counts as a core.
struct CpuPlace {
  int number, socket, domain, core;
};

// Does the same as divide_cpus for the given CPUs, of which there is at least one. Changes their order.
[[nodiscard]] int divide_places(PartsBy by, int shares, CpuPlace* cpus, int count, CpuPart (&parts)[kMostCpuParts]);

}  // namespace marline::offload::device
