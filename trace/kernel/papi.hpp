// SPDX-License-Identifier: Apache-2.0
//
// PAPI, the library that counts a processor's and the kernel's events: found at run time, so that a recorder that
// counts nothing needs none. The functions are those of PAPI 5 to 7 with the same names (papi.h of PAPI 7.0); their
// numbers of errors and versions are kept here. Written once, before there are other threads that count.
#ifndef MARLINE_TRACE_PAPI_HPP
#define MARLINE_TRACE_PAPI_HPP

namespace marline::trace {

struct Papi {
  static constexpr int kOk = 0;
  static constexpr int kWrongVersion = -1;   // PAPI_EINVAL
  static constexpr int kConflict = -8;       // PAPI_ECNFLCT
  static constexpr int kAlreadyRuns = -10;   // PAPI_EISRUN
  static constexpr int kNotPermitted = -15;  // PAPI_EPERM
  static constexpr int kNoSet = -1;          // PAPI_NULL

  int (*library_init)(int version);
  int (*thread_init)(unsigned long (*thread)());
  int (*unregister_thread)();
  int (*create_eventset)(int* set);
  int (*event_name_to_code)(const char* name, int* code);
  int (*add_event)(int set, int code);
  int (*start)(int set);
  int (*read)(int set, long long* values);
  int (*stop)(int set, long long* values);
  int (*cleanup_eventset)(int set);
  int (*destroy_eventset)(int* set);
  char* (*strerror)(int error);

  // Loads the library and initialises it. Null; or why it cannot be used, in words, valid until the next call.
  const char* load();
};

}  // namespace marline::trace

#endif
