// SPDX-License-Identifier: Apache-2.0
//
// What is known of a device: for the list of devices, for unique identifiers and for selection by traits (OpenMP 6.0,
// 4.3.7). Texts are empty and numbers -1 or 0 where a fact is not known. Plain data, no owner.
#pragma once

#include <cstdint>

namespace marline::offload {

struct DeviceFacts {
  char name[96];    // the product's
  char uid[64];     // the same over runs, and in all processes of a machine
  char arch[16];    // as OpenMP's trait arch: x86_64, nvptx64
  char isa[16];     // as OpenMP's trait isa: sm_90
  char vendor[16];  // as OpenMP's trait vendor: nvidia, amd, intel
  bool is_gpu;
  uint64_t memory;  // bytes
  int units;        // multiprocessors, or hardware threads
  int numa_domain;  // the nearest, by the system's number; -1: not known, or none is nearer than the others
};

}  // namespace marline::offload
