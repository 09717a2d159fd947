// SPDX-License-Identifier: Apache-2.0
//
// Converts GCC's map kinds (GCC, include/gomp-constants.h, 12 to 16) to the normal form of items/items.hpp. Any thread;
// no state.
#pragma once

#include "items/item_list.hpp"
#include "data/data_environment.hpp"
#include "marline/devices.h"

namespace marline::offload::data {

using namespace items;

// Converts one construct's arrays. A kernel gets an array of addresses with one address for each element: exactly one
// item per element gives this address and has kParameter, in the order of the elements. Other items may be in between.
// Reads the pointers that are to be attached. Ends the program for an unknown kind.
//
// Each region has its own copy (map_type::kOwn) of the pointers that GCC's code passes along with an array, and of the
// descriptors of Fortran arrays. Data constructs do not map them: two regions may use different sections of the array,
// and the pointer may be a temporary on the stack. But a pointer or descriptor that is a `declare target` variable has
// an entry in the environment, where kernels find it by its name.
void take_maps(const marline_device_maps_t& maps, DataEnvironment& environment, ItemList& to);

// Converts the arrays of a target update, which moves data and does nothing else.
void take_updates(const marline_device_maps_t& maps, ItemList& to);

// The items of a list that take_maps or take_updates has filled. An item's base is its own begin, even if the program
// reaches the item through a pointer.
[[nodiscard]] Items items_of(ItemList& list);

// Whether an element of this kind gets the device's address in place of its own (use_device_ptr, use_device_addr).
[[nodiscard]] bool is_use_device(unsigned short kind);

// Whether an element of this kind attaches a pointer: its address is that of the pointer, and the pointer's value plus
// the element's size is the address of another element.
[[nodiscard]] bool is_attachment(unsigned short kind);

}  // namespace marline::offload::data
