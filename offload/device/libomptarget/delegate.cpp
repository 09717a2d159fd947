// SPDX-License-Identifier: Apache-2.0
//
// Passes routines about device memory on to libomptarget's own.
#include "device/libomptarget/copies.hpp"
#include "device/libomptarget/libomptarget.hpp"
#include "image/images.hpp"

namespace marline::offload::device {

using namespace image;

namespace {

// Calls a routine that each version of libomptarget has.
template <class Result, class... Arguments>
Result ask(const char* name, Arguments... arguments) {
  return reinterpret_cast<Result (*)(Arguments...)>(llvm_routine(name))(arguments...);
}

int is_present(Device* device, const void* host) {
  return ask<int>("omp_target_is_present", host, llvm_number(device));
}

void* mapped(Device* device, const void* host) { return ask<void*>("omp_get_mapped_ptr", host, llvm_number(device)); }

int associate(Device* device, const void* host, const void* to, size_t bytes, size_t offset) {
  return ask<int>("omp_target_associate_ptr", host, to, bytes, offset, llvm_number(device));
}

int disassociate(Device* device, const void* host) {
  return ask<int>("omp_target_disassociate_ptr", host, llvm_number(device));
}

size_t group_private_limit(Device* device, int access) {
  auto limit = reinterpret_cast<size_t (*)(int, int)>(llvm_routine("omp_get_gprivate_limit"));
  return limit != nullptr ? limit(llvm_number(device), access) : 0;
}

void forget(Device* device, const Module* module) {
  if (module->foreign_state.load(std::memory_order_acquire) != ForeignState::kRegistered)
    return;  // the load pairs with the store in add_module
  for (uint32_t i = 0; i < module->count; ++i) {
    const Entry& entry = module->entries[i];
    if (is_variable(entry) && (entry.flags & kEntryLink) == 0) llvm_remove_global(device, entry.host);
  }
}

}  // namespace

constinit const Delegate kLlvmDelegate = {llvm_kernel,  llvm_data,           llvm_copy, llvm_copy_rectangle,
                                          llvm_fill,    is_present,          mapped,    associate,
                                          disassociate, group_private_limit, forget};

}  // namespace marline::offload::device
