/* SPDX-License-Identifier: Apache-2.0
 *
 * The word that OMPT keeps for tools in a construct is the number of the task that the construct's copies count for:
 * its target task, or the task that encountered it. Copies may be made by any thread, between the construct's begin and
 * the end of its task. What a kernel accesses in a device's memory is not seen; such regions are counted.
 */
#include "devices.h"

#include "current.h"
#include "writer.h"

static ompt_get_task_info_t task_info;

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t* task,
                      ompt_data_t* target_task, ompt_data_t* construct, const void* code) {
  (void)kind, (void)device, (void)code;
  if (endpoint != ompt_scope_begin || construct == NULL) return;
  const bool is_own = target_task != NULL && target_task->ptr != NULL;
  const TaskRecord* of = current_record(is_own ? target_task : task);
  construct->value = of != NULL ? of->number : 0;
}

/* Marline copies pointers between mapped objects from its own frames, which lie below the program's. */
static bool is_in_runtime(const void* address) {
  ompt_frame_t* frame = NULL;
  if (task_info(0, NULL, NULL, &frame, NULL, NULL) == 0 || frame == NULL || frame->enter_frame.ptr == NULL)
    return false;
  return (const char*)address >= (const char*)__builtin_frame_address(0) &&
         (const char*)address < (const char*)frame->enter_frame.ptr;
}

static void on_data(ompt_scope_endpoint_t endpoint, ompt_data_t* target_task, ompt_data_t* construct, ompt_id_t* id,
                    ompt_target_data_op_t kind, void* from, int from_device, void* to, int to_device, size_t bytes,
                    const void* code) {
  (void)target_task, (void)id, (void)from_device, (void)to_device;
  const bool is_read = kind == ompt_target_data_transfer_to_device;
  if (endpoint == ompt_scope_end || (!is_read && kind != ompt_target_data_transfer_from_device)) return;
  const uint64_t task = construct != NULL ? construct->value : current_number();
  const void* host = is_read ? from : to;
  if (task == 0 || host == NULL || bytes == 0 || is_in_runtime(host)) return;
  PUT(kAccesses, task, (uintptr_t)host, (uint64_t)bytes << 2 | (is_read ? 0 : kWrite), (uintptr_t)code);
}

static void on_submit(ompt_scope_endpoint_t endpoint, ompt_data_t* construct, ompt_id_t* id, unsigned teams) {
  (void)id, (void)teams;
  if (endpoint != ompt_scope_end && construct != NULL) PUT(kOnDevice, construct->value);
}

void devices_begin(ompt_set_callback_t set, ompt_get_task_info_t info) {
  task_info = info;
  set(ompt_callback_target_emi, (ompt_callback_t)on_target);
  set(ompt_callback_target_data_op_emi, (ompt_callback_t)on_data);
  set(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit);
}
