/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of findings: lines of words separated by tabs. A finding is one write, in any thread:
 *   finding NUMBER, task KIND LABEL, at FRAME, lock ADDRESS KIND, locked FRAME ..., suspended FRAME ..., end
 * or
 *   finding NUMBER, task KIND LABEL, at FRAME, frame ADDRESS BYTES, created FRAME ..., left FRAME ..., end
 * with KIND task or implicit, FRAME as FILE ADDRESS SYMBOL+OFFSET (the address as linked; innermost frame first). At
 * the end of the process `times NUMBER COUNT` for each finding, `lost COUNT` if locks were not noted, and `complete`.
 */
#include "report.h"

#include "../common/environment.h"
#include "lock.h"
#include "tasks.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* kFindings: how many different places are distinguished, by a linear search for each finding; further places are
 * not reported. */
enum { kFindings = 256, kFrames = 48, kText = 1 << 15 };

/* A place where tasks are suspended, and the place where the lock was taken, as one hash. The first `findings`
 * entries are in use; under the lock. */
static struct {
  uint64_t place;
  unsigned long times;
} known[kFindings];
static int findings;
static Lock known_lock;

static int file = -1;
static pid_t owner; /* a child of fork() writes nothing */
static char program[PATH_MAX];

typedef struct Text {
  char bytes[kText];
  size_t used;
} Text;

__attribute__((format(printf, 2, 3))) static void add(Text* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int wanted = vsnprintf(text->bytes + text->used, kText - text->used, format, arguments);
  va_end(arguments);
  if (wanted > 0 && (size_t)wanted < kText - text->used) text->used += (size_t)wanted;
}

static void write_out(const Text* text) {
  for (size_t done = 0; done < text->used;) {
    const ssize_t some = write(file, text->bytes + done, text->used - done);
    if (some <= 0) return;
    done += (size_t)some;
  }
}

bool report_open(void) {
  const char* folder = trusted_variable("MARLINE_CHECK_DIR");
  char path[PATH_MAX];
  if (folder == NULL || snprintf(path, sizeof path, "%s/%ld", folder, (long)getpid()) >= (int)sizeof path) return false;
  file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  owner = getpid();
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  if (file < 0) fprintf(stderr, "marline: %s cannot be written: nothing is checked\n", path);
  return file >= 0;
}

/* Writes a frame; its address is 0 if it is in no file. One byte before a return address is inside the call. */
static void add_frame(Text* text, const char* word, const void* address) {
  Dl_info info;
  struct link_map* map = NULL;
  const uintptr_t call = (uintptr_t)address - 1;
  if (address == NULL || dladdr1((const void*)call, &info, (void**)&map, RTLD_DL_LINKMAP) == 0 || map == NULL) {
    add(text, "%s\t?\t0\t%p\n", word, address);
    return;
  }
  const char* name = map->l_name[0] != '\0' ? map->l_name : program;
  const char* symbol = info.dli_sname != NULL ? info.dli_sname : "?";
  add(text, "%s\t%s\t%#lx\t%s\n", word, name, (unsigned long)(call - map->l_addr), symbol);
}

static uint64_t mix(uint64_t hash, const void* address) { return (hash ^ (uintptr_t)address) * 0x100000001b3ULL; }

/* The number of the finding; `first` says whether it is a new one. Returns -1 if there is no room. */
static int number_of(uint64_t place, bool* first) {
  int number = 0;
  lock_take(&known_lock);
  while (number < findings && known[number].place != place) ++number;
  *first = number == findings && number < kFindings;
  if (*first) known[findings++].place = place;
  if (number < kFindings) ++known[number].times;
  lock_give(&known_lock);
  return number < kFindings ? number : -1;
}

/* Makes a text for the finding, with its head. Returns null if it has been reported, or must not be. */
static Text* new_text(uint64_t place, const Construct* construct) {
  bool first = false;
  const int number = number_of(place, &first);
  Text* text = first && getpid() == owner ? malloc(sizeof *text) : NULL;
  if (text == NULL) return NULL;
  text->used = 0;
  add(text, "finding\t%d\ntask\t%s\t%s\n", number, construct->implicit ? "implicit" : "task",
      construct->label != NULL ? construct->label : "");
  add_frame(text, "at", construct->code);
  return text;
}

static void end_text(Text* text) {
  add(text, "end\n");
  write_out(text);
  free(text);
}

void report_held(const Held* held) {
  static const char* const kKinds[] = {"mutex", "reader lock", "writer lock", "spin lock"};
  void* stack[kFrames];
  const int frames = backtrace(stack, kFrames);
  const Construct* construct = construct_of(held->holder);
  uint64_t place = mix(0, construct);
  for (int i = 0; i < frames; ++i) place = mix(place, stack[i]);
  for (int i = 0; i < held->frames; ++i) place = mix(place, held->stack[i]);
  Text* text = new_text(place, construct);
  if (text == NULL) return;
  add(text, "lock\t%p\t%s\n", held->lock, kKinds[held->kind]);
  for (int i = 0; i < held->frames; ++i) add_frame(text, "locked", held->stack[i]);
  for (int i = 0; i < frames; ++i) add_frame(text, "suspended", stack[i]);
  end_text(text);
}

void report_left(const LeftFrame* left) {
  const Construct* construct = construct_of(left->task);
  uint64_t place = mix(1, construct);
  for (int i = 0; i < left->created.frames; ++i) place = mix(place, left->created.stack[i]);
  Text* text = new_text(place, construct);
  if (text == NULL) return;
  add(text, "frame\t%#lx\t%zu\n", (unsigned long)left->begin, left->bytes);
  for (int i = 0; i < left->created.frames; ++i) add_frame(text, "created", left->created.stack[i]);
  for (int i = 0; i < left->left.frames; ++i) add_frame(text, "left", left->left.stack[i]);
  end_text(text);
}

__attribute__((destructor)) static void close_file(void) {
  static Text text;
  if (file < 0 || getpid() != owner) return;
  lock_take(&known_lock);
  for (int i = 0; i < findings; ++i) add(&text, "times\t%d\t%lu\n", i, known[i].times);
  lock_give(&known_lock);
  if (held_lost() > 0) add(&text, "lost\t%lu\n", held_lost());
  add(&text, "complete\n");
  write_out(&text);
}
