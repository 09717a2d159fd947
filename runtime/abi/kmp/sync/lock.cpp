// SPDX-License-Identifier: Apache-2.0
//
// Lock routines under the names that Intel's compilers use. The user's variable is one pointer: a plain lock is in its
// first four bytes; a nestable lock is elsewhere, and the variable points to it.
#include "construct/sync/mutex.hpp"

#include "abi/kmp/types.hpp"

namespace marline::kmp {

#pragma GCC visibility push(default)
extern "C" {

void __kmpc_init_lock(Ident*, int32_t, void** user) { mutex_init(lock_word(user)); }
void __kmpc_init_lock_with_hint(Ident*, int32_t, void** user, uintptr_t hint) {
  mutex_init(lock_word(user), static_cast<unsigned>(hint));
}
void __kmpc_destroy_lock(Ident*, int32_t, void** user) { mutex_destroy(lock_word(user)); }
void __kmpc_set_lock(Ident*, int32_t, void** user) { mutex_acquire(lock_word(user), tool::Mutex::kLock); }
void __kmpc_unset_lock(Ident*, int32_t, void** user) { mutex_release(lock_word(user), tool::Mutex::kLock); }
int32_t __kmpc_test_lock(Ident*, int32_t, void** user) { return mutex_try(lock_word(user)); }

void __kmpc_init_nest_lock(Ident*, int32_t, void** user) { nest_mutex_init(user); }
void __kmpc_init_nest_lock_with_hint(Ident*, int32_t, void** user, uintptr_t hint) {
  nest_mutex_init(user, static_cast<unsigned>(hint));
}
void __kmpc_destroy_nest_lock(Ident*, int32_t, void** user) { nest_mutex_destroy(user); }
void __kmpc_set_nest_lock(Ident*, int32_t, void** user) { nest_mutex_acquire(user); }
void __kmpc_unset_nest_lock(Ident*, int32_t, void** user) { nest_mutex_release(user); }
int32_t __kmpc_test_nest_lock(Ident*, int32_t, void** user) { return static_cast<int32_t>(nest_mutex_try(user)); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
