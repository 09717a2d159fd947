// SPDX-License-Identifier: Apache-2.0
//
// Lock routines (OpenMP 5.1, section 3.9). omp_lock_t has 4 bytes (GCC) or 8 (Clang), of which the first four are the
// lock. omp_nest_lock_t has 8 (Clang, and GCC's of before 4.4, aligned to 4) or 16: the first eight hold a pointer.
// Fortran passes the same addresses. Any thread.
#include "construct/lock.hpp"

#include <cstring>

namespace marline::omp {

namespace {

NestLock* nest_lock(const void* storage) {
  NestLock* lock;
  std::memcpy(&lock, storage, sizeof lock);
  return lock;
}

void store_nest_lock(void* storage, NestLock* lock) { std::memcpy(storage, &lock, sizeof lock); }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void omp_init_lock(void* lock) { lock_word(lock).store(0, relaxed); }
[[gnu::alias("omp_init_lock")]] void omp_init_lock_(void* lock);
void omp_init_lock_with_hint(void* lock, unsigned) { omp_init_lock(lock); }
void omp_init_lock_with_hint_(void* lock, const unsigned*) { omp_init_lock(lock); }

void omp_destroy_lock(void*) {}
[[gnu::alias("omp_destroy_lock")]] void omp_destroy_lock_(void* lock);

void omp_set_lock(void* lock) { lock_acquire(lock_word(lock)); }
[[gnu::alias("omp_set_lock")]] void omp_set_lock_(void* lock);

void omp_unset_lock(void* lock) { lock_release(lock_word(lock)); }
[[gnu::alias("omp_unset_lock")]] void omp_unset_lock_(void* lock);

int omp_test_lock(void* lock) { return lock_try(lock_word(lock)) ? 1 : 0; }
[[gnu::alias("omp_test_lock")]] int omp_test_lock_(void* lock);

void omp_init_nest_lock(void* lock) { store_nest_lock(lock, nest_lock_create()); }
[[gnu::alias("omp_init_nest_lock")]] void omp_init_nest_lock_(void* lock);
void omp_init_nest_lock_with_hint(void* lock, unsigned) { omp_init_nest_lock(lock); }
void omp_init_nest_lock_with_hint_(void* lock, const unsigned*) { omp_init_nest_lock(lock); }

void omp_destroy_nest_lock(void* lock) {
  nest_lock_destroy(nest_lock(lock));
  store_nest_lock(lock, nullptr);
}
[[gnu::alias("omp_destroy_nest_lock")]] void omp_destroy_nest_lock_(void* lock);

void omp_set_nest_lock(void* lock) { nest_lock_acquire(nest_lock(lock)); }
[[gnu::alias("omp_set_nest_lock")]] void omp_set_nest_lock_(void* lock);

void omp_unset_nest_lock(void* lock) { nest_lock_release(nest_lock(lock)); }
[[gnu::alias("omp_unset_nest_lock")]] void omp_unset_nest_lock_(void* lock);

int omp_test_nest_lock(void* lock) { return static_cast<int>(nest_lock_try(nest_lock(lock))); }
[[gnu::alias("omp_test_nest_lock")]] int omp_test_nest_lock_(void* lock);

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
