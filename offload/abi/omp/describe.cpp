// SPDX-License-Identifier: Apache-2.0
//
// The entry points of this library that describe the devices to `marline devices`, programs and tools (devices.h).
#include "marline/devices.h"

#include "registry/device_list.hpp"
#include "registry/registry.hpp"

namespace marline::offload::abi {

using namespace registry;

extern "C" {
#pragma GCC visibility push(default)

int marline_device_describe(int number, marline_device_facts_t* facts) {
  if (facts == nullptr || facts->bytes < sizeof *facts) return -1;
  const DeviceFacts* known = device_facts(number);
  if (known == nullptr) return -1;
  *facts = {sizeof *facts, device_kind(number), known->name,   known->uid,   known->arch,
            known->isa,    known->vendor,       known->memory, known->units, known->numa_domain};
  return 0;
}

void marline_device_assume_all(void) { assume_code_for_all(); }

const char* marline_device_why_no_gpus(void) {
  (void)device_count();
  return why_no_gpus();
}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::offload::abi
