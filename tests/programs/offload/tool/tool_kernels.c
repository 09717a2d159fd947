/* SPDX-License-Identifier: Apache-2.0
 *
 * What an OMPT tool hears of every kind of device, GPUs too: constructs with a begin and an end, one kernel in each
 * region, and a record that says when the device has run it. The maps of constructs, with the device's addresses.
 *
 * Covers: target(nowait), target enter data, target exit data, ompt_callback_target_map
 */
#define TOOL_LOOKS_UP
#define TOOL_ENDS
#include "../../tool.h"
#include "../device.h"

enum { kRegions = 20, kCount = 100, kMost = 256 };

static int begins[16], ends[16], submits, submits_ended, kernels, initialized, finalized, enters, exits, from_gpu;
static uint64_t ids[kMost];
static int id_count;
static unsigned expected_teams;
static unsigned data_flags; /* of the newest map of data */
static int data[kCount];
static ompt_function_lookup_t device_lookup;
static ompt_device_t* device_handle;

static void count(int* what) { __atomic_fetch_add(what, 1, __ATOMIC_RELAXED); }

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t* task,
                      ompt_data_t* target_task, ompt_data_t* target, const void* code) {
  CHECK(kind > 0 && kind < 16 && task != NULL && code != NULL && target->value != 0);
  CHECK_EQ(target_task != NULL, kind >= ompt_target_nowait);
  CHECK_EQ(device, 0); /* a callback must not call omp_get_default_device */
  count(endpoint == ompt_scope_begin ? &begins[kind] : &ends[kind]);
  if (endpoint != ompt_scope_begin) return;
  int i = __atomic_fetch_add(&id_count, 1, __ATOMIC_RELAXED);
  CHECK(i < kMost);
  ids[i] = target->value;
}

static void on_submit(ompt_scope_endpoint_t endpoint, ompt_data_t* target, ompt_id_t* operation, unsigned teams) {
  CHECK(target->value != 0 && *operation != 0 && teams == expected_teams);
  count(endpoint == ompt_scope_begin ? &submits : &submits_ended);
}

static void on_map(ompt_data_t* target, unsigned items, void** host, void** device, size_t* bytes, unsigned* flags,
                   const void* code) {
  CHECK(target->value != 0 && code != NULL);
  for (unsigned i = 0; i < items; i++) {
    if (host[i] != data || bytes[i] != sizeof data) continue;
    CHECK(device[i] != NULL && device[i] != (void*)data);
    data_flags = flags[i];
    if (flags[i] & ompt_target_map_flag_to) enters++;
    if (flags[i] & ompt_target_map_flag_from) exits++;
  }
}

/* The newer form of the same callback is registered, too, and gets the events. */
static void on_plain_map(ompt_id_t target, unsigned items, void** host, void** device, size_t* bytes, unsigned* flags,
                         const void* code) {
  CHECK(target == 0 && items == 0 && !host && !device && !bytes && !flags && !code);
}

static void on_request(int device, ompt_buffer_t** buffer, size_t* bytes) {
  (void)device;
  *bytes = 4096;
  *buffer = malloc(*bytes);
}

static void on_complete(int device, ompt_buffer_t* buffer, size_t bytes, ompt_buffer_cursor_t cursor, int owned) {
  ompt_get_record_ompt_t get = (ompt_get_record_ompt_t)device_lookup("ompt_get_record_ompt");
  ompt_advance_buffer_cursor_t advance = (ompt_advance_buffer_cursor_t)device_lookup("ompt_advance_buffer_cursor");
  CHECK(device == 0 && owned);
  do {
    const ompt_record_ompt_t* record = get(buffer, cursor);
    CHECK_EQ(record->type, ompt_callback_target_submit);
    CHECK(record->time > 0 && record->time <= record->record.target_kernel.end_time);
    int known = 0;
    for (int i = 0; i < id_count; i++) known += ids[i] == record->target_id;
    CHECK_EQ(known, 1);
    count(&kernels);
  } while (advance(device_handle, buffer, bytes, cursor, &cursor));
  free(buffer);
}

