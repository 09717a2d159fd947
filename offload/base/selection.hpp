// SPDX-License-Identifier: Apache-2.0
//
// The lists of traits by which OMP_AVAILABLE_DEVICES and OMP_DEFAULT_DEVICE name devices (OpenMP 6.0, 4.3.7 and 4.3.8):
//
//     list  = item { "," item }                  item  = ( "*" | expression ) [ subscript ]
//     expression = term { "&&" term } | term { "||" term }
//     term  = "!" term | "(" expression ")" | trait "(" value ")"
//     trait = kind | isa | arch | vendor | uid   subscript = "[" number "]" | "[" [ number ] ":" [ number ] "]"
//
// `&&` and `||` side by side need parentheses. The second number of a subscript is a length. Case matters only in uids.
// No state.
#pragma once

#include "base/facts.hpp"

namespace marline::offload {

inline constexpr int kChosenHost = -1, kChosenNone = -2;

// `count` is at most kMostDevices in all functions.

// Writes the numbers of the devices that the list names to `chosen`, in the list's order and each once, and their count
// to `chosen_count`. Returns null, or, if the text is not a valid list, the place in the text where the error is.
[[nodiscard]] const char* select_devices(const char* text, const DeviceFacts* devices, int count, int* chosen,
                                         int& chosen_count);

// Finds the first device that a list names. The items of this list may also be numbers, `initial` and `invalid`.
// `chosen` is a device number, kChosenHost for `initial`, or kChosenNone for `invalid` and if the list names no device.
// A list that is a single number is taken as it is. Returns the same as select_devices.
[[nodiscard]] const char* choose_device(const char* text, const DeviceFacts* devices, int count, int& chosen);

}  // namespace marline::offload
