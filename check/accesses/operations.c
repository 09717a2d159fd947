/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations are numbered like tasks.
 */
#include "operations.h"

#include "current.h"
#include "writer.h"

uint64_t marline_accesses_start(const char* name, const void* code) {
  const TaskRecord* task = current();
  if (task == NULL) return 0;
  const uint64_t text = writer_text(name);
  const uint64_t operation = current_new_number();
  current_end_segment();
  PUT(kOperation, operation, task->number, (uintptr_t)code, text);
  return operation;
}

void marline_accesses_end(uint64_t operation) {
  const TaskRecord* task = current();
  if (!current_is_recording()) return;
  if (task != NULL) current_end_segment();
  PUT(kOperationEnd, operation, task != NULL ? task->number : 0);
}

void marline_accesses_note(uint64_t operation, uintptr_t address, size_t size, bool is_write, const void* code) {
  const unsigned kind = is_write ? kWrite : 0;
  if (operation != 0) {
    PUT(kAccesses, operation, address, (uint64_t)size << 2 | kind, (uintptr_t)code);
    return;
  }
  TaskRecord* task = current();
  if (task != NULL) granules_add(&task->granules, address, size, kind, code);
}
