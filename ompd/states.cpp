// SPDX-License-Identifier: Apache-2.0
//
// What a thread does (OpenMP 5.2, section 20.5.9). The runtime gives tools the same answer (ompt_get_state in
// runtime/abi/ompt/inquiry.cpp).
#include "../common/ompt_states.hpp"
#include "space.hpp"
#include "text.hpp"

namespace marline::ompd {

namespace {

constexpr int kWorkSerial = 0x000, kWorkParallel = 0x001, kIdle = 0x100;

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Rc ompd_enumerate_states(const Space* space, Word current, Word* next, const char** name, Word* more) {
  if (space == nullptr) return Rc::kStaleHandle;
  if (next == nullptr || name == nullptr || more == nullptr) return Rc::kBadInput;
  const int i = next_ompt_state(static_cast<int>(current));
  if (i == kOmptStateCount - 1) return Rc::kBadInput;
  *next = kOmptStates[i].value;
  *more = i + 1 < kOmptStateCount - 1;
  return hand_out_text(kOmptStates[i].name, name);
}

Rc ompd_get_state(const Thread* thread, Word* state, uint64_t* wait_id) {
  if (thread == nullptr) return Rc::kStaleHandle;
  if (state == nullptr) return Rc::kBadInput;
  Reader in(*thread->space);
  const OmpdLayout& layout = in.layout();
  const uint64_t task = in.word(thread->worker, layout.worker.task);
  const uint64_t waits = in.word(thread->worker, layout.worker.wait_task);
  uint64_t id = 0;
  if (waits != 0 && (task == 0 || task == waits)) {
    *state = in.number(thread->worker, layout.worker.wait_state);
    id = in.word(thread->worker, layout.worker.wait_id);
  } else if (task == 0) {
    *state = kIdle;
  } else {
    *state = in.number(in.word(task, layout.task.team), layout.team.level) > 0 ? kWorkParallel : kWorkSerial;
  }
  if (wait_id != nullptr) *wait_id = id;
  return in.rc();
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::ompd
