// SPDX-License-Identifier: Apache-2.0
//
// See the header. The two routines are called by the mapper's code (LLVM, offload/libomptarget/interface.cpp).
#include "mapping/mapper.hpp"

#include "device/llvm.hpp"

namespace marline::target {

namespace {

using Mapper = void (*)(void* handle, void* base, void* begin, int64_t size, int64_t type, void* name);

// Null: libomptarget runs the mapper, for a device of its own.
Pushed* as_ours(void* handle) {
  auto* pushed = static_cast<Pushed*>(handle);
  return pushed->mark == Pushed::kMark ? pushed : nullptr;
}

}  // namespace

Items Pushed::items() {
  return {.count = static_cast<int32_t>(types.count()),
          .bases = bases.begin(),
          .begins = begins.begin(),
          .sizes = sizes.begin(),
          .types = types.begin(),
          .mappers = nullptr};
}

void run_mapper(const Items& items, int32_t i, Pushed& to) {
  auto mapper = reinterpret_cast<Mapper>(items.mappers[i]);
  mapper(&to, items.bases[i], items.begins[i], items.sizes[i], static_cast<int64_t>(items.types[i]), nullptr);
}

extern "C" {

[[gnu::visibility("default")]] int64_t __tgt_mapper_num_components(void* handle) {
  if (Pushed* pushed = as_ours(handle)) return pushed->types.count();
  return reinterpret_cast<int64_t (*)(void*)>(llvm_routine("__tgt_mapper_num_components"))(handle);
}

[[gnu::visibility("default")]] void __tgt_push_mapper_component(void* handle, void* base, void* begin, int64_t size,
                                                                int64_t type, void* name) {
  Pushed* to = as_ours(handle);
  if (to == nullptr) {
    auto push = reinterpret_cast<void (*)(void*, void*, void*, int64_t, int64_t, void*)>(
        llvm_routine("__tgt_push_mapper_component"));
    return push(handle, base, begin, size, type, name);
  }
  to->bases.push(base);
  to->begins.push(begin);
  to->sizes.push(size);
  to->types.push(static_cast<uint64_t>(type));
}

}  // extern "C"

}  // namespace marline::target
