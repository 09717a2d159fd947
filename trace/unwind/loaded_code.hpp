// SPDX-License-Identifier: Apache-2.0
//
// Where code was loaded, and where its call frame information lies: a copy of what the dynamic linker knows, which a
// signal handler can search without the linker's lock. refresh() is called outside of handlers. Between a dlopen and
// the next refresh() code is not found, and after a dlclose it is found though it has gone: what is read there is read
// by SafeMemory.
#ifndef MARLINE_TRACE_UNWIND_LOADED_CODE_HPP
#define MARLINE_TRACE_UNWIND_LOADED_CODE_HPP

#include "unwind/memory.hpp"

namespace marline::trace {

struct LoadedCode {
  u64 begin;  // of executable memory
  u64 end;
  u64 frames;  // address of the index of its call frame information (.eh_frame_hdr); 0: it has none
};

// Brings the copy up to date, if anything was loaded or unloaded. Not for signal handlers; any thread. Of two threads
// that call at once, one does it.
void refresh_loaded_code();

// The code around `address`. False: there is none, or the copy is being written.
bool find_loaded_code(u64 address, LoadedCode& found);

// Changes with the copy.
u32 loaded_code_version();

}  // namespace marline::trace

#endif
