/* SPDX-License-Identifier: Apache-2.0
 *
 * For programs that call LLVM's entry points themselves, as a compiler would that is not at hand.
 */
#ifndef PROGRAMS_KMP_H
#define PROGRAMS_KMP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { /* ident_t */
  int32_t reserved_1, flags, reserved_2, reserved_3;
  const char* source;
} KmpIdent;

static KmpIdent kmp_here __attribute__((unused)) = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};

/* For what LLVM's own runtime declares and then refuses. */
static inline int on_stock_runtime(void) {
  const char* runtime = getenv("MARLINE_TEST_RUNTIME");
  return runtime && strcmp(runtime, "stock") == 0;
}

#ifdef __cplusplus
extern "C" {
#endif
int32_t __kmpc_global_thread_num(KmpIdent*);
#ifdef __cplusplus
}
#endif

#endif
