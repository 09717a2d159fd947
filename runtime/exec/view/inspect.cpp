// SPDX-License-Identifier: Apache-2.0
//
// Writes the document for `marline ps`: the process, its tasks and threads, the kernel's data on the threads, where
// code is in memory, and the parts that libraries add.
#include "exec/view/inspect.hpp"

#include "base/clock.hpp"
#include "../common/thread_id.h"
#include "base/version.hpp"
#include "exec/view/inspect_tasks.hpp"
#include "exec/worker/blocked.hpp"
#include "exec/worker/worker.hpp"
#include "sched/progress.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

constexpr int kDescriptions = 8;  // libraries; one more is refused (marline_describe_register)

struct Description {
  const char* name;
  void* arg;
  Atomic<Describe> describe;  // written last
};

Description g_descriptions[kDescriptions];
Atomic<int> g_description_count{0};

// The beginning of a small file, as a string without the newline at its end. "" if it cannot be read.
void read_line(const char* path, char* to, size_t bytes) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read(fd, to, bytes - 1);
  if (fd >= 0) close(fd);
  to[got > 0 ? got : 0] = 0;
  if (char* end = std::strchr(to, '\n')) *end = 0;
}

void describe_kernel_thread(ReportStream& out, int thread) {
  char path[64], text[512];
  out.open(nullptr, '{');
  out.number("thread", thread);
  for (const char* file : {"stat", "syscall", "schedstat"}) {
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, file);
    read_line(path, text, sizeof text);
    out.string(file, text);
  }
  out.close('}');
}

struct DirectoryEntry {  // as getdents64 gives it
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

// Without opendir, which allocates.
void describe_kernel_threads(ReportStream& out) {
  out.open("kernel_threads", '[');
  int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  alignas(DirectoryEntry) char entries[4096];
  long bytes;
  while (folder >= 0 && (bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
    for (long at = 0; at < bytes;) {
      auto* entry = reinterpret_cast<DirectoryEntry*>(entries + at);
      at += entry->length;
      const int thread = std::atoi(entries + (entry->name - entries));
      if (thread > 0 && thread != thread_id()) describe_kernel_thread(out, thread);
    }
  }
  if (folder >= 0) close(folder);
  out.close(']');
}

// The lines of /proc/self/maps that are code of a file.
void describe_maps(ReportStream& out) {
  out.open("maps", '[');
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  char text[4096];
  size_t have = 0;
  for (ssize_t got; fd >= 0 && (got = read(fd, text + have, sizeof text - 1 - have)) > 0;) {
    have += static_cast<size_t>(got);
    text[have] = 0;
    char* line = text;
    for (char* end; (end = std::strchr(line, '\n')) != nullptr; line = end + 1) {
      *end = 0;
      const char* access = std::strchr(line, ' ');
      const char* path = std::strchr(line, '/');  // the name of an anonymous mapping may contain a slash, too
      if (access != nullptr && access[3] == 'x' && path != nullptr && path[-1] == ' ') out.string(nullptr, line);
    }
    have = static_cast<size_t>(text + have - line);
    std::memmove(text, line, have);
    if (have == sizeof text - 1) break;  // no path is that long
  }
  if (fd >= 0) close(fd);
  out.close(']');
}

void describe_blocked_threads(ReportStream& out, const OwnMemory& memory, const InspectRequest& request) {
  out.open("blocked_threads", '[');
  for (const BlockedThread& slot : g_blocked_threads) {
    int thread = slot.thread.load(relaxed);
    if (thread == 0) continue;
    out.open(nullptr, '{');
    out.number("thread", thread);
    const marline_wait* wait = slot.wait.load(relaxed);
    CallCopy call;
    if (call.take(memory, wait) && slot.wait.load(relaxed) == wait && slot.thread.load(relaxed) == thread) {
      call.describe(out);
      describe_stack_above(out, memory, wait, request);
    }
    out.close('}');
  }
  out.close(']');
}

void describe_process(ReportStream& out) {
  char text[512];
  out.string("format", "marline-inspect 1");
  out.string("version", kVersion);
  out.number("pid", getpid());
  gethostname(text, sizeof text);
  text[sizeof text - 1] = 0;
  out.string("host", text);
  ssize_t length = readlink("/proc/self/exe", text, sizeof text - 1);
  text[length > 0 ? length : 0] = 0;
  out.string("program", text);
  out.number("nanoseconds", static_cast<int64_t>(nanoseconds_now()));
  out.number("pending", progress_operations());
}

// `list`: "NAME,NAME,".
bool asks_for(const char* list, const char* name) {
  size_t length = std::strlen(name);
  for (const char* at = list; *at != 0 && *at != ' ' && *at != '\n';) {
    const char* end = std::strchr(at, ',');
    if (end == nullptr) return false;
    if (static_cast<size_t>(end - at) == length && std::strncmp(at, name, length) == 0) return true;
    at = end + 1;
  }
  return false;
}

void describe_sections(ReportStream& out, const InspectRequest& request) {
  out.open("sections", '{');
  for (Description& one : g_descriptions) {
    Describe describe = one.describe.load(acquire);  // pairs with describe_register
    if (describe == nullptr || !asks_for(request.sections, one.name)) continue;
    out.begin_value(one.name);
    describe(one.arg, [](void* sink, const char* t, size_t n) { static_cast<ReportStream*>(sink)->put(t, n); }, &out);
  }
  out.close('}');
}

}  // namespace

bool describe_register(const char* name, Describe describe, void* arg) {
  int index = g_description_count.load(relaxed);
  do {
    if (index == kDescriptions) return false;
  } while (!g_description_count.compare_exchange_weak(index, index + 1, relaxed));
  g_descriptions[index].name = name;
  g_descriptions[index].arg = arg;
  g_descriptions[index].describe.store(describe, release);  // pairs with describe_sections
  note_program_thread();
  inspect_start();
  return true;
}

void inspect_describe(ReportStream& out, const InspectRequest& request) {
  OwnMemory memory;
  out.open(nullptr, '{');
  describe_process(out);
  if (memory.is_open()) {
    describe_threads(out, memory, request);
    describe_blocked_threads(out, memory, request);
    describe_tasks(out, memory, request);
  } else {
    out.string("problem", "the process may not read its own memory (/proc/self/mem)");
  }
  describe_kernel_threads(out);
  describe_maps(out);
  describe_sections(out, request);
  out.close('}');
  out.put("\n", 1);
}

}  // namespace marline
