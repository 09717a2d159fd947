// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a region's kernel: one word for each parameter, and the private copies that some words point to. One
// owner at a time.
#pragma once

#include "base/list.hpp"
#include "data/copies.hpp"
#include "device/contract/own_words.hpp"

namespace marline::offload::data {

using namespace device;

// What a kernel gets besides the map entries.
struct Arguments {
  List<uint64_t, 16> words;            // the arguments; after them the kernel's own memory, if it has any
  List<OwnPatch, 4> patches;           // pointers in `words` that get addresses later
  List<uint64_t, 4> copies;            // device addresses of private copies
  List<Span, 4> spans;                 // memory that the kernel may use, for devices that ask for it
  List<Span, 4> named;                 // memory that depend clauses name, for devices that ask for it
  bool has_named = false;              // `named` is all memory that the kernel writes
  List<Transfer, 4>* later = nullptr;  // if not null, the caller makes these copies
};

// Called when the region's data is on the device. Makes the words of a kernel's arguments, and the private copies. May
// suspend.
void make_arguments(Device* device, const Items& items, bool leading_null, Arguments& to);
void release_arguments(Device* device, Arguments& arguments, ReportedConstruct* reported);

}  // namespace marline::offload::data
