// SPDX-License-Identifier: Apache-2.0
//
// What a debugger finds in the process (OMPD; OpenMP 5.2, chapter 20): the table by which lib/marline/libompd.so reads
// the runtime's data, and the name of that library.
#pragma once

namespace marline {

// With OMP_DEBUG=enabled: fills the table, names the library, and tells a debugger that is attached. Before the first
// event, by the thread that starts the runtime.
void debugger_start();

}  // namespace marline
