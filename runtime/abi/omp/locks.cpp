// SPDX-License-Identifier: Apache-2.0
//
// Lock routines (OpenMP 5.1, section 3.9). omp_lock_t has 4 bytes (GCC) or 8 (Clang), of which the first four are the
// lock. omp_nest_lock_t has 8 (Clang, and GCC's of before 4.4, aligned to 4) or 16: the first eight hold a pointer.
// Fortran passes the same addresses. Any thread.
#include "construct/sync/mutex.hpp"

namespace marline::omp {

#pragma GCC visibility push(default)
extern "C" {

void omp_init_lock(void* lock) { mutex_init(lock_word(lock)); }
[[gnu::alias("omp_init_lock")]] void omp_init_lock_(void* lock);
void omp_init_lock_with_hint(void* lock, unsigned hint) { mutex_init(lock_word(lock), hint); }
void omp_init_lock_with_hint_(void* lock, const unsigned* hint) { mutex_init(lock_word(lock), *hint); }

void omp_destroy_lock(void* lock) { mutex_destroy(lock_word(lock)); }
[[gnu::alias("omp_destroy_lock")]] void omp_destroy_lock_(void* lock);

void omp_set_lock(void* lock) { mutex_acquire(lock_word(lock), tool::Mutex::kLock); }
[[gnu::alias("omp_set_lock")]] void omp_set_lock_(void* lock);

void omp_unset_lock(void* lock) { mutex_release(lock_word(lock), tool::Mutex::kLock); }
[[gnu::alias("omp_unset_lock")]] void omp_unset_lock_(void* lock);

int omp_test_lock(void* lock) { return mutex_try(lock_word(lock)) ? 1 : 0; }
[[gnu::alias("omp_test_lock")]] int omp_test_lock_(void* lock);

void omp_init_nest_lock(void* lock) { nest_mutex_init(lock); }
[[gnu::alias("omp_init_nest_lock")]] void omp_init_nest_lock_(void* lock);
void omp_init_nest_lock_with_hint(void* lock, unsigned hint) { nest_mutex_init(lock, hint); }
void omp_init_nest_lock_with_hint_(void* lock, const unsigned* hint) { nest_mutex_init(lock, *hint); }

void omp_destroy_nest_lock(void* lock) { nest_mutex_destroy(lock); }
[[gnu::alias("omp_destroy_nest_lock")]] void omp_destroy_nest_lock_(void* lock);

void omp_set_nest_lock(void* lock) { nest_mutex_acquire(lock); }
[[gnu::alias("omp_set_nest_lock")]] void omp_set_nest_lock_(void* lock);

void omp_unset_nest_lock(void* lock) { nest_mutex_release(lock); }
[[gnu::alias("omp_unset_nest_lock")]] void omp_unset_nest_lock_(void* lock);

int omp_test_nest_lock(void* lock) { return static_cast<int>(nest_mutex_try(lock)); }
[[gnu::alias("omp_test_nest_lock")]] int omp_test_nest_lock_(void* lock);

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
