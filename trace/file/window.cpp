// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "file/window.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../common/thread_id.h"
#include "file/container.hpp"

namespace marline::trace {

Window* Window::make() {
  auto* window = static_cast<Window*>(calloc(1, sizeof(Window)));
  if (window == nullptr) return nullptr;
  window->offset = reserve_units(1);
  window->unit = static_cast<UnitHeader*>(map_part(window->offset, kUnitBytes));
  if (window->unit != nullptr) return window;
  const int error = errno;
  free(window);
  errno = error;
  return nullptr;
}

void Window::begin(uint32_t thread, u64 sequence, bool clear) {
  // The fences keep the compiler from moving stores: a program that is killed between two of them leaves a window
  // without a magic, which is then empty.
  memset(unit->magic, 0, sizeof unit->magic);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (clear) memset(records(), 0, kWindowRecords * sizeof(Record));
  unit->process = process_number();
  unit->thread = thread;
  unit->os_tid = static_cast<uint32_t>(thread_id());
  unit->units = 1;
  unit->sequence = sequence;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  memcpy(unit->magic, kWindowMagic, sizeof unit->magic);
}

void Window::forget() {
  munmap(unit, kUnitBytes);
  free(this);
}

}  // namespace marline::trace
