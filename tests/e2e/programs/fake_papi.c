// SPDX-License-Identifier: Apache-2.0
//
// tests/e2e/trace/test_counters.py: a libpapi without a counter. UNITS is what the program says that the calling thread
// has done so far (work_done), DOUBLE twice that. Other names make the errors of PAPI 7: FORBIDDEN, ALONE (which goes
// with no other), anything else.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

enum { kVersion = 7 << 24, kInvalid = -1, kNoSuchEvent = -7, kConflict = -8, kNotPermitted = -15 };
enum { kUnits = 1, kDouble, kForbidden, kAlone, kMostInSet = 16 };

static _Thread_local struct {
  int count;
  int codes[kMostInSet];
  long long begin;
} set;
static const struct {
  const char* name;
  int code;
} events[] = {{"UNITS", kUnits}, {"DOUBLE", kDouble}, {"FORBIDDEN", kForbidden}, {"ALONE", kAlone}};

static long long done(void) {
  long long (*work_done)(void);
  *(void**)&work_done = dlsym(RTLD_DEFAULT, "work_done");
  return work_done == NULL ? 0 : work_done();
}

static int same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

int PAPI_library_init(int version) { return version == kVersion ? version : kInvalid; }
int PAPI_thread_init(unsigned long (*thread)(void)) { return thread() == 0 ? kInvalid : 0; }
int PAPI_unregister_thread(void) { return 0; }
int PAPI_create_eventset(int* number) {
  set.count = 0;
  *number = 7;
  return 0;
}
int PAPI_event_name_to_code(const char* name, int* code) {
  for (size_t i = 0; i < sizeof events / sizeof *events; ++i) {
    if (same(name, events[i].name)) {
      *code = events[i].code;
      return 0;
    }
  }
  return kNoSuchEvent;
}
int PAPI_add_event(int number, int code) {
  if (number != 7) return kInvalid;
  if (code == kForbidden) return kNotPermitted;
  if (set.count > 0 && (code == kAlone || set.codes[0] == kAlone)) return kConflict;
  set.codes[set.count++] = code;
  return 0;
}
int PAPI_start(int number) {
  set.begin = done();
  return number == 7 ? 0 : kInvalid;
}
int PAPI_read(int number, long long* values) {
  for (int i = 0; i < set.count; ++i) values[i] = (done() - set.begin) * (set.codes[i] == kDouble ? 2 : 1);
  return number == 7 ? 0 : kInvalid;
}
int PAPI_stop(int number, long long* values) { return PAPI_read(number, values); }
int PAPI_cleanup_eventset(int number) { return number == 7 ? 0 : kInvalid; }
int PAPI_destroy_eventset(int* number) {
  *number = -1;
  return 0;
}
char* PAPI_strerror(int error) {
  return error == kNoSuchEvent    ? "Event does not exist"
         : error == kConflict     ? "Event exists, but cannot be counted due to hardware resource limits"
         : error == kNotPermitted ? "Permission level does not permit operation"
                                  : "Invalid argument";
}
