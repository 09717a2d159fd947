/* SPDX-License-Identifier: Apache-2.0
 *
 * What the models of profilers in this folder share. A model registers the callbacks that a profiler registers, keeps
 * the state that it keeps, and checks what it relies on: where the profiler would abort, read a null pointer, or
 * attribute time to the wrong construct, the model prints a line and ends the program with status 3.
 *
 * The tool is over in an atexit handler, as profilers end (OpenMP 5.2, 19.6.1.19: ompt_finalize_tool); an event after
 * that is a failure, too. A model then prints its name and what it has counted. */
#ifndef PROFILERS_PROFILER_H
#define PROFILERS_PROFILER_H

#include <omp-tools.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPECT(condition, ...)                                 \
  do {                                                         \
    if (!(condition)) fail(#condition, __LINE__, __VA_ARGS__); \
  } while (0)

static const char* const model_name; /* of the profiler: each model defines it */
static ompt_set_callback_t set_callback;
static ompt_finalize_tool_t finalize_tool;
static _Atomic int is_over;

static void model_starts(ompt_function_lookup_t lookup);
static void model_ends(void);

__attribute__((noreturn, format(printf, 3, 4))) static void fail(const char* condition, int line, const char* format,
                                                                 ...) {
  char text[256];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  fprintf(stderr, "%s:%d: not so: %s (%s)\n", model_name, line, condition, text);
  _exit(3);
}

/* Registers an event; the profiler gives up, or leaves the event out, if the runtime promises less. */
static void hear_of(ompt_callbacks_t event, ompt_callback_t callback, ompt_set_result_t least) {
  ompt_set_result_t result = set_callback(event, callback);
  EXPECT(result >= least, "event %d is promised with %d, the profiler wants %d", (int)event, (int)result, (int)least);
}
#define HEAR_OF(event, least) hear_of(ompt_callback_##event, (ompt_callback_t)on_##event, ompt_set_##least)

static void* looked_up(ompt_function_lookup_t lookup, const char* name) {
  void* found = (void*)lookup(name);
  EXPECT(found != NULL, "no %s", name);
  return found;
}

static void at_exit(void) {
  finalize_tool();
  EXPECT(is_over, "ompt_finalize_tool did not end the tool");
}

static int tool_initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* data) {
  (void)device;
  (void)data;
  set_callback = (ompt_set_callback_t)looked_up(lookup, "ompt_set_callback");
  finalize_tool = (ompt_finalize_tool_t)looked_up(lookup, "ompt_finalize_tool");
  atexit(at_exit);
  model_starts(lookup);
  return 1;
}

static void tool_finalize(ompt_data_t* data) {
  (void)data;
  model_ends();
  fflush(stdout);
  is_over = 1;
}

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime) {
  static ompt_start_tool_result_t result = {tool_initialize, tool_finalize, {0}};
  return version != 0 && runtime != NULL ? &result : NULL;
}

#endif
