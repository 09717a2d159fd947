/* SPDX-License-Identifier: Apache-2.0
 *
 * What an OMPT tool hears of devices: the callbacks in their order, what they say, and the records of what the device
 * did (OpenMP 5.2, sections 19.5.2.19 to 19.5.2.28 and 19.6.2). With the argument "plain" by the callbacks of
 * OpenMP 5.0, which have no begin and end.
 *
 * Covers: target(nowait), target data, target enter data, target update, target exit data, omp_target_memcpy,
 *         omp_target_memcpy_rect, omp_target_memcpy_async,
 *         ompt_callback_device_initialize, ompt_callback_device_finalize, ompt_callback_device_load,
 * ompt_callback_target, ompt_callback_target_data_op, ompt_callback_target_submit, ompt_get_target_info,
 * ompt_start_trace
 */
#define TOOL_LOOKS_UP
#define TOOL_ENDS
#include "../../tool.h"
#include "../device.h"

enum { kCount = 1000, kDeferred = 40, kMost = 4096, kBytes = kCount * (int)sizeof(int), kBuffer = 1000 };
enum { kConstruct = 1, kData, kKernel };

typedef struct {
  int type, kind, endpoint, device;
  uint64_t construct, operation;
  const void *from, *to;
  int from_device, to_device;
  size_t bytes;
  const void* code;
  void *task, *target_task;
} event_t;

typedef struct {
  ompt_callbacks_t type;
  uint64_t construct, operation, begin, end;
  size_t bytes;
  int kind;
} record_t;

static event_t events[kMost];
static record_t records[kMost];
static int event_count, record_count, initialized[64], finalized[64], loads, buffers, given_back;
static uint64_t operations;
static ompt_get_target_info_t get_target_info;
static ompt_get_unique_id_t get_unique_id;
static ompt_get_num_devices_t get_num_devices;
static ompt_function_lookup_t device_lookup;
static ompt_device_t* devices[64];
static int is_plain;

static void tool_lookup(ompt_function_lookup_t lookup) {
  get_target_info = (ompt_get_target_info_t)lookup("ompt_get_target_info");
  get_unique_id = (ompt_get_unique_id_t)lookup("ompt_get_unique_id");
  get_num_devices = (ompt_get_num_devices_t)lookup("ompt_get_num_devices");
  CHECK_EQ(get_target_info(NULL, NULL, NULL), 0);
}

static event_t* note(int type) {
  int i = __atomic_fetch_add(&event_count, 1, __ATOMIC_RELAXED);
  CHECK(i < kMost);
  events[i] = (event_t){.type = type};
  return &events[i];
}

/* What the runtime says itself of the construct that the callback is about; a deferred one may end outside of its task.
 */
static void check_info(uint64_t construct) {
  uint64_t device = 99, id = 99, operation = 99;
  if (get_target_info(&device, &id, &operation) == 0) return;
  CHECK_EQ(id, construct);
  CHECK(device < 64);
}

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t* task,
                      ompt_data_t* target_task, ompt_data_t* target, const void* code) {
  if (endpoint == ompt_scope_begin && (kind & 4) == 0)
    target->value = 1000000 + get_unique_id(); /* the tool's own number, also in the records */
  event_t* e = note(kConstruct);
  e->kind = kind, e->endpoint = endpoint, e->device = device;
  e->construct = target->value;
  e->code = code;
  e->task = task, e->target_task = target_task;
  check_info(target->value);
}

static void on_data(ompt_scope_endpoint_t endpoint, ompt_data_t* target_task, ompt_data_t* target, ompt_id_t* operation,
                    ompt_target_data_op_t kind, void* from, int from_device, void* to, int to_device, size_t bytes,
                    const void* code) {
  if (endpoint == ompt_scope_begin) *operation = 5000 + __atomic_fetch_add(&operations, 1, __ATOMIC_RELAXED);
  event_t* e = note(kData);
  e->kind = kind, e->endpoint = endpoint;
  e->construct = target ? target->value : 0;
  e->operation = *operation;
  e->from = from, e->to = to, e->from_device = from_device, e->to_device = to_device, e->bytes = bytes;
  e->code = code;
  e->target_task = target_task;
}

static void on_submit(ompt_scope_endpoint_t endpoint, ompt_data_t* target, ompt_id_t* operation, unsigned teams) {
  CHECK(target != NULL);
  event_t* e = note(kKernel);
  e->endpoint = endpoint, e->construct = target->value, e->operation = *operation, e->kind = (int)teams;
}

static void on_plain_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t* task,
                            ompt_id_t target, const void* code) {
  event_t* e = note(kConstruct);
  e->kind = kind, e->endpoint = endpoint, e->device = device, e->construct = target, e->code = code, e->task = task;
}

