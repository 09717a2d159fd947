// SPDX-License-Identifier: Apache-2.0
//
// GCC's map kinds (GCC, include/gomp-constants.h, 12 to 14) in the normal form of items/items.hpp. Any thread; no
// state.
#pragma once

#include "items/item_list.hpp"
#include "data/data_environment.hpp"
#include "marline/devices.h"

namespace marline::offload::data {

using namespace items;

// The normal form of one construct's arrays. Exactly one item per element has kParameter, in their order: what a kernel
// finds at that place of its array. Others may stand between. Reads the pointers that are to be attached. Ends the
// program for a kind that it does not know.
//
// The pointers that GCC's code passes along with an array, and the descriptors of Fortran's arrays, are each region's
// own (map_type::kOwn), and data constructs do not map them: two regions may have other sections of the array, and the
// pointer may be a temporary on the stack. But those that are `declare target` variables are in `mapping`, where
// kernels find them by their names.
void take_maps(const marline_device_maps_t& maps, Mapping& mapping, ItemList& to);

// The same for target update, which moves data and does nothing else.
void take_updates(const marline_device_maps_t& maps, ItemList& to);

// The arrays of such a list: a base is the item's own begin also behind a pointer.
[[nodiscard]] Items items_of(ItemList& list);

// The address is to be replaced by the device's (use_device_ptr, use_device_addr).
[[nodiscard]] bool is_use_device(unsigned short kind);

// The address is that of a pointer, whose value plus the size is the address of another element.
[[nodiscard]] bool is_attachment(unsigned short kind);

}  // namespace marline::offload::data
