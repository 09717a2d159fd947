/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's malloc and free, in place of libc's: blocks are recorded, and freed ones are held back for a while, so
 * that their addresses do not soon name other objects. Any thread.
 *
 * glibc's functions are called by their names __libc_*, which need no look-up (dlsym allocates memory itself). A block
 * that was not allocated by instrumented or plain code of the program, but by the runtime, MPI or libc, is none of
 * ours.
 */
#include "../lock.h"
#include "current.h"
#include "writer.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define ENTRY __attribute__((visibility("default"), noinline))
#define CALLER __builtin_return_address(0)

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* block);

/* Freed blocks that wait: a ring, guarded by its lock. */
enum { kHeld = 1 << 14 };
static const size_t kHeldBytes = (size_t)256 << 20;
static void* held[kHeld];
static unsigned first_held, held_count;
static size_t held_bytes;
static Lock held_lock;

static void* note(void* block, size_t size, const void* caller) {
  if (block == NULL || !current_is_programs(caller)) return block;
  PUT(kAllocated, current_number(), (uintptr_t)block, size, (uintptr_t)caller);
  return block;
}

/* Takes blocks out of the ring until a block of this size has room. */
static void make_room(size_t bytes) {
  while (held_count > 0 && (held_count == kHeld || held_bytes + bytes > kHeldBytes)) {
    void* block = held[first_held];
    first_held = (first_held + 1) % kHeld;
    --held_count;
    held_bytes -= malloc_usable_size(block);
    __libc_free(block);
  }
}

static void release(void* block, const void* caller) {
  if (block == NULL || !current_is_programs(caller)) {
    __libc_free(block);
    return;
  }
  PUT(kFreed, current_number(), (uintptr_t)block, (uintptr_t)caller);
  const size_t bytes = malloc_usable_size(block);
  lock_take(&held_lock);
  make_room(bytes);
  held[(first_held + held_count++) % kHeld] = block;
  held_bytes += bytes;
  lock_give(&held_lock);
}

ENTRY void* malloc(size_t size) { return note(__libc_malloc(size), size, CALLER); }
ENTRY void* calloc(size_t count, size_t size) { return note(__libc_calloc(count, size), count * size, CALLER); }
ENTRY void free(void* block) { release(block, CALLER); }
ENTRY void* memalign(size_t alignment, size_t size) { return note(__libc_memalign(alignment, size), size, CALLER); }
ENTRY void* aligned_alloc(size_t alignment, size_t size) {
  return note(__libc_memalign(alignment, size), size, CALLER);
}
ENTRY int posix_memalign(void** block, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* got = note(__libc_memalign(alignment, size), size, CALLER);
  if (got == NULL) return ENOMEM;
  *block = got;
  return 0;
}

ENTRY void* realloc(void* block, size_t size) {
  if (!current_is_programs(CALLER)) return __libc_realloc(block, size);
  if (block != NULL) PUT(kFreed, current_number(), (uintptr_t)block, (uintptr_t)CALLER);
  return note(__libc_realloc(block, size), size, CALLER);
}

/* operator new and delete: the program's call says more than libstdc++'s. Those for aligned types come by
 * aligned_alloc. */
static void* allocate(size_t size, const void* caller) {
  void* block = __libc_malloc(size);
  if (block == NULL) {
    fprintf(stderr, "marline: check: no memory for operator new\n");
    abort();
  }
  return note(block, size, caller);
}
ENTRY void* _Znwm(size_t size) { return allocate(size, CALLER); }
ENTRY void* _Znam(size_t size) { return allocate(size, CALLER); }
ENTRY void _ZdlPv(void* block) { release(block, CALLER); }
ENTRY void _ZdaPv(void* block) { release(block, CALLER); }
ENTRY void _ZdlPvm(void* block, size_t size) { (void)size, release(block, CALLER); }
ENTRY void _ZdaPvm(void* block, size_t size) { (void)size, release(block, CALLER); }
