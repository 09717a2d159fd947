// SPDX-License-Identifier: Apache-2.0
//
// What the recorder does when the process ends by exit: all records that are still in full windows are compressed, and
// the description is written for the last time. Threads that still run may go on recording into their windows.
#include "base/packer.hpp"
#include "base/recorder.hpp"
#include "base/stream.hpp"
#include "file/no_cancel.hpp"

namespace marline::trace {
namespace {

__attribute__((destructor)) void end_trace() {
  const NoCancel no_cancel;
  stop_packer();
  Stream::trim_all();
  write_metadata();
}

}  // namespace
}  // namespace marline::trace
