// SPDX-License-Identifier: Apache-2.0
//
// The lists of traits by which OMP_AVAILABLE_DEVICES and OMP_DEFAULT_DEVICE name devices (OpenMP 6.0, 4.3.7 and 4.3.8):
//
//     list  = item { "," item }                  item  = ( "*" | expression ) [ subscript ]
//     expression = term { "&&" term } | term { "||" term }
//     term  = "!" term | "(" expression ")" | trait "(" value ")"
//     trait = kind | isa | arch | vendor | uid   subscript = "[" number "]" | "[" [ number ] ":" [ number ] "]"
//
// `&&` and `||` side by side need parentheses. The second number of a subscript is a length. Case does not matter but
// in uids. No state.
#pragma once

#include "base/facts.hpp"

namespace marline::offload {

inline constexpr int kChosenHost = -1, kChosenNone = -2;

// All take at most kMostDevices devices.

// Writes the numbers of the devices that the list names to `chosen`, in its order and each once, and how many they are
// to `chosen_count`. Returns null; or else, for a text that is no list, where it stops to be one.
[[nodiscard]] const char* select_devices(const char* text, const DeviceFacts* devices, int count, int* chosen,
                                         int& chosen_count);

// The first device that a list names whose items may also be numbers, `initial` and `invalid`: a number, kChosenHost or
// kChosenNone; that also if it names none. A number alone is taken as it is. Returns as above.
[[nodiscard]] const char* choose_device(const char* text, const DeviceFacts* devices, int count, int& chosen);

}  // namespace marline::offload
