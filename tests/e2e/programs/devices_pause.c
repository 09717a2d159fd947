/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels before, in and after a pause of the recording: eleven, twenty in the pause, two. The argument names the way
 * to pause: omp_control_tool or, with "level", marline/trace.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <marline/trace.h>
#include <string.h>

enum { kStart = 1, kPause, kFlush, kEnd };

/* GCC's library has no such routine to link with. */
static void control(int command) {
  int (*function)(int, int, void*);
  *(void**)&function = dlsym(RTLD_DEFAULT, "omp_control_tool");
  if (function) function(command, 0, NULL);
}

static void kernels(int count) {
  int x = 0;
  for (int i = 0; i < count; i++) {
#pragma omp target map(tofrom : x)
    x++;
  }
}

int main(int count, char** arguments) {
  const char* mode = count > 1 ? arguments[1] : "";
  kernels(11);
  if (strcmp(mode, "level") == 0) {
    marline_trace_off();
    kernels(20);
    marline_trace_on();
    kernels(2);
  } else if (strcmp(mode, "pause_start") == 0) {
    control(kPause);
    kernels(20);
    control(kStart);
    kernels(2);
  } else if (strcmp(mode, "pause") == 0) {
    control(kPause);
    kernels(20);
  } else if (strcmp(mode, "end") == 0) {
    control(kEnd);
  }
  return 0;
}
