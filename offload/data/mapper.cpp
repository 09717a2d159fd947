// SPDX-License-Identifier: Apache-2.0
//
// Runs mappers, and defines the two routines that a mapper's code calls (LLVM, offload/libomptarget/interface.cpp).
#include "data/mapper.hpp"

#include "device/libomptarget/libomptarget.hpp"

namespace marline::offload::data {

using namespace device;

namespace {

using namespace map_type;
using Mapper = void (*)(void* handle, void* base, void* begin, int64_t size, int64_t type, void* name);

// The items that one mapper has pushed. The address of this object is the handle that the mapper's code passes along.
struct Pushed {
  // The mark comes first: libomptarget's handles begin with a pointer, which is never odd.
  static constexpr uint64_t kMark = 0x6d61726c696e6525;
  uint64_t mark = kMark;
  ItemList list;
};

// Null: the handle is libomptarget's, which runs the mapper for a device of its own.
Pushed* as_ours(void* handle) {
  auto* pushed = static_cast<Pushed*>(handle);
  return pushed->mark == Pushed::kMark ? pushed : nullptr;
}

bool runs_mapper(const Items& items, int32_t i) { return has_mapper(items, i) && !has_no_storage(items.types[i]); }

bool has_any(const Items& items) {
  if (items.mappers == nullptr) return false;
  for (int32_t i = 0; i < items.count; ++i) {
    if (runs_mapper(items, i)) return true;
  }
  return false;
}

void run_mapper(const Items& items, int32_t i, Pushed& to) {
  auto mapper = reinterpret_cast<Mapper>(items.mappers[i]);
  mapper(&to, items.bases[i], items.begins[i], items.sizes[i], static_cast<int64_t>(items.types[i]), nullptr);
}

constexpr uint64_t kMembers = (uint64_t{1} << kMemberShift) - 1;  // all bits but the member number

// Sets the member number, which has 16 bits: it wraps around, but never to 0, so a member stays a member however many
// items there are.
uint64_t as_member_of(uint64_t type, uint64_t place) {
  return (type & kMembers) | (place % 0xffff + 1) << kMemberShift;
}

}  // namespace

// Mappers count items from 1 among the items that they have pushed, so the numbers of members' structures are shifted.
void Expansion::append(Items pushed) {
  uint64_t before = list_.types.count();
  for (int32_t i = 0; i < pushed.count; ++i) {
    uint64_t type = pushed.types[i];
    if (is_member(type)) type = as_member_of(type, (type >> kMemberShift) - 1 + before);
    list_.push(pushed.bases[i], pushed.begins[i], pushed.sizes[i], type);
  }
}

Expansion::Expansion(const Items& given) : items_(given) {
  if (!has_any(given)) return;
  for (int32_t i = 0; i < given.count; ++i) {
    places_.push(list_.types.count());
    if (runs_mapper(given, i)) {
      Pushed pushed;
      run_mapper(given, i, pushed);
      append(pushed.list.items());
      continue;
    }
    uint64_t type = given.types[i], of = type >> kMemberShift;
    if (of != 0 && of <= places_.count()) type = as_member_of(type, places_[static_cast<uint32_t>(of) - 1]);
    list_.push(given.bases[i], given.begins[i], given.sizes[i], type);
  }
  items_ = list_.items();
  items_.of_region = given.of_region;
  items_.source = given.source;
  items_.reported = given.reported;
}

void Expansion::return_bases(const Items& given) {
  if (items_.bases == given.bases) return;
  for (int32_t i = 0; i < given.count; ++i) {
    bool changed = (given.types[i] & kReturn) != 0 && !runs_mapper(given, i);
    if (changed) given.bases[i] = items_.bases[places_[static_cast<uint32_t>(i)]];
  }
}

extern "C" {

[[gnu::visibility("default")]] int64_t __tgt_mapper_num_components(void* handle) {
  if (Pushed* pushed = as_ours(handle)) return pushed->list.types.count();
  return reinterpret_cast<int64_t (*)(void*)>(llvm_routine("__tgt_mapper_num_components"))(handle);
}

[[gnu::visibility("default")]] void __tgt_push_mapper_component(void* handle, void* base, void* begin, int64_t size,
                                                                int64_t type, void* name) {
  if (Pushed* to = as_ours(handle)) return to->list.push(base, begin, size, static_cast<uint64_t>(type));
  auto push = reinterpret_cast<void (*)(void*, void*, void*, int64_t, int64_t, void*)>(
      llvm_routine("__tgt_push_mapper_component"));
  push(handle, base, begin, size, type, name);
}

}  // extern "C"

}  // namespace marline::offload::data