static void on_initialize(int device, const char* type, ompt_device_t* handle, ompt_function_lookup_t lookup,
                          const char* documentation) {
  (void)documentation;
  if (device != 0) return;
  initialized++;
  from_gpu = strcmp(type, "libomptarget") == 0;
  device_lookup = lookup;
  device_handle = handle;
  CHECK_EQ(((ompt_set_trace_ompt_t)lookup("ompt_set_trace_ompt"))(handle, 0, ompt_callback_target_data_op),
           ompt_set_always);
  CHECK_EQ(((ompt_start_trace_t)lookup("ompt_start_trace"))(handle, on_request, on_complete), 1);
}

static void on_finalize(int device) { finalized += device == 0; }

static void tool_lookup(ompt_function_lookup_t lookup) { CHECK(lookup("ompt_get_target_info") != NULL); }

static void tool_callbacks(ompt_set_callback_t set) {
  set(ompt_callback_device_initialize, (ompt_callback_t)on_initialize);
  set(ompt_callback_device_finalize, (ompt_callback_t)on_finalize);
  CHECK_EQ(set(ompt_callback_target_emi, (ompt_callback_t)on_target), ompt_set_always);
  CHECK_EQ(set(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit), ompt_set_always);
  CHECK_EQ(set(ompt_callback_target_map, (ompt_callback_t)on_plain_map), ompt_set_sometimes);
  CHECK_EQ(set(ompt_callback_target_map_emi, (ompt_callback_t)on_map), ompt_set_sometimes);
}

static void tool_ends(void) { CHECK_EQ(finalized, initialized); }

int main(void) {
  CHECK_EQ(omp_get_default_device(), 0);
#ifdef __clang__
  expected_teams = 1; /* GCC does not say */
#endif
#pragma omp target enter data map(to : data)
  for (int r = 0; r < kRegions; r++) {
#pragma omp target
    data[r]++;
  }
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < kRegions; r++) {
#pragma omp target nowait
    data[r + kRegions]++;
  }
#pragma omp target exit data map(from : data)
  for (int i = 0; i < kCount; i++) CHECK_EQ(data[i], i < 2 * kRegions);
  if (initialized == 0) return 0; /* no device */
  CHECK_EQ(begins[ompt_target], kRegions);
  CHECK_EQ(begins[ompt_target_nowait], kRegions);
  CHECK_EQ(begins[ompt_target_enter_data], 1);
  CHECK_EQ(begins[ompt_target_exit_data], 1);
  for (int kind = 0; kind < 16; kind++) CHECK_EQ(ends[kind], begins[kind]);
  CHECK_EQ(submits, 2 * kRegions);
  CHECK_EQ(submits_ended, submits);
  CHECK_EQ(((ompt_flush_trace_t)device_lookup("ompt_flush_trace"))(device_handle), 1);
  CHECK_EQ(kernels, 2 * kRegions);
  if (from_gpu) /* libomptarget keeps the data environment to itself */
    return 0;
  CHECK(enters >= 1);
  CHECK(exits >= 1);
#pragma omp target data map(tofrom : data)
  CHECK_EQ(data_flags, ompt_target_map_flag_to | ompt_target_map_flag_from);
  CHECK_EQ(data_flags, ompt_target_map_flag_from | ompt_target_map_flag_release);
#pragma omp target enter data map(alloc : data)
  CHECK_EQ(data_flags, ompt_target_map_flag_alloc);
#pragma omp target exit data map(delete : data)
  CHECK_EQ(data_flags, ompt_target_map_flag_delete);
  expected_teams = 0; /* the program does not say */
#pragma omp target teams
  {
  }
#ifdef __clang__
  expected_teams = 3;
#pragma omp target teams num_teams(3)
  {
  }
#endif
  return 0;
}
