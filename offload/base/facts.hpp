// SPDX-License-Identifier: Apache-2.0
//
// The facts about a device: for the list of devices, for unique identifiers and for selection by traits
// (OpenMP 6.0, 4.3.7). Texts are empty and numbers are -1 or 0 where a fact is not known. Plain data, no owner.
#pragma once

#include <cstdint>

namespace marline::offload {

struct DeviceFacts {
  char name[96];    // product name
  char uid[64];     // unique; the same in every run, and in all processes of a machine
  char arch[16];    // as OpenMP's trait arch: x86_64, nvptx64
  char isa[16];     // as OpenMP's trait isa: sm_90
  char vendor[16];  // as OpenMP's trait vendor: nvidia, amd, intel
  bool is_gpu;
  uint64_t memory;  // bytes
  int units;        // multiprocessors, or hardware threads
  // System's number of the nearest NUMA domain; -1: not known, or no domain is nearer than the others.
  int numa_domain;
};

}  // namespace marline::offload
