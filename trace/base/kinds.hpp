// SPDX-License-Identifier: Apache-2.0
//
// Kinds of event that can be left out (MARLINE_TRACE_EVENTS, options.hpp).
#ifndef MARLINE_TRACE_KINDS_HPP
#define MARLINE_TRACE_KINDS_HPP

namespace marline::trace {

enum Events : unsigned {
  kTaskEvents = 1 << 0,
  kDependenceEvents = 1 << 1,
  kSyncEvents = 1 << 2,
  kMutexEvents = 1 << 3,
  kWorkEvents = 1 << 4,
  kMpiEvents = 1 << 5,
  kRegionEvents = 1 << 6,
  kDeviceEvents = 1 << 7,
  kMemoryEvents = 1 << 8,
};

}  // namespace marline::trace

#endif
