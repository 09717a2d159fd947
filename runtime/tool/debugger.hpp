// SPDX-License-Identifier: Apache-2.0
//
// The functions at which a debugger stops (OMPD; OpenMP 5.2, sections 20.2.3 and 20.6). They do nothing. With
// OMP_DEBUG=enabled the runtime calls them where it reports the same events to tools; otherwise nothing calls them
// (tool/tool.hpp).
#pragma once

extern "C" {
#pragma GCC visibility push(default)
// The names of libraries that understand this runtime's data, a null pointer after the last. Null until
// ompd_dll_locations_valid() is called.
extern const char** ompd_dll_locations;
void ompd_dll_locations_valid();
void ompd_bp_thread_begin();
void ompd_bp_thread_end();
void ompd_bp_parallel_begin();
void ompd_bp_parallel_end();
void ompd_bp_teams_begin();
void ompd_bp_teams_end();
void ompd_bp_task_begin();
void ompd_bp_task_end();
#pragma GCC visibility pop
}
