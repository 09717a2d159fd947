// SPDX-License-Identifier: Apache-2.0
//
// The entry points of this library that describe the devices to `marline devices`, programs and tools (devices.h), and
// LLVM's, which write what they know.
#include "marline/devices.h"

#include "base/list.hpp"
#include "base/report.hpp"
#include "data/data_environment.hpp"
#include "device/libomptarget/libomptarget.hpp"
#include "registry/device_list.hpp"
#include "registry/registry.hpp"

#include <cinttypes>
#include <cstdio>
#include <utility>

namespace marline::offload::abi {

using namespace registry;

namespace {

struct Mapped {
  uintptr_t begin;
  size_t bytes;
  uint64_t address, references;
  bool is_permanent;
};

void write_map_entries(int number, data::DataEnvironment& environment) {
  List<Mapped> entries;
  {
    data::LockedTable table(environment);
    table->for_each([&](const data::MapEntry& entry) {
      entries.push({entry.begin, entry.bytes(), entry.address, entry.counts.total(), entry.counts.is_permanent()});
    });
  }
  std::fprintf(stderr, "marline: device %d (%s): %zu map entries\n", number, device_kind(number), entries.count());
  for (const Mapped& entry : entries) {
    std::fprintf(stderr, "marline:   host %#" PRIxPTR ", %zu bytes, device %#" PRIx64 ", ", entry.begin, entry.bytes,
                 entry.address);
    if (entry.is_permanent) {
      std::fputs("permanent\n", stderr);
    } else {
      std::fprintf(stderr, "references %" PRIu64 "\n", entry.references);
    }
  }
}

// LLVM's library writes the entries of all its devices.
void write_map_entries_of_llvm() {
  auto write = reinterpret_cast<void (*)()>(llvm_routine("ompx_dump_mapping_tables"));
  if (write == nullptr) {
    warn(
        "ompx_dump_mapping_tables: this libomptarget does not say what is mapped on its devices; that of LLVM 19 does");
    return;
  }
  write();
}

}  // namespace

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

// Of LLVM's omp.h, from 19 on.
void ompx_dump_mapping_tables() {
  bool asked_llvm = false;
  const Device* last = nullptr;  // members of a cluster share its data environment
  for (int number = 0; number < device_count(); ++number) {
    bool exists = false;
    Device* device = device_for_routine(number, exists);
    if (!exists || device == nullptr || device == last) continue;
    last = device;
    if (device->kind->delegate == nullptr) {
      write_map_entries(number, *device->mapping);
    } else if (device->started.load(std::memory_order_acquire) && !std::exchange(asked_llvm, true)) {
      write_map_entries_of_llvm();
    }
  }
}

// Of llvm-offload-device-info. 1: the device has been described.
int __tgt_print_device_info(int64_t number) {
  const DeviceFacts* known = number >= 0 && number < device_count() ? device_facts(static_cast<int>(number)) : nullptr;
  if (known == nullptr) return 0;
  std::printf(
      "    Kind                 %s\n    Name                 %s\n    UID                  %s\n"
      "    Architecture         %s %s\n    Memory               %" PRIu64
      " bytes\n"
      "    Units                %d\n",
      device_kind(static_cast<int>(number)), known->name, known->uid, known->arch, known->isa, known->memory,
      known->units);
  return 1;
}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::offload::abi
