// SPDX-License-Identifier: Apache-2.0
//
// Compresses windows. A thread that took long to fill its window compresses it itself (pack_here); others copy theirs
// into the file uncompressed (stream.cpp). A thread of the lowest priority (SCHED_IDLE) that did it for them took 40 to
// 100 ns more per task of 1 us: waiting threads that yield gave it their cores. So that thread has only the last
// windows of threads that have ended. Until a window's block is complete, the window itself stays in the file, so
// nothing is lost if the process is killed.
//
// zstd is the system's libzstd.so.1, found at run time, as nearly every Linux has it: package managers need it. Without
// it the packer stores records as they are.
//
// No lock: threads push windows on a list, the packer takes all of them at once. A lock that a thread of this priority
// holds would hold up the program.
#ifndef MARLINE_TRACE_PACKER_HPP
#define MARLINE_TRACE_PACKER_HPP

#include "file/window.hpp"

namespace marline::trace {

// Whether windows are taken: until stop_packer, unless the packer's thread cannot be started. Any thread.
bool packs();

// Gives the last window of a thread to the packer. Starts the packer's thread if needed. If many wait for the packer
// already, the caller compresses the window itself. False: not taken; it is still the caller's.
bool hand_over(Window& window);

// Compresses the caller's full window, if that takes less than a hundredth of the time that it took to fill it, and no
// other thread does the same at the moment. False: not done, or the disk is full.
bool pack_here(const Window& window, u64 ns_to_fill);

// Puts a window that no thread uses on the list of recycled ones.
void recycle(Window& window);
// A recycled window, or null. One thread at a time (under the lock of the list of streams).
Window* take_recycled();

// Compresses what has been handed over, and ends the packer's thread. At the end of the process. The caller takes all
// windows but the one that the packer has in hand: without privileges the packer's priority cannot be raised again
// (sched(7), SCHED_IDLE), so beside busy cores it would be slow.
void stop_packer();

// In the child of a fork, which has no packer and must not write the parent's file.
void forget_packer();

}  // namespace marline::trace

#endif
