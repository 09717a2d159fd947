/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program may add to the recording of its run: names for its phases and for its tasks, and which part of the run
 * to record. Works on every OpenMP runtime and in programs without one. The functions are inline and look up the
 * recorder by name when they are first called: nothing is linked, and a run without the recorder pays one load and one
 * branch per call. (The recorder must be loaded with the program, as `marline trace` does by LD_PRELOAD; with a C
 * library older than glibc 2.34 link -ldl.)
 *
 * All functions are thread-safe, never block, and do nothing if there is no recording.
 */
#ifndef MARLINE_TRACE_H
#define MARLINE_TRACE_H

#include <dlfcn.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The entry point of that name, kept in *found from the first call on; NULL if no library has it. */
static inline void* marline_trace_entry(const char* name, void** found) {
  void* entry = __atomic_load_n(found, __ATOMIC_RELAXED);
  if (!entry) {
    entry = dlsym((void*)0 /* RTLD_DEFAULT */, name);
    __atomic_store_n(found, entry ? entry : (void*)found, __ATOMIC_RELAXED); /* its own address means: not found */
  }
  return entry == (void*)found ? (void*)0 : entry;
}

/* Regions ---------------------------------------------------------------------------------------------------------- */

/* The current task (implicit ones too) enters a part of the program called `name`, drawn in the colour `rgb` (0xRRGGBB;
 * 0: the viewer's choice), and leaves the part that it entered last. Regions nest within a task and end in the task
 * that began them, on whatever thread that is by then. The text is copied. */
static inline void marline_region_begin_rgb(const char* name, uint32_t rgb) {
  static void* found;
  void (*begin)(const char*, uint32_t);
  *(void**)&begin = marline_trace_entry("marline_trace_region_begin", &found);
  if (begin) begin(name, rgb);
}

static inline void marline_region_begin(const char* name) { marline_region_begin_rgb(name, 0); }

static inline void marline_region_end(void) {
  static void* found;
  void (*end)(void);
  *(void**)&end = marline_trace_entry("marline_trace_region_end", &found);
  if (end) end();
}

/* Tasks ------------------------------------------------------------------------------------------------------------ */

/* Name and colour of the next task that the current task creates: calls marline_task_label and marline_task_color of
 * marline.h if the runtime is Marline; on any other runtime, sets both for the recording. `label` is not copied: a
 * string literal, or storage that outlives the task. */
static inline void marline_name_task(const char* label, uint32_t rgb) {
  static void *found_label, *found_color;
  void (*set_label)(const char*);
  void (*set_color)(uint32_t);
  *(void**)&set_label = marline_trace_entry("marline_task_label", &found_label);
  *(void**)&set_color = marline_trace_entry("marline_task_color", &found_color);
  if (set_label) set_label(label);
  if (set_color) set_color(rgb);
}

/* Which part of the run -------------------------------------------------------------------------------------------- */

/* Switches recording, for the whole process: level 0 off, 1 on, 2 brings the description of the trace up to date. The
 * same as omp_control_tool's pause, start and flush, and as MPI_Pcontrol. MARLINE_TRACE_START=off begins off. */
static inline void marline_trace_switch(int level) {
  static void* found;
  void (*control)(int);
  *(void**)&control = marline_trace_entry("marline_trace_control", &found);
  if (control) control(level);
}

static inline void marline_trace_on(void) { marline_trace_switch(1); }
static inline void marline_trace_off(void) { marline_trace_switch(0); }

#ifdef __cplusplus
}
#endif

#endif