static void on_plain_data(ompt_id_t target, ompt_id_t operation, ompt_target_data_op_t kind, void* from,
                          int from_device, void* to, int to_device, size_t bytes, const void* code) {
  event_t* e = note(kData);
  e->kind = kind, e->construct = target, e->operation = operation;
  e->from = from, e->to = to, e->from_device = from_device, e->to_device = to_device, e->bytes = bytes, e->code = code;
}

static void on_plain_submit(ompt_id_t target, ompt_id_t operation, unsigned teams) {
  event_t* e = note(kKernel);
  e->construct = target, e->operation = operation, e->kind = (int)teams;
}

/* Records. */

static void on_request(int device, ompt_buffer_t** buffer, size_t* bytes) {
  CHECK(device >= 0 && device < 64);
  *bytes = kBuffer; /* nine records and a rest */
  *buffer = malloc(kBuffer);
  __atomic_fetch_add(&buffers, 1, __ATOMIC_RELAXED);
}

static void take_record(ompt_record_ompt_t* from) {
  int i = __atomic_fetch_add(&record_count, 1, __ATOMIC_RELAXED);
  CHECK(i < kMost);
  record_t* to = &records[i];
  to->type = from->type, to->construct = from->target_id, to->begin = from->time;
  if (from->type == ompt_callback_target_submit) {
    to->operation = from->record.target_kernel.host_op_id;
    to->end = from->record.target_kernel.end_time;
    return;
  }
  CHECK_EQ(from->type, ompt_callback_target_data_op);
  to->operation = from->record.target_data_op.host_op_id;
  to->end = from->record.target_data_op.end_time;
  to->bytes = from->record.target_data_op.bytes;
  to->kind = from->record.target_data_op.optype;
}

static void on_complete(int device, ompt_buffer_t* buffer, size_t bytes, ompt_buffer_cursor_t cursor, int owned) {
  ompt_get_record_type_t type = (ompt_get_record_type_t)device_lookup("ompt_get_record_type");
  ompt_get_record_ompt_t record = (ompt_get_record_ompt_t)device_lookup("ompt_get_record_ompt");
  ompt_advance_buffer_cursor_t advance = (ompt_advance_buffer_cursor_t)device_lookup("ompt_advance_buffer_cursor");
  CHECK_EQ(bytes, kBuffer);
  CHECK_EQ(owned, 1);
  do {
    CHECK_EQ(type(buffer, cursor), ompt_record_ompt);
    take_record(record(buffer, cursor));
  } while (advance(devices[device], buffer, bytes, cursor, &cursor));
  free(buffer);
  __atomic_fetch_add(&given_back, 1, __ATOMIC_RELAXED);
}

static void on_initialize(int device, const char* type, ompt_device_t* handle, ompt_function_lookup_t lookup,
                          const char* documentation) {
  (void)documentation;
  CHECK(device >= 0 && device < 64 && initialized[device] == 0);
  CHECK(strcmp(type, "host") == 0 || strcmp(type, "process") == 0 || strncmp(type, "node-", 5) == 0);
  initialized[device] = 1;
  devices[device] = handle;
  device_lookup = lookup;
  CHECK(lookup("ompt_no_such_function") == NULL);
  ompt_set_trace_ompt_t set = (ompt_set_trace_ompt_t)lookup("ompt_set_trace_ompt");
  CHECK_EQ(set(handle, 0, 0), ompt_set_always);
  CHECK_EQ(set(handle, 1, ompt_callback_target_data_op), ompt_set_always);
  CHECK_EQ(set(handle, 1, ompt_callback_target_submit_emi), ompt_set_always);
  CHECK_EQ(set(handle, 1, ompt_callback_work), ompt_set_never);
  CHECK_EQ(((ompt_flush_trace_t)lookup("ompt_flush_trace"))(handle), 0);
  CHECK_EQ(((ompt_start_trace_t)lookup("ompt_start_trace"))(handle, on_request, on_complete), 1);
  CHECK_EQ(((ompt_start_trace_t)lookup("ompt_start_trace"))(handle, on_request, on_complete), 0);
}

static void on_finalize(int device) {
  CHECK_EQ(initialized[device], 1);
  finalized[device]++;
}

static void on_load(int device, const char* file, int64_t offset, void* place, size_t bytes, void* host, void* address,
                    uint64_t module) {
  (void)file, (void)offset, (void)place, (void)address;
  CHECK_EQ(initialized[device], 1);
  CHECK(bytes > 0 && host != NULL && module != 0);
  loads++;
}

