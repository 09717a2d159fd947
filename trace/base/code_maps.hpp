// SPDX-License-Identifier: Apache-2.0
//
// The addresses of the process's code, for turning code addresses into functions and lines after the run.
#ifndef MARLINE_TRACE_CODE_MAPS_HPP
#define MARLINE_TRACE_CODE_MAPS_HPP

#include <stdio.h>

namespace marline::trace {

// A quoted JSON string; metadata.cpp.
void write_string(FILE* out, const char* text);

// The JSON member "maps": each executable mapping of a file with its range, its offset in the file, the file's path and
// its build id ("" if it has none), by which the file, or its separate debugging information, is known again.
void write_code_maps(FILE* out);

}  // namespace marline::trace

#endif
