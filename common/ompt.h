/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of OMPT's interface for tools (OpenMP 5.2, chapter 19) that the recorder and the checker use, by the names
 * of the standard. GCC has no omp-tools.h. The values are those of LLVM's, with which tests/install/test_ompt_header.py
 * compares them. For C and C++. No state.
 */
#ifndef MARLINE_COMMON_OMPT_H
#define MARLINE_COMMON_OMPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t ompt_id_t;
typedef uint64_t ompt_device_time_t;
typedef uint64_t ompt_buffer_cursor_t;
typedef uint64_t ompt_hwid_t;
typedef uint64_t ompt_wait_id_t;
typedef void ompt_device_t;
typedef void ompt_buffer_t;

/* A word that belongs to the tool. */
typedef union ompt_data_t {
  uint64_t value;
  void* ptr;
} ompt_data_t;

typedef struct ompt_frame_t {
  ompt_data_t exit_frame;
  ompt_data_t enter_frame;
  int exit_frame_flags;
  int enter_frame_flags;
} ompt_frame_t;

typedef enum ompt_callbacks_t {
  ompt_callback_thread_begin = 1,
  ompt_callback_thread_end = 2,
  ompt_callback_parallel_begin = 3,
  ompt_callback_parallel_end = 4,
  ompt_callback_task_create = 5,
  ompt_callback_task_schedule = 6,
  ompt_callback_implicit_task = 7,
  ompt_callback_target_submit = 10,
  ompt_callback_control_tool = 11,
  ompt_callback_device_initialize = 12,
  ompt_callback_sync_region_wait = 16,
  ompt_callback_mutex_released = 17,
  ompt_callback_dependences = 18,
  ompt_callback_work = 20,
  ompt_callback_sync_region = 23,
  ompt_callback_mutex_acquire = 26,
  ompt_callback_mutex_acquired = 27,
  ompt_callback_nest_lock = 28,
  ompt_callback_target_emi = 33,
  ompt_callback_target_data_op_emi = 34,
  ompt_callback_target_submit_emi = 35,
  ompt_callback_target_map_emi = 36
} ompt_callbacks_t;

typedef enum ompt_set_result_t { ompt_set_error = 0, ompt_set_never = 1, ompt_set_always = 5 } ompt_set_result_t;

typedef enum ompt_thread_t {
  ompt_thread_initial = 1,
  ompt_thread_worker = 2,
  ompt_thread_other = 3,
  ompt_thread_unknown = 4
} ompt_thread_t;

typedef enum ompt_scope_endpoint_t {
  ompt_scope_begin = 1,
  ompt_scope_end = 2,
  ompt_scope_beginend = 3
} ompt_scope_endpoint_t;

typedef enum ompt_sync_region_t {
  ompt_sync_region_barrier_explicit = 3,
  ompt_sync_region_barrier_implementation = 4,
  ompt_sync_region_taskwait = 5,
  ompt_sync_region_taskgroup = 6,
  ompt_sync_region_reduction = 7,
  ompt_sync_region_barrier_implicit_workshare = 8,
  ompt_sync_region_barrier_implicit_parallel = 9,
  ompt_sync_region_barrier_teams = 10
} ompt_sync_region_t;

typedef enum ompt_work_t { ompt_work_loop = 1, ompt_work_sections = 2, ompt_work_taskloop = 7 } ompt_work_t;

typedef enum ompt_mutex_t {
  ompt_mutex_lock = 1,
  ompt_mutex_test_lock = 2,
  ompt_mutex_nest_lock = 3,
  ompt_mutex_test_nest_lock = 4,
  ompt_mutex_critical = 5,
  ompt_mutex_atomic = 6,
  ompt_mutex_ordered = 7
} ompt_mutex_t;

typedef enum ompt_task_flag_t {
  ompt_task_initial = 0x00000001,
  ompt_task_implicit = 0x00000002,
  ompt_task_explicit = 0x00000004,
  ompt_task_target = 0x00000008,
  ompt_task_taskwait = 0x00000010,
  ompt_task_undeferred = 0x08000000
} ompt_task_flag_t;

typedef enum ompt_task_status_t {
  ompt_task_complete = 1,
  ompt_task_yield = 2,
  ompt_task_cancel = 3,
  ompt_task_detach = 4,
  ompt_task_early_fulfill = 5,
  ompt_task_late_fulfill = 6,
  ompt_task_switch = 7,
  ompt_taskwait_complete = 8
} ompt_task_status_t;

typedef enum ompt_frame_flag_t { ompt_frame_runtime = 0x00, ompt_frame_application = 0x01 } ompt_frame_flag_t;

typedef enum ompt_dependence_type_t {
  ompt_dependence_type_in = 1,
  ompt_dependence_type_out = 2,
  ompt_dependence_type_inout = 3,
  ompt_dependence_type_mutexinoutset = 4,
  ompt_dependence_type_source = 5,
  ompt_dependence_type_sink = 6,
  ompt_dependence_type_inoutset = 7
} ompt_dependence_type_t;