static void set_always(ompt_set_callback_t set, ompt_callbacks_t which, ompt_callback_t function) {
  CHECK_EQ(set(which, function), ompt_set_always);
}

/* The arguments of the program are not known yet when the tool starts. */
static int asks_for_plain(void) {
  char line[256] = {0};
  FILE* file = fopen("/proc/self/cmdline", "r");
  CHECK(file != NULL);
  size_t length = fread(line, 1, sizeof line - 1, file);
  fclose(file);
  return length > 6 && strcmp(line + length - 6, "plain") == 0;
}

static void tool_callbacks(ompt_set_callback_t set) {
  is_plain = asks_for_plain();
  set_always(set, ompt_callback_device_initialize, (ompt_callback_t)on_initialize);
  set_always(set, ompt_callback_device_finalize, (ompt_callback_t)on_finalize);
  set_always(set, ompt_callback_device_load, (ompt_callback_t)on_load);
  set_always(set, ompt_callback_target, (ompt_callback_t)on_plain_target);
  set_always(set, ompt_callback_target_data_op, (ompt_callback_t)on_plain_data);
  set_always(set, ompt_callback_target_submit, (ompt_callback_t)on_plain_submit);
  if (is_plain) return;
  set_always(set, ompt_callback_target_emi, (ompt_callback_t)on_target);
  set_always(set, ompt_callback_target_data_op_emi, (ompt_callback_t)on_data);
  set_always(set, ompt_callback_target_submit_emi, (ompt_callback_t)on_submit);
}

/* Checks. */

static void check_code(const void* code) {
  Dl_info here, there;
  CHECK(code != NULL && dladdr(code, &there) != 0 && dladdr((void*)check_code, &here) != 0);
  CHECK(here.dli_fbase == there.dli_fbase);
}

/* The only event of that sort from `first` on; NULL: none. */
static const event_t* only(int first, int type, int kind, int endpoint, size_t bytes) {
  const event_t* found = NULL;
  for (int i = first; i < event_count; i++) {
    const event_t* e = &events[i];
    if (e->type != type || (kind && e->kind != kind) || e->endpoint != endpoint || (bytes && e->bytes != bytes))
      continue;
    CHECK(found == NULL);
    found = e;
  }
  return found;
}

/* One construct, from event `first` on: its begin first, its end last, everything between belongs to it, and operations
 * have a begin and then an end. */
static uint64_t check_shape(int first, int kind) {
  CHECK(event_count >= first + 2);
  const event_t *begin = &events[first], *end = &events[event_count - 1];
  CHECK_EQ(begin->type, kConstruct);
  CHECK_EQ(begin->kind, kind);
  CHECK_EQ(begin->endpoint, ompt_scope_begin);
  CHECK_EQ(end->type, kConstruct);
  CHECK_EQ(end->kind, kind);
  CHECK_EQ(end->endpoint, ompt_scope_end);
  CHECK_EQ(begin->device, omp_get_default_device());
  CHECK_EQ(end->device, omp_get_default_device());
  CHECK(begin->construct != 0 && begin->task != NULL && begin->task == end->task && begin->target_task == NULL);
  check_code(begin->code);
  for (int i = first + 1; i < event_count; i++) CHECK_EQ(events[i].construct, begin->construct);
  for (int i = first + 1; i < event_count - 1 && !is_plain; i += 2) {
    CHECK_EQ(events[i].endpoint, ompt_scope_begin);
    CHECK_EQ(events[i + 1].endpoint, ompt_scope_end);
    CHECK_EQ(events[i].operation, events[i + 1].operation);
    CHECK_EQ(events[i].type, events[i + 1].type);
  }
  return begin->construct;
}

/* The data went that way, by one copy. */
static const event_t* check_copy(int first, int kind, const void* host) {
  const event_t* copy = only(first, kData, kind, is_plain ? 0 : ompt_scope_begin, kBytes);
  CHECK(copy != NULL);
  int to_device = kind == ompt_target_data_transfer_to_device;
  CHECK((to_device ? copy->from : copy->to) == host);
  CHECK((to_device ? copy->to : copy->from) != NULL);
  CHECK_EQ(to_device ? copy->from_device : copy->to_device, omp_get_initial_device());
  CHECK_EQ(to_device ? copy->to_device : copy->from_device, omp_get_default_device());
  check_code(copy->code);
  return copy;
}

static int data[kCount];

