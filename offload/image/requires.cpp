// SPDX-License-Identifier: Apache-2.0
//
// Keeps what `requires` directives have asked for.
#include "image/requires.hpp"

#include "base/report.hpp"

#include <atomic>

namespace marline::offload::image {

namespace {

// LLVM, offload/include/omptarget.h, OpenMPOffloadingRequiresDirFlags.
constexpr int64_t kReverseOffload = 2, kUnifiedSharedMemory = 8;

// Written while libraries are loaded, before their regions run; no other data depends on it.
std::atomic<bool> g_shared{false};

}  // namespace

void note_requirements(int64_t flags) {
  if ((flags & kReverseOffload) != 0) {
    fatal("requires reverse_offload: no device of Marline's runs code of the host; leave the clause out");
  }
  if ((flags & kUnifiedSharedMemory) != 0) g_shared.store(true, std::memory_order_relaxed);
}

bool is_memory_shared() { return g_shared.load(std::memory_order_relaxed); }

}  // namespace marline::offload::image