typedef struct ompt_dependence_t {
  ompt_data_t variable;
  ompt_dependence_type_t dependence_type;
} ompt_dependence_t;

typedef enum ompt_target_t {
  ompt_target = 1,
  ompt_target_enter_data = 2,
  ompt_target_exit_data = 3,
  ompt_target_update = 4
} ompt_target_t;

typedef enum ompt_target_map_flag_t {
  ompt_target_map_flag_to = 0x01,
  ompt_target_map_flag_from = 0x02
} ompt_target_map_flag_t;

typedef enum ompt_target_data_op_t {
  ompt_target_data_alloc = 1,
  ompt_target_data_transfer_to_device = 2,
  ompt_target_data_transfer_from_device = 3,
  ompt_target_data_delete = 4
} ompt_target_data_op_t;

typedef enum ompt_native_mon_flag_t { ompt_native_overhead = 0x40, ompt_native_idleness = 0x80 } ompt_native_mon_flag_t;

/* Functions, by their names: a tool casts what it gets. */
typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char* name);
typedef void (*ompt_callback_t)(void);
typedef ompt_set_result_t (*ompt_set_callback_t)(ompt_callbacks_t event, ompt_callback_t callback);
typedef int (*ompt_get_task_info_t)(int level, int* flags, ompt_data_t** task, ompt_frame_t** frame,
                                    ompt_data_t** parallel, int* thread);

typedef struct ompt_start_tool_result_t {
  int (*initialize)(ompt_function_lookup_t lookup, int initial_device, ompt_data_t* tool);
  void (*finalize)(ompt_data_t* tool);
  ompt_data_t tool_data;
} ompt_start_tool_result_t;

/* What a runtime calls to start the tool that defines it. */
__attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(unsigned omp_version,
                                                                                 const char* runtime_version);

/* Records of devices: OMPT's own, and native ones. */
typedef enum ompt_record_t { ompt_record_ompt = 1, ompt_record_native = 2, ompt_record_invalid = 3 } ompt_record_t;
typedef enum ompt_record_native_t { ompt_record_native_info = 1, ompt_record_native_event = 2 } ompt_record_native_t;

typedef struct ompt_record_target_data_op_t {
  ompt_id_t host_op_id;
  ompt_target_data_op_t optype;
  void* src_addr;
  int src_device_num;
  void* dest_addr;
  int dest_device_num;
  size_t bytes;
  ompt_device_time_t end_time;
  const void* codeptr_ra;
} ompt_record_target_data_op_t;

typedef struct ompt_record_target_kernel_t {
  ompt_id_t host_op_id;
  unsigned requested_num_teams;
  unsigned granted_num_teams;
  ompt_device_time_t end_time;
} ompt_record_target_kernel_t;

/* The records of these two kinds alone are read. Runtimes allocate records, so the size of the union is theirs. */
typedef struct ompt_record_ompt_t {
  ompt_callbacks_t type;
  ompt_device_time_t time;
  ompt_id_t thread_id;
  ompt_id_t target_id;
  union {
    ompt_record_target_data_op_t target_data_op;
    ompt_record_target_kernel_t target_kernel;
  } record;
} ompt_record_ompt_t;

typedef struct ompt_record_abstract_t {
  ompt_record_native_t rclass;
  const char* type;
  ompt_device_time_t start_time;
  ompt_device_time_t end_time;
  ompt_hwid_t hwid;
} ompt_record_abstract_t;

typedef void (*ompt_callback_buffer_request_t)(int device, ompt_buffer_t** buffer, size_t* bytes);
typedef void (*ompt_callback_buffer_complete_t)(int device, ompt_buffer_t* buffer, size_t bytes,
                                                ompt_buffer_cursor_t begin, int is_owned);
typedef ompt_device_time_t (*ompt_get_device_time_t)(ompt_device_t* device);
typedef ompt_set_result_t (*ompt_set_trace_native_t)(ompt_device_t* device, int enable, int flags);
typedef int (*ompt_start_trace_t)(ompt_device_t* device, ompt_callback_buffer_request_t request,
                                  ompt_callback_buffer_complete_t complete);
typedef int (*ompt_flush_trace_t)(ompt_device_t* device);
typedef int (*ompt_advance_buffer_cursor_t)(ompt_device_t* device, ompt_buffer_t* buffer, size_t bytes,
                                            ompt_buffer_cursor_t current, ompt_buffer_cursor_t* next);
typedef ompt_record_t (*ompt_get_record_type_t)(ompt_buffer_t* buffer, ompt_buffer_cursor_t current);
typedef ompt_record_ompt_t* (*ompt_get_record_ompt_t)(ompt_buffer_t* buffer, ompt_buffer_cursor_t current);
typedef void* (*ompt_get_record_native_t)(ompt_buffer_t* buffer, ompt_buffer_cursor_t current, ompt_id_t* host_op_id);
typedef ompt_record_abstract_t* (*ompt_get_record_abstract_t)(void* native_record);

#ifdef __cplusplus
}
#endif

#endif