static void check_target(void) {
  int first = event_count;
#pragma omp target map(tofrom : data)
  for (int i = 0; i < kCount; i++) data[i]++;
  check_shape(first, ompt_target);
  int point = is_plain ? 0 : ompt_scope_begin;
  const event_t* made = only(first, kData, ompt_target_data_alloc, point, kBytes);
  const event_t* to = check_copy(first, ompt_target_data_transfer_to_device, data);
  const event_t* kernel = only(first, kKernel, 0, point, 0);
  const event_t* from = check_copy(first, ompt_target_data_transfer_from_device, data);
  const event_t* gone = only(first, kData, ompt_target_data_delete, point, kBytes);
  CHECK(made && kernel && gone);
  CHECK(made < to && to < kernel && kernel < from && from < gone);
  CHECK(made->to == to->to && from->from == to->to && gone->from == to->to);
}

static void check_data(void) {
  int first = event_count;
#pragma omp target enter data map(to : data)
  check_shape(first, ompt_target_enter_data);
  check_copy(first, ompt_target_data_transfer_to_device, data);
  first = event_count;
#pragma omp target update to(data)
  check_shape(first, ompt_target_update);
  check_copy(first, ompt_target_data_transfer_to_device, data);
  first = event_count;
#pragma omp target update from(data)
  check_shape(first, ompt_target_update);
  check_copy(first, ompt_target_data_transfer_from_device, data);
  first = event_count;
#pragma omp target map(tofrom : data)
  data[0] = 0;
  check_shape(first, ompt_target);
  CHECK(only(first, kData, ompt_target_data_transfer_to_device, is_plain ? 0 : ompt_scope_begin, kBytes) == NULL);
  first = event_count;
#pragma omp target exit data map(from : data)
  check_shape(first, ompt_target_exit_data);
  check_copy(first, ompt_target_data_transfer_from_device, data);
  first = event_count;
#pragma omp target data map(to : data)
  {
    check_shape(first, ompt_target_enter_data);
    first = event_count;
  }
  check_shape(first, ompt_target_exit_data);
  CHECK_EQ(get_target_info(NULL, NULL, NULL), 0);
}

/* Many at a time: each has its begin, its kernel and its end, and its own ids. */
static void check_deferred(void) {
  static int results[kDeferred];
  int first = event_count;
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < kDeferred; t++) {
#pragma omp target nowait map(from : results[t : 1])
    results[t] = 7;
  }
  int begins = 0, ends = 0, kernels = 0;
  for (int i = first; i < event_count; i++) {
    const event_t* e = &events[i];
    if (e->type == kKernel && e->endpoint != ompt_scope_end) kernels++;
    if (e->type != kConstruct) continue;
    CHECK_EQ(e->kind, ompt_target_nowait);
    CHECK(e->task != NULL && (is_plain || (e->target_task != NULL && e->target_task != e->task)));
    if (e->endpoint == ompt_scope_begin) {
      begins++;
      for (int k = 0; k < i; k++) CHECK(events[k].type != kConstruct || events[k].construct != e->construct);
    } else {
      ends++;
    }
  }
  CHECK_EQ(begins, kDeferred);
  CHECK_EQ(ends, kDeferred);
  CHECK_EQ(kernels, kDeferred);
  for (int t = 0; t < kDeferred; t++) CHECK_EQ(results[t], 7);
}

static void check_routines(void) {
  int first = event_count, device = omp_get_default_device(), host = omp_get_initial_device();
  void* there = omp_target_alloc(kBytes, device);
  CHECK(there != NULL);
  CHECK_EQ(omp_target_memcpy(there, data, kBytes, 0, 0, device, host), 0);
  CHECK_EQ(omp_target_memcpy(data, there, kBytes, 0, 0, host, device), 0);
  omp_target_free(there, device);
  check_copy(first, ompt_target_data_transfer_to_device, data);
  check_copy(first, ompt_target_data_transfer_from_device, data);
  CHECK(only(first, kData, ompt_target_data_alloc, is_plain ? 0 : ompt_scope_begin, kBytes) != NULL);
  for (int i = first; i < event_count; i++) CHECK_EQ(events[i].construct, 0);
}

/* Not all compilers' libraries have it. */
static void* routine(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  CHECK(found != NULL);
  return found;
}

