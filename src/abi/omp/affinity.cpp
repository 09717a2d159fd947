// SPDX-License-Identifier: Apache-2.0
//
// affinity-format-var and its display (OpenMP 5.1, sections 3.3.8 to 3.3.11). The variable is the device's: one string
// on the heap under a lock, null while it is the option's. LLVM's omp.h renames the C routines to ompc_; Fortran
// passes blank-padded text with its length. Any thread.
#include "abi/omp/affinity_format.hpp"
#include "abi/omp/current.hpp"
#include "base/check.hpp"
#include "base/spin_lock.hpp"
#include "config/text.hpp"
#include "platform/places.hpp"
#include "platform/thread.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::omp {

namespace {

SpinLock g_lock;           // guards g_format
char* g_format = nullptr;

// A string on the heap, for as long as the scope lasts. Null text stands for affinity-format-var.
class Copy {
 public:
  explicit Copy(const char* text) {
    if (text != nullptr && text[0] != '\0') {
      set(text, std::strlen(text));
      return;
    }
    Guard<SpinLock> guard(g_lock);
    const char* format = g_format != nullptr ? g_format : options().affinity_format;
    set(format, std::strlen(format));
  }
  Copy(const char* text, size_t length) { set(text, length); }
  ~Copy() { std::free(text_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  [[nodiscard]] const char* c_str() const { return text_; }
  char* release() {
    char* text = text_;
    text_ = nullptr;
    return text;
  }

 private:
  void set(const char* text, size_t length) {
    text_ = static_cast<char*>(std::malloc(length + 1));
    if (text_ == nullptr) fatal("out of memory for an affinity format of %zu bytes", length);
    std::memcpy(text_, text, length);
    text_[length] = '\0';
  }

  char* text_ = nullptr;
};

size_t trimmed(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return length;
}

// Fortran: what C has written, with blanks for the null byte and the rest.
void pad(char* buffer, size_t size, size_t length) {
  if (length < size) std::memset(buffer + length, ' ', size - length);
}

void set_format(char* format) {
  char* old;
  {
    Guard<SpinLock> guard(g_lock);
    old = g_format;
    g_format = format;
  }
  std::free(old);
}

size_t get_format(char* buffer, size_t size) {
  Copy format(nullptr);
  size_t length = std::strlen(format.c_str());
  if (size > 0) {
    size_t kept = length < size ? length : size - 1;
    std::memcpy(buffer, format.c_str(), kept);
    buffer[kept] = '\0';
  }
  return length;
}

size_t capture(char* buffer, size_t size, const char* format) {
  const Member* member = current_member();
  const Member* outer = ancestor_member(member->team->level - 1);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  char cpus_text[1024];
  Text cpus(cpus_text, sizeof cpus_text);
  show_cpus(cpus, thread_affinity());
  AffinityFacts facts{.team_num = 0,
                      .num_teams = 1,
                      .nesting_level = member->team->level,
                      .thread_num = member->index,
                      .num_threads = member->team->size,
                      .ancestor_tnum = outer != nullptr ? outer->index : -1,
                      .host = host,
                      .process_id = getpid(),
                      .native_thread_id = static_cast<int>(syscall(SYS_gettid)),
                      .thread_affinity = cpus.c_str()};
  return format_affinity(buffer, size, format, facts);
}

void display(const char* format) {
  char line[2048];
  capture(line, sizeof line, format);
  std::fprintf(stderr, "%s\n", line);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void omp_set_affinity_format(const char* format) { set_format(Copy(format, std::strlen(format)).release()); }
[[gnu::alias("omp_set_affinity_format")]] void ompc_set_affinity_format(const char* format);
void omp_set_affinity_format_(const char* format, size_t length) {
  set_format(Copy(format, trimmed(format, length)).release());
}

size_t omp_get_affinity_format(char* buffer, size_t size) { return get_format(buffer, size); }
[[gnu::alias("omp_get_affinity_format")]] size_t ompc_get_affinity_format(char* buffer, size_t size);
int omp_get_affinity_format_(char* buffer, size_t size) {
  Copy format(nullptr);
  size_t length = std::strlen(format.c_str());
  std::memcpy(buffer, format.c_str(), length < size ? length : size);
  pad(buffer, size, length);
  return static_cast<int>(length);
}

void omp_display_affinity(const char* format) { display(Copy(format).c_str()); }
[[gnu::alias("omp_display_affinity")]] void ompc_display_affinity(const char* format);
void omp_display_affinity_(const char* format, size_t length) {
  Copy text(format, trimmed(format, length));
  display(Copy(text.c_str()).c_str());
}

size_t omp_capture_affinity(char* buffer, size_t size, const char* format) {
  return capture(buffer, size, Copy(format).c_str());
}
[[gnu::alias("omp_capture_affinity")]] size_t ompc_capture_affinity(char* buffer, size_t size, const char* format);
int omp_capture_affinity_(char* buffer, const char* format, size_t size, size_t format_length) {
  Copy text(format, trimmed(format, format_length));
  Copy wanted(text.c_str());
  size_t length = capture(nullptr, 0, wanted.c_str());
  auto* whole = static_cast<char*>(std::malloc(length + 1));
  if (whole == nullptr) fatal("out of memory for an affinity text of %zu bytes", length);
  capture(whole, length + 1, wanted.c_str());
  std::memcpy(buffer, whole, length < size ? length : size);
  pad(buffer, size, length);
  std::free(whole);
  return static_cast<int>(length);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
