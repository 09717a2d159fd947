// SPDX-License-Identifier: Apache-2.0
//
// See the header. The two routines are called by the mapper's code (LLVM, offload/libomptarget/interface.cpp).
#include "mapping/mapper.hpp"

namespace marline::target {

namespace {

using Mapper = void (*)(void* handle, void* base, void* begin, int64_t size, int64_t type, void* name);

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
  return static_cast<Pushed*>(handle)->types.count();
}

[[gnu::visibility("default")]] void __tgt_push_mapper_component(void* handle, void* base, void* begin, int64_t size,
                                                                int64_t type, void*) {
  auto* to = static_cast<Pushed*>(handle);
  to->bases.push(base);
  to->begins.push(begin);
  to->sizes.push(size);
  to->types.push(static_cast<uint64_t>(type));
}

}  // extern "C"

}  // namespace marline::target
