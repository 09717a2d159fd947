/* SPDX-License-Identifier: Apache-2.0
 *
 * An OMPT tool in the program itself (OpenMP 5.2, section 19.2): the program defines tool_callbacks, which registers
 * what it wants to hear of, and after `#define TOOL_LOOKS_UP` also tool_lookup, which finds the routines that it calls;
 * after
 * `#define TOOL_ENDS` also tool_ends, which is called when all is over.
 */
#ifndef PROGRAMS_TOOL_H
#define PROGRAMS_TOOL_H

#include "check.h"
#include <omp-tools.h>

static void tool_callbacks(ompt_set_callback_t set_callback);
#ifdef TOOL_LOOKS_UP
static void tool_lookup(ompt_function_lookup_t lookup);
#endif
#ifdef TOOL_ENDS
static void tool_ends(void);
#endif

static int tool_initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* data) {
#ifdef TOOL_LOOKS_UP
  tool_lookup(lookup);
#endif
  tool_callbacks((ompt_set_callback_t)lookup("ompt_set_callback"));
  return device == 0 && data != NULL;
}

static void tool_finalize(ompt_data_t* data) {
  CHECK(data != NULL);
#ifdef TOOL_ENDS
  tool_ends();
#endif
}

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime) {
  static ompt_start_tool_result_t result = {tool_initialize, tool_finalize, {0}};
  return version != 0 && runtime != NULL ? &result : NULL;
}

#endif
