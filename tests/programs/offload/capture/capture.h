/* SPDX-License-Identifier: Apache-2.0
 *
 * What the sink of capture_sink.cpp, which is in the test's libmarline-target, tells the program. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdint.h>

enum { CAPTURE_ITEMS = 8 };

/* A task as it was seen when it was created. */
typedef struct captured {
  int kind; /* ompt_target_t: 1 target, 2 enter data, 3 exit data, 4 update */
  int has_kernel;
  int64_t device;
  int count, dependences, dependence_type;
  void* dependence;
  const void* begins[CAPTURE_ITEMS];
  int64_t sizes[CAPTURE_ITEMS];
  uint64_t types[CAPTURE_ITEMS];
} captured_t;

enum { CAPTURE_LOOK, CAPTURE_TAKE }; /* the tasks run as ever; or the sink runs them */

#ifdef __cplusplus
extern "C" {
#endif
void marline_device_capture_mode(int mode);
/* Returns how many tasks have been captured so far, and fills in `captured` with number `index` of them. */
int marline_device_captured(int index, captured_t* captured);
int marline_device_capture_taken(void); /* tasks that the sink has run */
#ifdef __cplusplus
}
#endif

#endif
