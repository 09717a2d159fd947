/* SPDX-License-Identifier: Apache-2.0
 *
 * The buffer and the numbers of texts are guarded by one lock. Nothing here allocates memory while it is held.
 */
#include "writer.h"

#include "../../common/environment.h"
#include "../lock.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBuffered = 1 << 15, kTexts = 1024, kPath = 4096 };

static Lock lock;
static int file = -1;
static uint64_t buffer[kBuffered];
static unsigned used;
static const char* texts[kTexts];
static unsigned text_count;

static void write_all(const void* from, size_t bytes) {
  for (const char* at = from; bytes > 0 && file >= 0;) {
    const ssize_t done = write(file, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      fprintf(stderr, "marline: check: accesses are not recorded any more: %s\n", strerror(errno));
      close(file);
      file = -1;
      return;
    }
    at += done;
    bytes -= (size_t)done;
  }
}

static void flush(void) {
  write_all(buffer, used * sizeof buffer[0]);
  used = 0;
}

static void put(AccessRecord kind, unsigned words, const uint64_t* values) {
  if (used + words + 1 > kBuffered) flush();
  const uint64_t head = (uint64_t)kind | (uint64_t)words << 8;
  if (words + 1 > kBuffered) {
    write_all(&head, sizeof head);
    write_all(values, words * sizeof *values);
    return;
  }
  buffer[used++] = head;
  memcpy(&buffer[used], values, words * sizeof *values);
  used += words;
}

void writer_put(AccessRecord kind, unsigned words, const uint64_t* values) {
  lock_take(&lock);
  if (file >= 0) put(kind, words, values);
  lock_give(&lock);
}

static void put_text(uint64_t number, const char* text) {
  uint64_t values[2 + kPath / 8] = {number, strnlen(text, kPath)};
  memcpy(&values[2], text, values[1]);
  put(kText, (unsigned)(2 + (values[1] + 7) / 8), values);
}

uint64_t writer_text(const char* text) {
  if (text == NULL) return 0;
  lock_take(&lock);
  unsigned number = 0;
  while (number < text_count && texts[number] != text) ++number;
  if (number == text_count && text_count < kTexts) {
    texts[text_count++] = text;
    put_text(text_count, text);
  }
  lock_give(&lock);
  return number < kTexts ? number + 1 : 0;
}

static int put_module(struct dl_phdr_info* info, size_t size, void* program) {
  (void)size;
  const char* path = info->dlpi_name[0] != '\0' ? info->dlpi_name : program;
  uint64_t low = UINT64_MAX, high = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD) continue;
    const uint64_t begin = info->dlpi_addr + part->p_vaddr;
    if (begin < low) low = begin;
    if (begin + part->p_memsz > high) high = begin + part->p_memsz;
  }
  static uint64_t number = kTexts; /* above the labels' */
  if (high == 0) return 0;
  put_text(++number, path);
  put(kModule, 4, (uint64_t[]){info->dlpi_addr, low, high, number});
  return 0;
}

static void before_fork(void) { lock_take(&lock); }
static void after_fork_in_parent(void) { lock_give(&lock); }

/* The record is the parent's; the child is not recorded. */
static void after_fork_in_child(void) {
  if (file >= 0) close(file);
  file = -1;
  used = 0;
  lock_give(&lock);
}

bool writer_open(void) {
  const char* folder = trusted_variable("MARLINE_CHECK_DIR");
  if (folder == NULL) return false;
  char path[kPath];
  if (snprintf(path, sizeof path, "%s/accesses.%d", folder, (int)getpid()) >= (int)sizeof path) return false;
  file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) fprintf(stderr, "marline: check: %s: %s\n", path, strerror(errno));
  if (file < 0) return false;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  PUT(kHead, MARLINE_ACCESSES_MAGIC);
  return true;
}

void writer_close(void) {
  static char program[kPath];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  lock_take(&lock);
  dl_iterate_phdr(put_module, program);
  put(kComplete, 0, NULL);
  flush();
  if (file >= 0) close(file);
  file = -1;
  lock_give(&lock);
}
