/* SPDX-License-Identifier: Apache-2.0
 *
 * Knows which addresses belong to tools between this library and MPI.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "base/later_tool.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "base/report.h"

enum { kMostTools = 8 }; /* PMPI libraries; one more ends the program with a line that says so */

static ObjectRange tools[kMostTools];
int later_tool_count;

bool later_tool_holds(const void* address) {
  for (int i = 0; i < later_tool_count; ++i)
    if (object_holds(&tools[i], address)) return true;
  return false;
}

/* `wanted`: an ObjectRange that begins with an address; it becomes the range of the object that holds the address. */
static int find_object(struct dl_phdr_info* info, size_t size, void* wanted) {
  (void)size;
  ObjectRange* const range = wanted;
  ObjectRange object = {UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + header->p_vaddr;
    object.begin = begin < object.begin ? begin : object.begin;
    object.end = begin + header->p_memsz > object.end ? begin + header->p_memsz : object.end;
  }
  if (range->begin < object.begin || range->begin >= object.end) return 0;
  *range = object;
  return 1;
}

ObjectRange object_range(const void* address) {
  ObjectRange range = {(uintptr_t)address, 0};
  return dl_iterate_phdr(find_object, &range) == 1 ? range : (ObjectRange){0, 0};
}

void later_tool_add(const void* address) {
  if (later_tool_holds(address)) return;
  if (later_tool_count == kMostTools)
    report_fatal("more than %d PMPI tools between libmarline-mpi and MPI: preload some of them in front of it",
                 kMostTools);
  const ObjectRange range = object_range(address);
  if (object_holds(&range, address)) tools[later_tool_count++] = range;
}
