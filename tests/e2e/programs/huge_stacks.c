/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded, it keeps the kernel from hearing that mappings are stacks and want no huge pages (MADV_NOHUGEPAGE, and
 * MAP_STACK, which says the same from Linux 6.7 on): what the test of that advice would see without it. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int madvise(void* address, size_t bytes, int advice) {
  if (advice == MADV_NOHUGEPAGE) return 0;
  return (int)syscall(SYS_madvise, address, bytes, advice);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  return (void*)syscall(SYS_mmap, address, bytes, protection, flags & ~MAP_STACK, file, offset);
}
