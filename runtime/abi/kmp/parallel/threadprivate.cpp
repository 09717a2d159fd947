// SPDX-License-Identifier: Apache-2.0
//
// The routines for threadprivate variables without thread-local storage. Called by code of Clang with
// -fnoopenmp-use-tls, and of Intel's compilers. The compiler's `cache` stays null, so the compiler's code asks the
// runtime each time.
#include "exec/team/threadprivate.hpp"

#include "abi/kmp/types.hpp"

namespace marline::kmp {

#pragma GCC visibility push(default)
extern "C" {

void* __kmpc_threadprivate(Ident*, int32_t, void* original, size_t bytes) {
  return threadprivate_address(this_worker(), original, bytes);
}

void* __kmpc_threadprivate_cached(Ident*, int32_t, void* original, size_t bytes, void***) {
  return threadprivate_address(this_worker(), original, bytes);
}

void __kmpc_threadprivate_register(Ident*, void* original, void* (*construct)(void*), void* (*copy)(void*, void*),
                                   void (*destroy)(void*)) {
  threadprivate_register(original, {.construct = construct, .copy = copy, .destroy = destroy});
}

void __kmpc_threadprivate_register_vec(Ident*, void* original, void* (*construct)(void*, size_t),
                                       void* (*copy)(void*, void*, size_t), void (*destroy)(void*, size_t),
                                       size_t count) {
  threadprivate_register(
      original, {.construct_vector = construct, .copy_vector = copy, .destroy_vector = destroy, .count = count});
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
