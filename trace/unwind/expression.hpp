// SPDX-License-Identifier: Apache-2.0
//
// DWARF expressions (DWARF 5, 2.5), as far as compilers and the C library use them in call frame information: for
// frames that are aligned at run time, for the linker's jump tables, and for the frame of a signal.
#ifndef MARLINE_TRACE_UNWIND_EXPRESSION_HPP
#define MARLINE_TRACE_UNWIND_EXPRESSION_HPP

#include "unwind/registers.hpp"

namespace marline::trace {

// The value of the expression at `at` (its length, then its operations) in this frame. `first`: what its stack begins
// with. False: it has an operation that is not known here, or needs a register or memory that is not.
bool evaluate(SafeMemory& memory, u64 at, const Registers& registers, const u64* first, u64& result);

}  // namespace marline::trace

#endif
