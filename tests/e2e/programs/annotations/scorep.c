/* SPDX-License-Identifier: Apache-2.0
 *
 * The library of the stand-in for Score-P. It counts what is entered and left, and says so at its end. As in Score-P,
 * the functions that begin a region call those that define and enter it, also for Fortran. */
#include "scorep.h"

#include <stdio.h>
#include <string.h>

struct SCOREP_User_Region {
  char name[32];
};
static struct SCOREP_User_Region regions[8];
static int defined, entered, left, unknown;

static __attribute__((destructor)) void say(void) {
  printf("Score-P: %d defined, %d entered, %d left, %d unknown\n", defined, entered, left, unknown);
}

void SCOREP_User_RegionInit(SCOREP_User_RegionHandle* handle, const char** last_file, SCOREP_SourceFileHandle* file,
                            const char* name, const uint32_t type, const char* file_name, const uint32_t line) {
  (void)last_file, (void)file, (void)type, (void)file_name, (void)line;
  if (*handle) return;
  *handle = &regions[defined++];
  strcpy((*handle)->name, name);
}

void SCOREP_User_RegionEnter(const SCOREP_User_RegionHandle handle) {
  unknown += handle < regions || handle >= regions + defined;
  ++entered;
}

void SCOREP_User_RegionBegin(SCOREP_User_RegionHandle* handle, const char** last_file, SCOREP_SourceFileHandle* file,
                             const char* name, const uint32_t type, const char* file_name, const uint32_t line) {
  SCOREP_User_RegionInit(handle, last_file, file, name, type, file_name, line);
  SCOREP_User_RegionEnter(*handle);
}

void SCOREP_User_RegionEnd(const SCOREP_User_RegionHandle handle) {
  unknown += handle < regions || handle >= regions + defined;
  ++left;
}

void SCOREP_User_RegionByNameBegin(const char* name, const uint32_t type, const char* file_name, const uint32_t line) {
  (void)name, (void)type, (void)file_name, (void)line;
  ++entered;
}

void SCOREP_User_RegionByNameEnd(const char* name) {
  (void)name;
  ++left;
}

/* For Fortran: a handle is a pointer in 64 bits, -1 before the region is defined. */
void scorep_f_begin_(int64_t* handle, char* name, int32_t* type, char* file, int32_t* line, int length, int of_file) {
  char text[32] = {0};
  (void)file, (void)of_file;
  memcpy(text, name, (size_t)length);
  SCOREP_User_RegionHandle region = *handle == -1 ? NULL : (SCOREP_User_RegionHandle)*handle;
  SCOREP_User_RegionInit(&region, NULL, NULL, text, (uint32_t)*type, "", (uint32_t)*line);
  *handle = (int64_t)region;
  SCOREP_User_RegionEnter(region);
}

void scorep_f_regionend_(int64_t* handle) { SCOREP_User_RegionEnd((SCOREP_User_RegionHandle)*handle); }
