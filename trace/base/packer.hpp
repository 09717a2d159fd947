// SPDX-License-Identifier: Apache-2.0
//
// The thread that compresses full windows, so that no thread of the program spends time on it. It runs only while a
// core would be idle otherwise (SCHED_IDLE), on the cores that the process had when it was started. Until a window's
// block is complete, the window itself stays in the file, so nothing is lost if the process is killed. If the packer
// cannot keep up, threads have no unused windows left. A thread that took long to fill its window then compresses it
// itself (pack_here); others copy theirs into the file uncompressed (stream.cpp).
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

// Gives a full window (state kFull), or the last one of a thread (kLeft), to the packer. Starts its thread if needed.
// False: not taken; it is still the caller's.
bool hand_over(Window& window);

// Compresses the caller's full window, if that takes less than a hundredth of the cycles that it took to fill it, and
// no other thread does the same at the moment. False: not done, or the disk is full.
bool pack_here(const Window& window, u64 ns_to_fill);

// Puts a window that no thread uses on the list of recycled ones.
void recycle(Window& window);
// A recycled window, or null. One thread at a time (under the lock of the list of streams).
Window* take_recycled();

// Compresses what has been handed over, and ends the packer's thread. At the end of the process.
void stop_packer();

// In the child of a fork, which has no packer and must not write the parent's file.
void forget_packer();

}  // namespace marline::trace

#endif
