// SPDX-License-Identifier: Apache-2.0
//
// The table for debuggers. The offsets are constants; the addresses are filled in when the runtime starts.
#include "exec/view/debugger.hpp"

#include "../common/ompd_layout.hpp"
#include "base/check.hpp"
#include "base/version.hpp"
#include "config/option_table.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/view/affinity_display.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/worker.hpp"
#include "platform/thread.hpp"
#include "sched/team.hpp"
#include "tool/tool.hpp"

#include <dlfcn.h>

#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// A member of a structure, or a member of a structure that is one.
#define MARLINE_FIELD(structure, member) {offsetof(structure, member), sizeof(structure::member)}

namespace marline {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // GCC and Clang support it in all structures without virtual bases

#pragma GCC visibility push(default)
extern "C" {

// The library looks it up by this name.
extern OmpdLayout marline_ompd_layout;
constinit OmpdLayout marline_ompd_layout = {
    .version = OmpdLayout::kVersion,
    .bytes = sizeof(OmpdLayout),
    .newest_worker = 0,
    .options = 0,
    .affinity_format = 0,
    .variables = 0,
    .processors = 0,
    .openmp_version = kOpenmpVersion,
    .runtime = "",
    .worker = {.task = MARLINE_FIELD(Worker, task),
               .member = MARLINE_FIELD(Worker, member),
               .fiber = MARLINE_FIELD(Worker, fiber),
               .memberships = MARLINE_FIELD(Worker, memberships),
               .created_before = MARLINE_FIELD(Worker, created_before),
               .thread = MARLINE_FIELD(Worker, shown_state.thread),
               .handle = MARLINE_FIELD(Worker, shown_state.handle),
               .region = MARLINE_FIELD(Worker, tool_view.region),
               .data = MARLINE_FIELD(Worker, tool_view.data),
               .wait_task = MARLINE_FIELD(Worker, tool_view.wait.task),
               .wait_state = MARLINE_FIELD(Worker, tool_view.wait.state),
               .wait_id = MARLINE_FIELD(Worker, tool_view.wait.wait_id)},
    .member = {.worker = MARLINE_FIELD(Member, worker),
               .team = MARLINE_FIELD(Member, team),
               .index = MARLINE_FIELD(Member, index),
               .next_membership = MARLINE_FIELD(Member, next_membership),
               .implicit_task = MARLINE_FIELD(Member, implicit_task),
               .exit_frame = MARLINE_FIELD(Member, frame.exit_frame),
               .enter_frame = MARLINE_FIELD(Member, frame.enter_frame),
               .exit_flags = MARLINE_FIELD(Member, frame.exit_frame_flags),
               .enter_flags = MARLINE_FIELD(Member, frame.enter_frame_flags),
               .size = sizeof(Member)},
    .team = {.size = MARLINE_FIELD(Team, size),
             .level = MARLINE_FIELD(Team, level),
             .active_level = MARLINE_FIELD(Team, active_level),
             .members = MARLINE_FIELD(Team, members),
             .parent_member = MARLINE_FIELD(Team, parent_member),
             .microtask = MARLINE_FIELD(Team, microtask),
             .data = MARLINE_FIELD(Team, tool_data)},
    .task = {.block = MARLINE_FIELD(Task, block),
             .parent = MARLINE_FIELD(Task, parent),
             .team = MARLINE_FIELD(Task, team),
             .fiber = MARLINE_FIELD(Task, fiber),
             .flags = MARLINE_FIELD(Task, flags),
             .icvs = MARLINE_FIELD(Task, icvs),
             .data = MARLINE_FIELD(Task, tool_data),
             .implicit = task_flag::kImplicit,
             .final = task_flag::kFinal},
    .icvs = {.num_threads = MARLINE_FIELD(Icvs, num_threads),
             .max_active_levels = MARLINE_FIELD(Icvs, max_active_levels),
             .schedule = MARLINE_FIELD(Icvs, run_sched_kind),
             .chunk = MARLINE_FIELD(Icvs, run_sched_chunk),
             .default_device = MARLINE_FIELD(Icvs, default_device),
             .thread_limit = MARLINE_FIELD(Icvs, thread_limit),
             .dynamic = MARLINE_FIELD(Icvs, dynamic),
             .monotonic = MARLINE_FIELD(Icvs, run_sched_monotonic),
             .clause_bind = MARLINE_FIELD(Icvs, clause_bind)},
    .fiber = {.caller = MARLINE_FIELD(Fiber, caller), .task = MARLINE_FIELD(Fiber, task)},
    .tail = {.beneath = MARLINE_FIELD(ToolTail, beneath),
             .code = MARLINE_FIELD(ToolTail, code),
             .exit_frame = MARLINE_FIELD(ToolTail, frame.exit_frame),
             .enter_frame = MARLINE_FIELD(ToolTail, frame.enter_frame),
             .exit_flags = MARLINE_FIELD(ToolTail, frame.exit_frame_flags),
             .enter_flags = MARLINE_FIELD(ToolTail, frame.enter_frame_flags)},
    .option = {.num_threads = MARLINE_FIELD(Options, num_threads),
               .num_threads_count = MARLINE_FIELD(Options, num_threads_count),
               .proc_bind = MARLINE_FIELD(Options, proc_bind),
               .proc_bind_count = MARLINE_FIELD(Options, proc_bind_count),
               .stacksize = MARLINE_FIELD(Options, stacksize),
               .cancellation = MARLINE_FIELD(Options, cancellation),
               .max_task_priority = MARLINE_FIELD(Options, max_task_priority),
               .debug = MARLINE_FIELD(Options, debug),
               .display_affinity = MARLINE_FIELD(Options, display_affinity),
               .affinity_format = MARLINE_FIELD(Options, affinity_format),
               .tool = MARLINE_FIELD(Options, tool),
               .tool_libraries = MARLINE_FIELD(Options, tool_libraries),
               .tool_verbose_init = MARLINE_FIELD(Options, tool_verbose_init),
               .tail_bytes = MARLINE_FIELD(Options, task_tail_bytes)},
    .slab = SlabPool::layout<decltype(OmpdLayout::slab)>(),
};

}  // extern "C"
#pragma GCC visibility pop

#pragma GCC diagnostic pop

namespace {

constexpr const char* kLibrary = "marline/libompd.so";  // in a folder next to libmarline.so

uint64_t address(const void* place) { return reinterpret_cast<uint64_t>(place); }

// The values of all variables, as the runtime has understood them.
const char* variables_text() {
  static char block[16384];
  Text out(block, sizeof block);
  for (const Option& option : option_table()) {
    out.add("%s=", option.name);
    option.show(out, options());
    out.add("\n");
  }
  return block;
}

// Null: it is not known where this library lies.
const char* library_path() {
  static char path[PATH_MAX + sizeof "marline/libompd.so"];
  Dl_info own;
  // The loader may have found this library by its link in marline/compat.
  if (dladdr(reinterpret_cast<const void*>(&debugger_start), &own) == 0) return nullptr;
  if (realpath(own.dli_fname, path) == nullptr) return nullptr;
  std::strcpy(std::strrchr(path, '/') + 1, kLibrary);
  return path;
}

}  // namespace

void debugger_start() {
  static const char* libraries[2] = {};
  OmpdLayout& layout = marline_ompd_layout;
  std::snprintf(layout.runtime, sizeof layout.runtime, "Marline %s", kVersion);
  layout.processors = usable_cpus();
  layout.options = address(&options());
  layout.affinity_format = address(AffinityFormat::place());
  layout.variables = address(variables_text());
  layout.newest_worker = address(newest_worker_place());
  tool::accept_debugger();
  libraries[0] = library_path();
  if (libraries[0] == nullptr) return warn("OMP_DEBUG: the folder of libmarline.so, with %s, is not known", kLibrary);
  ompd_dll_locations = libraries;
  ompd_dll_locations_valid();
}

}  // namespace marline
