// SPDX-License-Identifier: Apache-2.0
//
// Reports constructs to a tool (devices.h, "Events for tools"). Where no tool listens, each construct or operation
// costs two loads (of a constant address and of the word there) and a branch.
#pragma once

#include "marline/devices.h"

namespace marline::offload {

extern const uint32_t* g_events;  // address of the runtime's word of events; constant once the library is loaded

inline bool is_reported(uint32_t events) { return (__atomic_load_n(g_events, __ATOMIC_RELAXED) & events) != 0; }

// A construct that is reported to a tool, and its kernel. It lies on the heap, as the construct may outlive the call
// that begins it.
struct ReportedConstruct {
  marline_construct_t construct;
  marline_operation_t kernel;
  bool has_kernel;  // the kernel has begun, and its end has not been reported
};

// The number of teams that is reported for a kernel. `passed` is the number from the compiler: negative for a region
// without teams, 0 if the program does not say.
inline unsigned reported_teams(int32_t passed) { return passed < 0 ? 1 : static_cast<unsigned>(passed); }

// The values of ompt_target_t.
enum class ConstructKind : int { kTarget = 1, kEnterData = 2, kExitData = 3, kUpdate = 4 };

// Begins the construct of a claimed task (devices.h), which no thread runs. Called only if there is a tool.
[[nodiscard]] ReportedConstruct* begin_claimed_report(ConstructKind kind, int device, const void* code,
                                                      const marline_claimed_t* task);
void end_report(ReportedConstruct* reported);  // null: does nothing
// The calling task does nothing more for the construct, which another thread may end from then on. Null: does nothing.
void leave_report(ReportedConstruct* reported);

// Begins a construct if a tool listens, and ends it at the end of the scope, which is that of the construct's call.
class ReportScope {
 public:
  ReportScope(ConstructKind kind, bool nowait, int device, const void* code) {
    if (is_reported(MARLINE_ON_ANYTHING)) [[unlikely]] {
      begin(kind, nowait, device, code);
    }
  }
  ~ReportScope() {
    if (reported_ != nullptr) [[unlikely]] {
      end_report(reported_);
    }
  }
  ReportScope(const ReportScope&) = delete;
  ReportScope& operator=(const ReportScope&) = delete;

  [[nodiscard]] ReportedConstruct* reported() const { return reported_; }
  // The construct outlives the scope: the caller must end it.
  [[nodiscard]] ReportedConstruct* leave() {
    ReportedConstruct* reported = reported_;
    reported_ = nullptr;
    return reported;
  }

 private:
  void begin(ConstructKind kind, bool nowait, int device, const void* code);

  ReportedConstruct* reported_ = nullptr;
};

}  // namespace marline::offload
