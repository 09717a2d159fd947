// SPDX-License-Identifier: Apache-2.0
//
// Registers callbacks by their types (OpenMP 5.1, 4.6.1.3).
#ifndef MARLINE_TRACE_OMPT_SET_HPP
#define MARLINE_TRACE_OMPT_SET_HPP

#include <initializer_list>

#include "../common/ompt.h"
#include "base/kinds.hpp"
#include "base/recorder.hpp"

namespace marline::trace {

struct Callback {
  ompt_callbacks_t which;
  ompt_callback_t function;
};

template <class Function>
Callback callback(ompt_callbacks_t which, Function function) {
  return {which, reinterpret_cast<ompt_callback_t>(function)};
}

inline void set_all(ompt_set_callback_t set, std::initializer_list<Callback> callbacks) {
  for (const Callback& one : callbacks) set(one.which, one.function);
}

inline void set_wanted(ompt_set_callback_t set, Events events, std::initializer_list<Callback> callbacks) {
  if (wanted(events)) set_all(set, callbacks);
}

}  // namespace marline::trace

#endif
