/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that code compiled with -fsanitize=thread calls, in place of ThreadSanitizer's (compiler-rt,
 * lib/tsan/rtl/tsan_interface.h). Accesses go to the current task's table; atomic operations are also carried out.
 * Any thread.
 */
#include "current.h"
#include "writer.h"

#include <stddef.h>
#include <string.h>

#define ENTRY __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

static inline void note(const void* address, size_t size, unsigned kind, const void* code) {
  TaskRecord* task = current();
  if (task != NULL) granules_add(&task->granules, (uintptr_t)address, size, kind, code);
}

/* Called by the constructor of each instrumented object. */
ENTRY void __tsan_init(void) { writer_put(kInstrumented, 0, NULL); }
ENTRY void __tsan_func_entry(void* caller) { (void)caller; }
ENTRY void __tsan_func_exit(void) {}
ENTRY void __tsan_ignore_thread_begin(void) {}
ENTRY void __tsan_ignore_thread_end(void) {}

#define SIZED(prefix, size)                                                                       \
  ENTRY void __tsan_##prefix##read##size(void* address) { note(address, size, 0, CALLER); }       \
  ENTRY void __tsan_##prefix##write##size(void* address) { note(address, size, kWrite, CALLER); } \
  ENTRY void __tsan_##prefix##read_write##size(void* address) {                                   \
    note(address, size, 0, CALLER);                                                               \
    note(address, size, kWrite, CALLER);                                                          \
  }
SIZED(, 1)
SIZED(, 2)
SIZED(, 4)
SIZED(, 8)
SIZED(, 16)
SIZED(unaligned_, 2)
SIZED(unaligned_, 4)
SIZED(unaligned_, 8)
SIZED(unaligned_, 16)
SIZED(volatile_, 1)
SIZED(volatile_, 2)
SIZED(volatile_, 4)
SIZED(volatile_, 8)
SIZED(volatile_, 16)
SIZED(unaligned_volatile_, 2)
SIZED(unaligned_volatile_, 4)
SIZED(unaligned_volatile_, 8)
SIZED(unaligned_volatile_, 16)

ENTRY void __tsan_read_range(void* address, size_t size) { note(address, size, 0, CALLER); }
ENTRY void __tsan_write_range(void* address, size_t size) { note(address, size, kWrite, CALLER); }
ENTRY void __tsan_vptr_read(void** address) { note(address, sizeof *address, 0, CALLER); }
ENTRY void __tsan_vptr_update(void** address, void* value) {
  if (*address != value) note(address, sizeof *address, kWrite, CALLER);
}

ENTRY void* __tsan_memcpy(void* to, const void* from, size_t size) {
  note(from, size, 0, CALLER);
  note(to, size, kWrite, CALLER);
  return memcpy(to, from, size);
}
ENTRY void* __tsan_memmove(void* to, const void* from, size_t size) {
  note(from, size, 0, CALLER);
  note(to, size, kWrite, CALLER);
  return memmove(to, from, size);
}
ENTRY void* __tsan_memset(void* to, int value, size_t size) {
  note(to, size, kWrite, CALLER);
  return memset(to, value, size);
}

/* A stronger order than the program asks for is right, too. */
#define FETCH(bits, name, builtin)                                                                              \
  ENTRY uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t* at, uint##bits##_t v, int order) { \
    (void)order;                                                                                                \
    note((const void*)at, sizeof v, kWrite | kAtomic, CALLER);                                                  \
    return builtin(at, v, __ATOMIC_SEQ_CST);                                                                    \
  }
#define COMPARE(bits, name, weak)                                                                                \
  ENTRY int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t* at, uint##bits##_t* expected, \
                                                          uint##bits##_t v, int order, int failed) {             \
    (void)order, (void)failed;                                                                                   \
    note((const void*)at, sizeof v, kWrite | kAtomic, CALLER);                                                   \
    return __atomic_compare_exchange_n(at, expected, v, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);               \
  }
#define ATOMICS(bits)                                                                                  \
  ENTRY uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* at, int order) {      \
    (void)order;                                                                                       \
    note((const void*)at, sizeof *at, kAtomic, CALLER);                                                \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                    \
  ENTRY void __tsan_atomic##bits##_store(volatile uint##bits##_t* at, uint##bits##_t v, int order) {   \
    (void)order;                                                                                       \
    note((const void*)at, sizeof v, kWrite | kAtomic, CALLER);                                         \
    __atomic_store_n(at, v, __ATOMIC_SEQ_CST);                                                         \
  }                                                                                                    \
  FETCH(bits, exchange, __atomic_exchange_n)                                                           \
  FETCH(bits, fetch_add, __atomic_fetch_add)                                                           \
  FETCH(bits, fetch_sub, __atomic_fetch_sub)                                                           \
  FETCH(bits, fetch_and, __atomic_fetch_and)                                                           \
  FETCH(bits, fetch_or, __atomic_fetch_or)                                                             \
  FETCH(bits, fetch_xor, __atomic_fetch_xor)                                                           \
  FETCH(bits, fetch_nand, __atomic_fetch_nand)                                                         \
  COMPARE(bits, strong, 0)                                                                             \
  COMPARE(bits, weak, 1)                                                                               \
  ENTRY uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                     \
      volatile uint##bits##_t* at, uint##bits##_t expected, uint##bits##_t v, int order, int failed) { \
    (void)order, (void)failed;                                                                         \
    note((const void*)at, sizeof v, kWrite | kAtomic, CALLER);                                         \
    __atomic_compare_exchange_n(at, &expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
    return expected;                                                                                   \
  }
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)
ENTRY void __tsan_atomic_thread_fence(int order) {
  (void)order;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
ENTRY void __tsan_atomic_signal_fence(int order) {
  (void)order;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
