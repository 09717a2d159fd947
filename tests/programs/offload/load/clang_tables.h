/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables that Clang's code passes to its library for devices, for programs that write them by hand: as Clang 22 and
 * 23 have them (LLVM, offload/include/Shared/APITypes.h). Included after check.h.
 */
#ifndef PROGRAMS_TARGET_CLANG_TABLES_H
#define PROGRAMS_TARGET_CLANG_TABLES_H

#include <stdint.h>

typedef struct {
  uint64_t reserved;
  uint16_t version, kind;
  uint32_t flags;
  void* address;
  const char* name;
  uint64_t size, data;
  void* auxiliary;
} Entry;
typedef struct {
  const void *begin, *end;
  Entry *entries_begin, *entries_end;
} Image;
typedef struct {
  int32_t image_count;
  Image* images;
  Entry *entries_begin, *entries_end;
} Descriptor;
typedef struct {
  uint32_t version, count;
  void **bases, **begins;
  int64_t *sizes, *types;
  void **names, **mappers;
  uint64_t tripcount, flags;
  uint32_t teams[3], threads[3], dynamic_memory;
} Arguments;

void __tgt_register_lib(void* descriptor);
void __tgt_unregister_lib(void* descriptor);
void __tgt_register_requires(int64_t flags);
int __tgt_target_kernel(void* ident, int64_t device, int32_t teams, int32_t threads, void* id, Arguments* arguments);

#endif
