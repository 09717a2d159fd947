// SPDX-License-Identifier: Apache-2.0
//
// Calls Clang's outlined functions. In the calling conventions of x86-64 (System V) and AArch64 (AAPCS64) the caller
// owns the argument area and a callee ignores arguments for which it has no parameter, so a few numbers of arguments
// are enough for all calls.
#include "abi/kmp/parallel/microtask.hpp"

#include "base/check.hpp"

#include <cstddef>
#include <utility>

namespace marline::kmp {

namespace {

template <std::size_t>
using Argument = void*;

template <std::size_t... I>
void call_with(void* microtask, int32_t gtid, int32_t bound_tid, void** arguments, void** exit_frame,
               std::index_sequence<I...>) {
  if (exit_frame != nullptr) [[unlikely]] {
    *exit_frame = __builtin_frame_address(0);
  }
  using Fixed = void (*)(int32_t*, int32_t*, Argument<I>...);
  reinterpret_cast<Fixed>(microtask)(&gtid, &bound_tid, arguments[I]...);
}

}  // namespace

void call_microtask(void* microtask, int32_t gtid, int32_t bound_tid, void** arguments, int32_t count,
                    void** exit_frame) {
  if (count <= 8) {
    call_with(microtask, gtid, bound_tid, arguments, exit_frame, std::make_index_sequence<8>());
  } else if (count <= 32) {
    call_with(microtask, gtid, bound_tid, arguments, exit_frame, std::make_index_sequence<32>());
  } else {
    call_with(microtask, gtid, bound_tid, arguments, exit_frame, std::make_index_sequence<kMaxArguments>());
  }
}

void collect_arguments(void** arguments, int32_t count, va_list list) {
  if (count > kMaxArguments) {
    fatal("a region captures %d variables, Marline passes at most %d; put them into a structure", count, kMaxArguments);
  }
  for (int32_t i = 0; i < count; ++i) arguments[i] = va_arg(list, void*);
}

}  // namespace marline::kmp
