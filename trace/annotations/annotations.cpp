// SPDX-License-Identifier: Apache-2.0
//
// Annotations of other tools as records. See the header. Everything but the cached functions belongs to the thread.
#include "annotations/annotations.hpp"

#include <dlfcn.h>

namespace marline::trace {
namespace {

constinit thread_local int in_other_tool __attribute__((tls_model("initial-exec"))) = 0;

char none;  // its address stands for a function that no library has

}  // namespace

Stream* annotated_stream() {
  if (in_other_tool != 0) return nullptr;
  Stream* stream = Stream::mine();
  return stream != nullptr && wanted(kRegionEvents) ? stream : nullptr;
}

void begin_annotation(u64 group, const char* name, u64 color) {
  if (Stream* stream = annotated_stream()) {
    const u64 text = stream->intern(name);
    stream->begin_region({.text = text, .group = group, .color = color});
  }
}

void end_annotation(u64 group) {
  if (Stream* stream = annotated_stream()) stream->end_region(group);
}

// Threads that look a function up at the same time find the same one, so any order of loads and stores will do.
void* next_function(const char* name, void*& found) {
  void* function = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (function == nullptr) {
    function = dlsym(RTLD_NEXT, name);
    if (function == nullptr) function = &none;
    __atomic_store_n(&found, function, __ATOMIC_RELAXED);
  }
  return function == &none ? nullptr : function;
}

InOtherTool::InOtherTool() { ++in_other_tool; }
InOtherTool::~InOtherTool() { --in_other_tool; }

}  // namespace marline::trace