/* One operation for each call, whatever it is made of. */
static void check_whole_routines(void) {
  enum { kLarge = (3 << 20) + 5, kMemset = 8 /* OpenMP 6.0 */ };
  int first = event_count, device = omp_get_default_device(), host = omp_get_initial_device(), copies = 0;
  int point = is_plain ? 0 : ompt_scope_begin, other = (device + 1) % omp_get_num_devices();
  char *here = malloc(kLarge), *there = omp_target_alloc(kLarge, device), *behind = omp_target_alloc(kLarge, other);
  CHECK(here && there && behind);
  void* (*set_bytes)(void*, int, size_t, int) = (void* (*)(void*, int, size_t, int))routine("omp_target_memset");
  int (*copy_async)(void*, const void*, size_t, size_t, size_t, int, int, int, void**) =
      (int (*)(void*, const void*, size_t, size_t, size_t, int, int, int, void**))routine("omp_target_memcpy_async");
  CHECK(set_bytes(there, 7, kLarge, device) == there);
  const event_t* set = only(first, kData, kMemset, point, kLarge);
  CHECK(set != NULL && set->from == NULL && set->to == there && set->from_device == host && set->to_device == device);
  check_code(set->code);
  CHECK_EQ(omp_target_memcpy(behind, there, kLarge, 0, 0, other, device), 0);
  const event_t* copy = only(first, kData, ompt_target_data_transfer_from_device, point, kLarge);
  CHECK(copy != NULL && copy->from == there && copy->to == behind);
  CHECK(copy->from_device == device && copy->to_device == other);
  check_code(copy->code);
  size_t volume[] = {20, 30}, none[] = {0, 0}, extents[] = {100, 100};
  CHECK_EQ(omp_target_memcpy_rect(here, behind, 4, 2, volume, none, none, extents, extents, host, other), 0);
  const event_t* box = only(first, kData, ompt_target_data_transfer_from_device, point, 20 * 30 * 4);
  CHECK(box != NULL && box->from == behind && box->to == here && box->from_device == other && box->to_device == host);
  check_code(box->code);
  CHECK(here[0] == 7 && here[19 * 400 + 119] == 7);
  CHECK_EQ(copy_async(there, here, kLarge, 0, 0, device, host, 0, NULL), 0);
#pragma omp taskwait
  check_code(only(first, kData, ompt_target_data_transfer_to_device, point, kLarge)->code);
  for (int i = first; i < event_count; i++) copies += events[i].type == kData && events[i].endpoint != ompt_scope_end;
  CHECK_EQ(copies, 6); /* with the two allocations */
  omp_target_free(there, device);
  omp_target_free(behind, other);
  free(here);
}

/* Each reported operation has a record, with times that lie between the program's times. */
static void check_records(uint64_t before) {
  ompt_get_device_time_t get_time = (ompt_get_device_time_t)device_lookup("ompt_get_device_time");
  ompt_translate_time_t translate = (ompt_translate_time_t)device_lookup("ompt_translate_time");
  int device = omp_get_default_device(), told = 0;
  for (int d = 0; d < 64; d++)
    CHECK(!initialized[d] || ((ompt_flush_trace_t)device_lookup("ompt_flush_trace"))(devices[d]) == 1);
  CHECK_EQ(buffers, given_back);
  uint64_t after = get_time(devices[device]);
  CHECK_NEAR(translate(devices[device], after), omp_get_wtime(), 10.0);
  for (int i = 0; i < event_count; i++) {
    const event_t* e = &events[i];
    if (e->type == kConstruct || e->endpoint == ompt_scope_end) continue;
    told++;
    int found = 0;
    for (int k = 0; k < record_count; k++) {
      const record_t* r = &records[k];
      if (r->operation != e->operation || (r->type == ompt_callback_target_submit) != (e->type == kKernel)) continue;
      found++;
      CHECK_EQ(r->construct, e->construct);
      CHECK(before <= r->begin && r->begin <= r->end && r->end <= after);
      CHECK(e->type == kKernel || (r->bytes == e->bytes && r->kind == e->kind));
    }
    CHECK_EQ(found, 1);
  }
  CHECK_EQ(told, record_count);
}

static void tool_ends(void) {
  for (int device = 0; device < 64; device++) CHECK_EQ(finalized[device], initialized[device]);
}

int main(int count, char** arguments) {
  (void)arguments;
#pragma omp taskwait /* starts the runtime, and with it the tool */
  CHECK_EQ(get_num_devices(), omp_get_num_devices());
  CHECK_EQ(is_plain, count > 1);
  if (!own_copies()) /* on the host there is nothing to hear of */
    return 0;
  uint64_t before = ((ompt_get_device_time_t)device_lookup("ompt_get_device_time"))(devices[omp_get_default_device()]);
  CHECK_EQ(initialized[omp_get_default_device()], 1);
#ifdef __clang__
  CHECK(loads >= 1);
#endif
  CHECK_EQ(((ompt_flush_trace_t)device_lookup("ompt_flush_trace"))(devices[omp_get_default_device()]), 1);
  event_count = record_count = 0;
  check_target();
  check_data();
  check_deferred();
  check_routines();
  check_whole_routines();
  check_records(before);
  return 0;
}
