/* SPDX-License-Identifier: Apache-2.0
 *
 * Prepares each thread once.
 */
#include "base/device_threads.h"

#include <stdbool.h>

static const marline_device_memory_t* const none;
const marline_device_memory_t* const* device_memory_word = &none;

void device_threads_open(void) { device_memory_word = marline_device_memory_word(); }

void device_threads_prepare_this(void) {
  static _Thread_local bool is_prepared;
  if (!is_prepared) is_prepared = device_memory()->prepare_thread() == 0;
}
