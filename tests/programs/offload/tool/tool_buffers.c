/* SPDX-License-Identifier: Apache-2.0
 *
 * The buffers of a device's trace (OpenMP 5.2, sections 19.5.2.23, 19.5.2.24 and 19.6.2): a tool with callbacks that
 * take a lock which it also holds around calls of the trace's functions; requests that are answered with nothing, or
 * with too little; the trace's functions in a callback; a trace that is started when the tool has ended.
 *
 * Covers: target(map), ompt_start_trace
 */
#define TOOL_LOOKS_UP
#include "../../tool.h"
#include "../device.h"
#include <pthread.h>

enum { kRounds = 400, kBuffer = 1000, kSmall = 64, kNothing = 0 };

static ompt_device_t* device;
static ompt_start_trace_t start;
static ompt_stop_trace_t stop;
static ompt_flush_trace_t flush;
static ompt_pause_trace_t pause_trace;
static ompt_set_trace_ompt_t set_trace;
static ompt_get_record_type_t get_type;
static ompt_get_record_ompt_t get_record;
static ompt_get_record_native_t get_native;
static ompt_get_record_abstract_t get_abstract;
static ompt_advance_buffer_cursor_t advance;
static ompt_finalize_tool_t finalize_tool;

static size_t answer = kBuffer;
static int requests, completes, records, stops_in_callback, ended;
static void *last_given, *last_back;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_request(int number, ompt_buffer_t** buffer, size_t* bytes) {
  CHECK(number == 0 && !ended);
  pthread_mutex_lock(&lock);
  *bytes = answer;
  *buffer = answer ? malloc(answer) : NULL;
  last_given = *buffer;
  requests++;
  pthread_mutex_unlock(&lock);
}

static void on_complete(int number, ompt_buffer_t* buffer, size_t bytes, ompt_buffer_cursor_t cursor, int owned) {
  CHECK(number == 0 && owned && !ended);
  pthread_mutex_lock(&lock);
  completes++;
  last_back = buffer;
  if (get_type(buffer, cursor) == ompt_record_ompt) {
    do {
      ompt_id_t id = 1;
      CHECK_EQ(get_type(buffer, cursor), ompt_record_ompt);
      CHECK(get_native(buffer, cursor, &id) == NULL && get_abstract(NULL) == NULL);
      CHECK_EQ(get_record(buffer, cursor)->thread_id, 0);
      records++;
    } while (advance(device, buffer, bytes, cursor, &cursor));
  } else {
    CHECK_EQ(get_type(buffer, cursor), ompt_record_invalid);
    CHECK(get_record(buffer, cursor) == NULL && advance(device, buffer, bytes, cursor, &cursor) == 0);
  }
  pthread_mutex_unlock(&lock);
  if (stops_in_callback) {
    CHECK_EQ(flush(device), 1);
    CHECK_EQ(stop(device), 1);
    CHECK_EQ(stop(device), 0);
  }
  free(buffer);
}

static void on_initialize(int number, const char* type, ompt_device_t* handle, ompt_function_lookup_t lookup,
                          const char* documentation) {
  (void)type, (void)documentation;
  if (number != 0) return;
  device = handle;
  start = (ompt_start_trace_t)lookup("ompt_start_trace");
  stop = (ompt_stop_trace_t)lookup("ompt_stop_trace");
  flush = (ompt_flush_trace_t)lookup("ompt_flush_trace");
  pause_trace = (ompt_pause_trace_t)lookup("ompt_pause_trace");
  set_trace = (ompt_set_trace_ompt_t)lookup("ompt_set_trace_ompt");
  get_type = (ompt_get_record_type_t)lookup("ompt_get_record_type");
  get_record = (ompt_get_record_ompt_t)lookup("ompt_get_record_ompt");
  get_native = (ompt_get_record_native_t)lookup("ompt_get_record_native");
  get_abstract = (ompt_get_record_abstract_t)lookup("ompt_get_record_abstract");
  advance = (ompt_advance_buffer_cursor_t)lookup("ompt_advance_buffer_cursor");
  CHECK(get_native != NULL && get_abstract != NULL);
  set_trace(handle, 0, 0);
  set_trace(handle, 1, ompt_callback_target_submit);
}

static void tool_lookup(ompt_function_lookup_t lookup) {
  finalize_tool = (ompt_finalize_tool_t)lookup("ompt_finalize_tool");
}

static void tool_callbacks(ompt_set_callback_t set) {
  set(ompt_callback_device_initialize, (ompt_callback_t)on_initialize);
}

static void regions(int count) {
  int x = 0;
  for (int i = 0; i < count; i++) {
#pragma omp target map(tofrom : x) device(0)
    x++;
  }
  CHECK_EQ(x, count);
}

static void reset(size_t bytes) {
  answer = bytes;
  requests = completes = records = 0;
}

/* While buffers are asked for and given back, the lock is held around functions that call nothing back. */
static int done;

static void* hold_lock(void* unused) {
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    pthread_mutex_lock(&lock);
    usleep(20);
    CHECK_EQ(pause_trace(device, 0), 1);
    CHECK_EQ(start(device, on_request, on_complete), 0);
    CHECK_EQ(set_trace(device, 1, ompt_callback_target_submit), ompt_set_always);
    pthread_mutex_unlock(&lock);
    usleep(20);
  }
  return unused;
}

static void check_lock(void) {
  pthread_t thread;
  reset(kBuffer);
  CHECK_EQ(start(device, on_request, on_complete), 1);
  CHECK_EQ(pthread_create(&thread, NULL, hold_lock, NULL), 0);
#pragma omp parallel num_threads(4)
  regions(kRounds / 4);
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(stop(device), 1);
  CHECK_EQ(records, kRounds);
  CHECK_EQ(requests, completes);
}

/* The functions of the trace in its own callback. */
static void check_in_callback(void) {
  reset(kBuffer);
  stops_in_callback = 1;
  CHECK_EQ(start(device, on_request, on_complete), 1);
  regions(40);
  stops_in_callback = 0;
  CHECK_EQ(requests, 1);
  CHECK_EQ(completes, 1);
  CHECK(records > 0 && records < 40);
  CHECK_EQ(stop(device), 0);
}

/* No buffer, or one without room for a record: that is asked once, and the trace has ended. */
static void check_refused(size_t bytes) {
  reset(bytes);
  CHECK_EQ(start(device, on_request, on_complete), 1);
  regions(10);
  CHECK_EQ(requests, 1);
  CHECK_EQ(completes, bytes != kNothing);
  CHECK(bytes == kNothing || last_back == last_given);
  CHECK_EQ(records, 0);
  CHECK_EQ(flush(device), 0);
  CHECK_EQ(stop(device), 0);
  reset(kBuffer);
  CHECK_EQ(start(device, on_request, on_complete), 1);
  regions(10);
  CHECK_EQ(stop(device), 1);
  CHECK_EQ(records, 10);
}

int main(void) {
#pragma omp taskwait /* starts the runtime, and with it the tool */
  regions(1);
  if (device == NULL) return 0; /* no device */
  alarm(150);
  check_lock();
  check_in_callback();
  check_refused(kNothing);
  check_refused(kSmall);
  finalize_tool();
  ended = 1;
  CHECK_EQ(start(device, on_request, on_complete), 0);
  regions(10);
  return 0;
}
