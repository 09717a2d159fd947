// SPDX-License-Identifier: Apache-2.0
//
// Writes the addresses of the process's code, for turning code addresses into functions and lines after the run.
#ifndef MARLINE_TRACE_CODE_MAPS_HPP
#define MARLINE_TRACE_CODE_MAPS_HPP

#include <stdio.h>

namespace marline::trace {

// Writes a quoted JSON string; defined in metadata.cpp.
void write_string(FILE* out, const char* text);

// Writes the JSON member "maps": each executable mapping of a file with its range, its offset in the file, the file's
// path and its build id ("" if it has none), which identifies the file, or its separate debugging information.
void write_code_maps(FILE* out);

}  // namespace marline::trace

#endif
