/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes the first failure. No state.
 */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

void failure_note(Failure* failure, int code, const char* format, ...) {
  if (failure->code != 0) {
    return;
  }
  failure->code = code;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure->text, sizeof failure->text, format, arguments);
  va_end(arguments);
}
