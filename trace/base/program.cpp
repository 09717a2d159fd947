// SPDX-License-Identifier: Apache-2.0
//
// The calls by which the program controls its recording: the entry points for include/marline/trace.h, which finds them
// by name and never links them. A region belongs to the task that is in it, even if the task continues on another
// thread.
//
// marline_task_label and marline_task_color are Marline's functions; they are defined here for programs on other
// runtimes. If the runtime has them, too (this library is loaded before it), the calls are passed on.
#include <dlfcn.h>

#include "base/stream.hpp"

#define MARLINE_ENTRY extern "C" __attribute__((visibility("default")))

namespace marline::trace {
namespace {

// The thread's stream, if regions are wanted and recording is on.
Stream* region_stream() {
  Stream* stream = Stream::mine();
  return stream != nullptr && wanted(kRegionEvents) ? stream : nullptr;
}

using SetLabel = void (*)(const char*);
using SetColor = void (*)(uint32_t);

void keep_label(const char* label) {
  if (Stream* stream = Stream::mine()) {
    stream->set_next_name({.label = label, .color = stream->next_name().color});
  }
}

void keep_color(uint32_t color) {
  if (Stream* stream = Stream::mine()) {
    stream->set_next_name({.label = stream->next_name().label, .color = color});
  }
}

// The next definition in the order of libraries, or `ours`. Looked up once; threads that look it up at the same time
// find the same function.
template <class Function>
Function next_or(const char* name, Function ours, Function& found) {
  Function function = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (function == nullptr) {
    function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
    function = function == nullptr ? ours : function;
    __atomic_store_n(&found, function, __ATOMIC_RELAXED);
  }
  return function;
}

}  // namespace
}  // namespace marline::trace

using namespace marline::trace;

MARLINE_ENTRY void marline_trace_region_begin(const char* name, uint32_t color) {
  if (Stream* stream = region_stream()) {
    const u64 text = stream->intern(name);
    stream->begin_region({.text = text, .group = 0, .color = color});
  }
}

MARLINE_ENTRY void marline_trace_region_end() {
  if (Stream* stream = region_stream()) {
    stream->end_region(0);
  }
}

MARLINE_ENTRY void marline_trace_control(int level) { control_recording_by_level(level); }

MARLINE_ENTRY void marline_task_label(const char* label) {
  static SetLabel found;
  next_or("marline_task_label", keep_label, found)(label);
}

MARLINE_ENTRY void marline_task_color(uint32_t color) {
  static SetColor found;
  next_or("marline_task_color", keep_color, found)(color);
}
