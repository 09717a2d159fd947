// SPDX-License-Identifier: Apache-2.0
//
// Reports a construct's maps to a tool: the items that the construct itself names, with the device's addresses. Items
// that a mapper makes are not reported.
#include "data/mapper.hpp"
#include "data/data_environment.hpp"

namespace marline::offload::data {

using namespace items;

namespace {

using namespace map_type;

// ompt_target_map_flag_t.
constexpr unsigned kFlagTo = 0x01, kFlagFrom = 0x02, kFlagAlloc = 0x04, kFlagRelease = 0x08, kFlagDelete = 0x10,
                   kFlagImplicit = 0x20;

unsigned flags_of(uint64_t type, bool ends) {
  unsigned flags = (type & kImplicit) != 0 ? kFlagImplicit : 0;
  if ((type & kFrom) != 0) flags |= kFlagFrom;
  if (ends) return flags | ((type & kDelete) != 0 ? kFlagDelete : kFlagRelease);  // `to` is reported at the begin
  if ((type & kTo) != 0) flags |= kFlagTo;
  if ((type & (kTo | kFrom)) == 0) flags |= kFlagAlloc;
  return flags;
}

}  // namespace

void Mapping::report_maps(const Items& items, bool ends) {
  if (items.reported == nullptr || !is_reported(MARLINE_ON_MAP)) return;
  constexpr int kKinds = 7;  // bits of ompt_target_t, without nowait
  bool is_exit = (items.reported->construct.kind & kKinds) == static_cast<int>(ConstructKind::kExitData);
  if (ends && !is_exit) return;  // they were reported at the construct's begin
  List<void*, 8> host, device;
  List<size_t, 8> bytes;
  List<unsigned, 8> flags;
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i];
    if (has_no_storage(type) || (type & (kAttach | kNonContiguous)) != 0 || has_mapper(items, i)) continue;
    host.push(items.begins[i]);
    device.push(reinterpret_cast<void*>(translate(items.begins[i], static_cast<size_t>(items.sizes[i]))));
    bytes.push(static_cast<size_t>(items.sizes[i]));
    flags.push(flags_of(type, ends));
  }
  if (host.count() == 0) return;
  marline_construct_maps(&items.reported->construct, host.count(), host.begin(), device.begin(), bytes.begin(),
                         flags.begin());
}

}  // namespace marline::offload::data
