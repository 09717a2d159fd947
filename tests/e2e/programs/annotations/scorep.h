/* SPDX-License-Identifier: Apache-2.0
 *
 * A small stand-in for Score-P: the prototypes of the functions that its macros for user regions call. */
#include <stdint.h>

typedef struct SCOREP_User_Region* SCOREP_User_RegionHandle;
typedef uint32_t SCOREP_SourceFileHandle;

void SCOREP_User_RegionInit(SCOREP_User_RegionHandle* handle, const char** last_file, SCOREP_SourceFileHandle* file,
                            const char* name, const uint32_t type, const char* file_name, const uint32_t line);
void SCOREP_User_RegionBegin(SCOREP_User_RegionHandle* handle, const char** last_file, SCOREP_SourceFileHandle* file,
                             const char* name, const uint32_t type, const char* file_name, const uint32_t line);
void SCOREP_User_RegionEnter(const SCOREP_User_RegionHandle handle);
void SCOREP_User_RegionEnd(const SCOREP_User_RegionHandle handle);
void SCOREP_User_RegionByNameBegin(const char* name, const uint32_t type, const char* file_name, const uint32_t line);
void SCOREP_User_RegionByNameEnd(const char* name);
