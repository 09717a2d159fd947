// SPDX-License-Identifier: Apache-2.0
//
// Lists the device memory that a kernel may use according to its construct: the storage of each item, and the memory at
// device addresses that the kernel gets by value. The device itself finds the memory that pointers in this memory refer
// to.
#pragma once

#include "data/data_environment.hpp"
#include "device/contract/named.hpp"

namespace marline::offload::data {

// Lists the memory that a kernel with these items may use, for Launch::spans. The data is mapped.
void list_spans(DataEnvironment& environment, const Items& items, List<Span, 4>& to);

// Lists the memory that depend clauses name, for Launch::named.
void list_named(DataEnvironment& environment, const Items& items, Names& names, List<Span, 4>& to);

}  // namespace marline::offload::data
