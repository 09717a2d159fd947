// SPDX-License-Identifier: Apache-2.0
//
// What NVTX, Caliper and Score-P have in common for the recorder. A program that is annotated for one of them calls its
// functions; here each call becomes a record of the calling thread, as if the program called marline/trace.h.
//
// Regions of one group nest within a task; regions of different groups may overlap. A group is an NVTX domain, an
// attribute of Caliper, or all of Score-P.
#ifndef MARLINE_TRACE_ANNOTATIONS_HPP
#define MARLINE_TRACE_ANNOTATIONS_HPP

#include "base/stream.hpp"

#define MARLINE_ENTRY extern "C" __attribute__((visibility("default")))

namespace marline::trace {

// The number of a group by its name, never 0, which is the group of marline/trace.h. Two names rarely have one number;
// then their regions are taken to nest.
constexpr u64 group_of(const char* name) {
  const u64 hash = fnv1a(name);
  return (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) % 0xffff + 1;
}

// The thread's stream if annotations are recorded, else null. Null also while the thread is in a function of the other
// tool: what that tool calls itself is no annotation of the program's.
Stream* annotated_stream();

void begin_annotation(u64 group, const char* name, u64 color = 0);
void end_annotation(u64 group);

// The function of this name in another library, however that was loaded, or null. `found` keeps the answer until a
// further library is loaded.
void* next_function(const char* name, void*& found);

// While one exists, the thread is in a function of the other tool.
class InOtherTool {
 public:
  InOtherTool();
  ~InOtherTool();
  InOtherTool(const InOtherTool&) = delete;
  InOtherTool& operator=(const InOtherTool&) = delete;
};

// Calls the tool's own function, if its library is there. All of these return an error code, or nothing.
template <class... Arguments>
int call_next(const char* name, void*& found, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(next_function(name, found));
  if (function == nullptr) return 0;
  const InOtherTool in_other_tool;
  return function(arguments...);
}

// A name of at most this many bytes is recorded; a longer one is cut. Only for names that must be put together.
constexpr int kNameBytes = 512;

}  // namespace marline::trace

#endif
