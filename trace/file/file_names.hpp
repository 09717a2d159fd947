// SPDX-License-Identifier: Apache-2.0
//
// How long the names of the trace's files may be.
#ifndef MARLINE_TRACE_FILE_NAMES_HPP
#define MARLINE_TRACE_FILE_NAMES_HPP

namespace marline::trace {

constexpr int kPathBytes = 4096;
constexpr int kTagBytes = 32;            // of the part that names the process: rank0003
constexpr int kContainerNameBytes = 96;  // node.HOST.BOOT.mtr

}  // namespace marline::trace

#endif
