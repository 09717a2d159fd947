// SPDX-License-Identifier: Apache-2.0
//
// Looks up the sanitizers' functions. The names are the sanitizers' public interface (sanitizer/tsan_interface.h,
// sanitizer/asan_interface.h, sanitizer/common_interface_defs.h).
#include "base/sanitizer.hpp"

#include "base/conditions.hpp"

#include <dlfcn.h>

namespace marline {

Sanitizers g_sanitizers;
bool g_sanitized = false;

namespace {

template <class F>
bool look_up(F** function, const char* name) {
  *function = reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

bool look_up_tsan(Sanitizers* found) {
  return look_up(&found->tsan_current_fiber, "__tsan_get_current_fiber") &&
         look_up(&found->tsan_create_fiber, "__tsan_create_fiber") &&
         look_up(&found->tsan_destroy_fiber, "__tsan_destroy_fiber") &&
         look_up(&found->tsan_acquire, "__tsan_acquire") && look_up(&found->tsan_release, "__tsan_release") &&
         look_up(&found->tsan_switch_to_fiber, "__tsan_switch_to_fiber");
}

bool look_up_asan(Sanitizers* found) {
  return look_up(&found->asan_poison, "__asan_poison_memory_region") &&
         look_up(&found->asan_unpoison, "__asan_unpoison_memory_region") &&
         look_up(&found->asan_finish_switch, "__sanitizer_finish_switch_fiber") &&
         look_up(&found->asan_start_switch, "__sanitizer_start_switch_fiber");
}

}  // namespace

void sanitizers_look_up() {
  if (g_sanitized) return;
  Sanitizers found;
  bool tsan = look_up_tsan(&found);
  bool asan = look_up_asan(&found);
  // A run time without some of the functions counts as none: an old one, for example, without fibers.
  if (!tsan) found.tsan_switch_to_fiber = nullptr;
  if (!asan) found.asan_start_switch = nullptr;
  g_sanitizers = found;
  g_sanitized = tsan || asan;
  if (g_sanitized) g_conditions.fetch_or(condition::kSanitized, relaxed);
}

}  // namespace marline
