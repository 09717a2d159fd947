// SPDX-License-Identifier: Apache-2.0
//
// What a tool is told of constructs (devices.h, "Events for tools"). Where no tool listens there is nothing of it: two
// loads, of a constant address and of the word there, and a branch per construct or operation.
#pragma once

#include "marline/devices.h"

namespace marline::offload {

extern const uint32_t* g_events;  // the runtime's word; constant once the library is loaded

inline bool is_told(uint32_t events) { return (__atomic_load_n(g_events, __ATOMIC_RELAXED) & events) != 0; }

// A construct, and the kernel that it has. On the heap, as it may go on behind the call that begins it.
struct Told {
  marline_construct_t construct;
  marline_operation_t kernel;
  bool has_kernel;  // that has begun, and whose end has not been told
};

// The teams that a kernel is told to have, by what compilers pass: negative for a region without teams, 0 if the
// program does not say.
inline unsigned told_teams(int32_t passed) { return passed < 0 ? 1 : static_cast<unsigned>(passed); }

// The values of ompt_target_t.
enum class ConstructKind : int { kTarget = 1, kEnterData = 2, kExitData = 3, kUpdate = 4 };

// The construct of a claimed task (devices.h), which no task's code is in. A tool is there.
[[nodiscard]] Told* begin_claimed_told(ConstructKind kind, int device, const void* code, const marline_claimed_t* task);
void end_told(Told* told);  // null: nothing
// The calling task does no more for the construct, which may end at once; null: nothing.
void leave_told(Told* told);

// The scope of a construct's call.
class ToldScope {
 public:
  ToldScope(ConstructKind kind, bool nowait, int device, const void* code) {
    if (is_told(MARLINE_ON_ANYTHING)) [[unlikely]] {
      begin(kind, nowait, device, code);
    }
  }
  ~ToldScope() {
    if (told_ != nullptr) [[unlikely]] {
      end_told(told_);
    }
  }
  ToldScope(const ToldScope&) = delete;
  ToldScope& operator=(const ToldScope&) = delete;

  [[nodiscard]] Told* told() const { return told_; }
  // The construct goes on behind the scope: the caller ends it.
  [[nodiscard]] Told* leave() {
    Told* told = told_;
    told_ = nullptr;
    return told;
  }

 private:
  void begin(ConstructKind kind, bool nowait, int device, const void* code);

  Told* told_ = nullptr;
};

}  // namespace marline::offload
