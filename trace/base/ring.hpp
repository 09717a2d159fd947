// SPDX-License-Identifier: Apache-2.0
//
// A recorder that always runs (MARLINE_TRACE_RING): full windows go into a ring that all threads of the process share,
// instead of into blocks or copies in the node's file, so the oldest windows of all threads are overwritten. The ring
// is a mapped file of its own, TAG.ring; the node's file has nothing but the windows. The kernel owns the pages: they
// survive the program, however it ends.
//
//   header and index (one entry a slot) | definitions | slots, a window each | table of what is in use
//
// Before a window is overwritten, it is folded into the table and the definitions (file/kept.hpp). So the file always
// has what a reader must know of the time before the ring's beginning: definitions, live tasks, what each thread is in.
// The table is small, and grows with what is in use, at most to the size of all the rest.
//
// Invariants, for a reader of the file of a program that was killed at any moment:
// - A slot whose entry has a sequence number is complete. Before a slot is overwritten, `horizon` is set to the time
//   of its last record, then the slot is folded, then its number is cleared. All records after `horizon` are there.
// - A thread's window is cleared, and gets its next number, once it has been copied. If the ring has a copy of that
//   number or a higher one, the window holds nothing that this copy lacks.
//
// Any thread; all is done under one lock, once per window.
#ifndef MARLINE_TRACE_RING_HPP
#define MARLINE_TRACE_RING_HPP

#include "file/kept.hpp"
#include "file/record.hpp"

namespace marline::trace {

// Makes and maps the file. False: that failed, with the reason in errno. Called once, under process_lock.
bool begin_ring(const char* path, u64 bytes);

// Whether windows go into the ring. Constant once recording has started.
bool has_ring();

// Copies the first `count` records of the window of `thread` into the next slot. `copy`: the window's number in the
// thread's sequence, plus 1.
void append_to_ring(uint32_t thread, const Record* window, u64 count, u64 copy);

}  // namespace marline::trace

#endif
