// SPDX-License-Identifier: Apache-2.0
//
// Composes the message about the end of a device's process.
#include "device/processor/crash/crash_report.hpp"

#include "base/report.hpp"
#include "device/contract/place.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

void report_end(const char* device, const ProcessEnd& end) {
  if (end.cause == 0) {
    end_process(EXIT_FAILURE,
                "%s has ended without a reason that it could tell: _exit, a signal such as SIGKILL, or want of "
                "memory",
                device);
  }
  char where[512];
  if (end.running > 1 && end.name == nullptr) {
    std::snprintf(where, sizeof where, "one of %d target regions", end.running);
  } else {
    describe_place(end.name, end.place, where, sizeof where);
  }
  if (end.cause == ProcessEnd::kExitCalled) {
    auto status = static_cast<int>(end.value);
    end_process(status != 0 ? status : EXIT_FAILURE, "%s has ended: exit(%d) was called in %s", device, status, where);
  }
  if (end.cause == ProcessEnd::kQuickExitCalled) {
    end_process(EXIT_FAILURE, "%s has ended: quick_exit was called in %s", device, where);
  }
  char at[40] = "";
  if (end.at_address) std::snprintf(at, sizeof at, " at address %#lx", end.value);
  bool has_stack = end.stack != nullptr && end.stack[0] != '\0';
  end_process(128 + end.cause, "%s has ended by signal %d (%s)%s, in %s%s%s", device, end.cause, strsignal(end.cause),
              at, where, has_stack ? "; stack: " : "", has_stack ? end.stack : "");
}

}  // namespace marline::offload::device
