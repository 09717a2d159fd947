// SPDX-License-Identifier: Apache-2.0
//
// Score-P's user regions: the functions that the macros SCOREP_USER_REGION_BEGIN and the like of C, C++ and Fortran
// call (scorep/SCOREP_User_Functions.h). The recorder is loaded before Score-P's library, so a program calls these
// functions; each calls Score-P's own. A program may also be linked with the recorder in the place of Score-P's
// library: then the handles of its regions are made here.
//
// Score-P's regions end in the reverse order of their beginning: they are one group. A region that is entered by its
// handle only has been given its name before: `first_names` keeps it for good.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotations/annotations.hpp"

namespace marline::trace {
namespace {

using Handle = void*;           // SCOREP_User_RegionHandle, a pointer
using FortranHandle = int64_t;  // a Handle; -1: no region yet
using FortranLength = size_t;   // hidden argument of a character string; an int in code of old compilers
const Handle kFiltered = reinterpret_cast<Handle>(-1);  // of a region that Score-P leaves out

constexpr u64 kGroup = group_of("Score-P");

struct Name {
  Handle handle;
  Name* next;
  char text[];
};

constexpr size_t kBuckets = 1024;
Name* first_names[kBuckets];  // of lists that only grow
pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

Name*& bucket_of(Handle handle) { return first_names[reinterpret_cast<uintptr_t>(handle) * 0x9e3779b97f4a7c15 >> 54]; }

const Name* find(Handle handle) {
  // Pairs with the store in remember().
  const Name* name = __atomic_load_n(&bucket_of(handle), __ATOMIC_ACQUIRE);
  while (name != nullptr && name->handle != handle) name = name->next;
  return name;
}

bool scorep_is_there() {
  static void* found;
  return next_function("SCOREP_User_RegionInit", found) != nullptr;
}

bool is_region(Handle handle) { return handle != nullptr && handle != kFiltered; }

// Keeps the name of this region. Without Score-P a region has no handle yet: then gives it one.
void remember(Handle& handle, const char* text) {
  if (is_region(handle) ? find(handle) != nullptr : scorep_is_there()) return;
  const size_t bytes = strlen(text) + 1;
  auto* name = static_cast<Name*>(malloc(sizeof(Name) + bytes));
  if (name == nullptr) return;  // the region is recorded without its name
  memcpy(name->text, text, bytes);
  pthread_mutex_lock(&names_lock);
  if (!is_region(handle)) handle = name;
  name->handle = handle;
  Name*& first = bucket_of(handle);
  name->next = first;
  __atomic_store_n(&first, name, __ATOMIC_RELEASE);  // pairs with the load in find()
  pthread_mutex_unlock(&names_lock);
}

void begin(const char* name) { begin_annotation(kGroup, name); }
void end() { end_annotation(kGroup); }

void enter(Handle handle) {
  const Name* name = find(handle);
  begin(name == nullptr ? "Score-P region" : name->text);
}

// A string of Fortran as one of C: without the blanks at its end, and not longer than kNameBytes.
struct CText {
  char text[kNameBytes];
  CText(const char* fortran, FortranLength length) {
    size_t bytes = static_cast<uint32_t>(length);
    while (bytes > 0 && fortran[bytes - 1] == ' ') --bytes;
    snprintf(text, sizeof text, "%.*s", static_cast<int>(bytes), fortran);
  }
};

void remember_fortran(FortranHandle& handle, const char* name) {
  auto known = reinterpret_cast<Handle>(handle);
  remember(known, name);
  handle = reinterpret_cast<FortranHandle>(known);
}

}  // namespace
}  // namespace marline::trace

using namespace marline::trace;

// C and C++ -----------------------------------------------------------------------------------------------------------

MARLINE_ENTRY void SCOREP_User_RegionInit(Handle* handle, const char** last_file_name, void* last_file,
                                          const char* name, uint32_t type, const char* file, uint32_t line) {
  static void* found;
  call_next("SCOREP_User_RegionInit", found, handle, last_file_name, last_file, name, type, file, line);
  remember(*handle, name);
}

MARLINE_ENTRY void SCOREP_User_RegionBegin(Handle* handle, const char** last_file_name, void* last_file,
                                           const char* name, uint32_t type, const char* file, uint32_t line) {
  static void* found;
  call_next("SCOREP_User_RegionBegin", found, handle, last_file_name, last_file, name, type, file, line);
  remember(*handle, name);
  begin(name);
}

MARLINE_ENTRY void SCOREP_User_RegionEnter(Handle handle) {
  static void* found;
  call_next("SCOREP_User_RegionEnter", found, handle);
  enter(handle);
}

MARLINE_ENTRY void SCOREP_User_RegionEnd(Handle handle) {
  static void* found;
  end();
  call_next("SCOREP_User_RegionEnd", found, handle);
}

MARLINE_ENTRY void SCOREP_User_RegionByNameBegin(const char* name, uint32_t type, const char* file, uint32_t line) {
  static void* found;
  call_next("SCOREP_User_RegionByNameBegin", found, name, type, file, line);
  begin(name);
}

MARLINE_ENTRY void SCOREP_User_RegionByNameEnd(const char* name) {
  static void* found;
  end();
  call_next("SCOREP_User_RegionByNameEnd", found, name);
}

// Fortran, as gfortran and Flang call it -----------------------------------------------------------------------------

MARLINE_ENTRY void scorep_f_init_(FortranHandle* handle, char* name, int32_t* type, char* file, int32_t* line,
                                  FortranLength name_length, FortranLength file_length) {
  static void* found;
  call_next("scorep_f_init_", found, handle, name, type, file, line, name_length, file_length);
  remember_fortran(*handle, CText(name, name_length).text);
}

MARLINE_ENTRY void scorep_f_begin_(FortranHandle* handle, char* name, int32_t* type, char* file, int32_t* line,
                                   FortranLength name_length, FortranLength file_length) {
  static void* found;
  call_next("scorep_f_begin_", found, handle, name, type, file, line, name_length, file_length);
  const CText text(name, name_length);
  remember_fortran(*handle, text.text);
  begin(text.text);
}

MARLINE_ENTRY void scorep_f_regionenter_(FortranHandle* handle) {
  static void* found;
  call_next("scorep_f_regionenter_", found, handle);
  enter(reinterpret_cast<Handle>(*handle));
}

MARLINE_ENTRY void scorep_f_regionend_(FortranHandle* handle) {
  static void* found;
  end();
  call_next("scorep_f_regionend_", found, handle);
}

MARLINE_ENTRY void scorep_f_regionbynamebegin_(char* name, int32_t* type, char* file, int32_t* line,
                                               FortranLength name_length, FortranLength file_length) {
  static void* found;
  call_next("scorep_f_regionbynamebegin_", found, name, type, file, line, name_length, file_length);
  begin(CText(name, name_length).text);
}

MARLINE_ENTRY void scorep_f_regionbynameend_(char* name, FortranLength name_length) {
  static void* found;
  end();
  call_next("scorep_f_regionbynameend_", found, name, name_length);
}
