// SPDX-License-Identifier: Apache-2.0
//
// Lock routines under the names that Intel's compilers use. The user's variable is one pointer: a plain lock lives in
// its first four bytes, a nestable one behind it.
#include "construct/lock.hpp"

#include "abi/kmp/types.hpp"

namespace marline::kmp {

namespace {

NestLock* nest(void** user) { return static_cast<NestLock*>(*user); }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void __kmpc_init_lock(Ident*, int32_t, void** user) { *user = nullptr; }
void __kmpc_init_lock_with_hint(Ident*, int32_t, void** user, uintptr_t) { *user = nullptr; }
void __kmpc_destroy_lock(Ident*, int32_t, void**) {}
void __kmpc_set_lock(Ident*, int32_t, void** user) { lock_acquire(lock_word(user)); }
void __kmpc_unset_lock(Ident*, int32_t, void** user) { lock_release(lock_word(user)); }
int32_t __kmpc_test_lock(Ident*, int32_t, void** user) { return lock_try(lock_word(user)); }

void __kmpc_init_nest_lock(Ident*, int32_t, void** user) { *user = nest_lock_create(); }
void __kmpc_init_nest_lock_with_hint(Ident*, int32_t, void** user, uintptr_t) { *user = nest_lock_create(); }
void __kmpc_destroy_nest_lock(Ident*, int32_t, void** user) { nest_lock_destroy(nest(user)); }
void __kmpc_set_nest_lock(Ident*, int32_t, void** user) { nest_lock_acquire(nest(user)); }
void __kmpc_unset_nest_lock(Ident*, int32_t, void** user) { nest_lock_release(nest(user)); }
int32_t __kmpc_test_nest_lock(Ident*, int32_t, void** user) { return static_cast<int32_t>(nest_lock_try(nest(user))); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
